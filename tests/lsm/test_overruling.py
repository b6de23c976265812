"""Which new values a merge with stored rows does not keep."""

import pyarrow as pa
import pytest

from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.lsm.engines import merging_of
from lakebed.lsm.overruling import find_overruled, keeps_newest

TABLE = build_schema(
    schema([("k", "BIGINT NOT NULL"), ("v", "INT"), ("w", "DOUBLE"), ("s", "INT")]).fields,
    primary_keys=["k"],
    options={"bucket": "1"},
    time_millis=0,
)
PARTIAL = {"merge-engine": "partial-update"}
GROUP = PARTIAL | {"fields.s.sequence-group": "v"}
SUMS = GROUP | {"fields.v.aggregate-function": "sum"}
DESCENDING = {"sequence.field": "s", "sequence.field.sort-order": "descending"}
Row = tuple[int, int | None, float | None, int | None]


def rows_of(*rows: Row) -> pa.Table:
    types = (pa.int64(), pa.int32(), pa.float64(), pa.int32())
    columns = zip(*rows, strict=True)
    arrays = [pa.array(list(each), kind) for each, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=["k", "v", "w", "s"])


@pytest.mark.parametrize(
    ("options", "stored", "new", "overruled"),
    [
        ({"sequence.field": "s"}, (1, 1, 1.0, 7), (1, 2, 1.0, 7), None),
        ({"sequence.field": "s"}, (1, 1, 1.0, 7), (1, 2, 1.0, 8), None),
        ({"sequence.field": "s"}, (1, 1, 1.0, 7), (1, 2, 1.0, 6), ("v", 2, 1)),
        ({"sequence.field": "s"}, (1, 1, 1.0, 7), (1, 1, 1.0, None), ("s", None, 7)),
        (DESCENDING, (1, 1, 1.0, 7), (1, 2, 1.0, 6), None),
        (DESCENDING, (1, 1, 1.0, 7), (1, 2, 1.0, 8), ("v", 2, 1)),
        (PARTIAL, (1, 1, 1.0, 7), (1, 2, float("nan"), 6), None),
        (PARTIAL, (1, 1, None, 7), (1, 2, None, 6), None),
        (PARTIAL, (1, 1, 1.0, 7), (1, 2, None, 6), ("w", None, 1.0)),
        (GROUP, (1, 1, 1.0, 7), (1, None, 1.0, 7), None),
        (GROUP, (1, 1, 1.0, 7), (1, 2, 1.0, 6), ("v", 2, 1)),
        (GROUP, (1, 1, 1.0, None), (1, 2, 1.0, None), ("v", 2, None)),
        (SUMS, (1, 1, 1.0, 7), (1, 1, 2.0, 7), ("v", 1, 2)),
        (SUMS, (1, 0, 1.0, 7), (1, 5, 2.0, 7), None),
    ],
)
def test_a_new_value_that_the_merge_changes_is_found(
    *,
    options: dict[str, str],
    stored: Row,
    new: Row,
    overruled: tuple[str, object, object] | None,
) -> None:
    merging = merging_of(TABLE, options)
    other = (0, 0, 0.0, 0)
    found = find_overruled(rows_of(other, stored), rows_of(new, other), merging)
    assert not keeps_newest(merging)
    assert (found and (found.column, found.new, found.merged)) == overruled
    assert found is None or found.key == {"k": 1}


def test_no_rows_are_overruled_by_none() -> None:
    merging = merging_of(TABLE, PARTIAL)
    empty = rows_of((1, 1, 1.0, 1)).slice(0, 0)
    assert find_overruled(empty, empty, merging) is None


def test_the_newest_row_wins_without_a_sequence_field() -> None:
    assert keeps_newest(merging_of(TABLE, {}))
