"""Statistics of files of older schemas, for the columns of the current one."""

from decimal import Decimal

import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.arrow.typing import python_values, scalar_of
from lakebed.format.schema import TableSchema
from lakebed.format.statistics.stored import ColumnStats, stats_row
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.table.planning.evolved_bounds import evolved_bounds

OLD = (("a", "INT"), ("b", "STRING"), ("c", "STRING"), ("d", "DECIMAL(5, 2)"))
NEW = (("x", "BIGINT"), ("b", "STRING"), ("c", "INT"), ("d", "DECIMAL(9, 3)"), ("e", "DATE"))


def schema_of(number: int, columns: tuple[tuple[str, str], ...]) -> TableSchema:
    fields = tuple(
        DataField(id=index, name=name, type=parse_type(kind))
        for index, (name, kind) in enumerate(columns)
    )
    return TableSchema(
        id=number,
        fields=fields,
        highest_field_id=9,
        partition_keys=(),
        primary_keys=(),
        options={},
        comment=None,
        time_millis=0,
    )


COLUMNS: dict[str, pa.DataType] = {
    "schema_id": pa.int64(),
    "row_count": pa.int64(),
    "value_min": pa.binary(),
    "value_max": pa.binary(),
    "value_null_counts": pa.list_(pa.int64()),
    "value_stats_cols": pa.list_(pa.string()),
}
SCHEMAS = {0: schema_of(0, OLD), 1: schema_of(1, NEW)}


def entry(schema_id: int, *bounds: tuple[object, object]) -> dict[str, object]:
    fields = SCHEMAS[schema_id].fields
    stats = []
    for (low, high), field in zip(bounds, fields, strict=True):
        kind = to_arrow_type(field.type)
        known = low is not None
        stats.append(
            ColumnStats(
                min=scalar_of(low, kind) if known else None,
                max=scalar_of(high, kind) if known else None,
                null_count=1,
            )
        )
    row, names = stats_row(stats, fields, dense=False)
    return {
        "schema_id": schema_id,
        "row_count": 10,
        "value_min": row.min_values,
        "value_max": row.max_values,
        "value_null_counts": list(row.null_counts or ()),
        "value_stats_cols": None if names is None else list(names),
    }


def entries(*rows: dict[str, object]) -> pa.Table:
    return pa.Table.from_pylist(
        list(rows),
        pa.schema(COLUMNS),
    )


OLDER = entry(0, (1, 5), ("p", "q"), ("1", "9"), (Decimal("0.50"), Decimal("1.50")))
NEWER = entry(1, (10**10, 10**11), ("r", "s"), (7, 8), (None, None), (None, None))


def test_bounds_of_older_files_are_found_by_id_and_cast_where_that_keeps_their_order() -> None:
    found = evolved_bounds(entries(NEWER, OLDER, NEWER), SCHEMAS[1].fields, SCHEMAS)
    assert python_values(found["x"].min) == [10**10, 1, 10**10]
    assert python_values(found["x"].max) == [10**11, 5, 10**11]
    assert python_values(found["b"].max) == ["s", "q", "s"]
    assert python_values(found["d"].min) == [None, Decimal("0.500"), None]
    assert python_values(found["x"].null_count) == [1, 1, 1]


def test_bounds_of_a_cast_that_keeps_no_order_are_unknown() -> None:
    found = evolved_bounds(entries(OLDER, NEWER), SCHEMAS[1].fields, SCHEMAS)["c"]
    assert python_values(found.min) == [None, 7]
    assert python_values(found.null_count) == [None, 1]
    assert found.known.tolist() == [False, True]


def test_a_column_that_a_file_never_had_is_null_in_each_row() -> None:
    found = evolved_bounds(entries(OLDER), SCHEMAS[1].fields, SCHEMAS)["e"]
    assert python_values(found.null_count) == [10]
    assert found.min.type == pa.date32()


def test_no_entry_has_no_bounds() -> None:
    found = evolved_bounds(entries(), SCHEMAS[1].fields, SCHEMAS)
    assert all(len(bounds.min) == 0 for bounds in found.values())
