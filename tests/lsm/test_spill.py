"""Spilled runs merge into what one buffer of all rows would have held."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import StorageError
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import schema
from lakebed.lsm.engines import merging_of
from lakebed.lsm.spill import Spills
from lakebed.lsm.write_buffer import WriteBuffer

NAMES = ("k", "a", "b", "g")
TABLE = build_schema(
    schema([("k", "BIGINT NOT NULL"), ("a", "BIGINT"), ("b", "STRING"), ("g", "BIGINT")]).fields,
    primary_keys=["k"],
    options={"bucket": "1"},
    time_millis=0,
)
ENGINES: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "by a sequence field": {"sequence.field": "g"},
    "first-row": {"merge-engine": "first-row"},
    "partial-update": {"merge-engine": "partial-update"},
    "sequence group": {"merge-engine": "partial-update", "fields.g.sequence-group": "a,b"},
    "aggregation": {
        "merge-engine": "aggregation",
        "fields.a.aggregate-function": "sum",
        "fields.b.aggregate-function": "max",
    },
}
Row = tuple[int, int | None, str | None, int | None]

batches = st.lists(
    st.lists(
        st.tuples(
            st.integers(0, 9),
            st.none() | st.integers(0, 3),
            st.none() | st.sampled_from("xyz"),
            st.none() | st.integers(0, 3),
        ),
        min_size=1,
    ),
    min_size=1,
    max_size=5,
)


def rows_of(batch: Sequence[Row]) -> pa.Table:
    types = (pa.int64(), pa.int64(), pa.string(), pa.int64())
    columns = [pa.array(list(c), t) for c, t in zip(zip(*batch, strict=True), types, strict=True)]
    return pa.table(dict(zip(NAMES, columns, strict=True)))


def at_once(arrivals: Sequence[Sequence[Row]], options: Mapping[str, str]) -> list[Any]:
    buffer = WriteBuffer(NAMES, merging=merging_of(TABLE, options), first_sequence=1)
    for batch in arrivals:
        buffer.add(rows_of(batch))
    flushed = buffer.flush()
    assert flushed is not None
    return [row for part in flushed.run for row in part.to_pylist()]


def spilled(
    arrivals: Sequence[Sequence[Row]], options: Mapping[str, str], *, budget_bytes: int
) -> list[Any]:
    merging = merging_of(TABLE, options)
    buffer = WriteBuffer(NAMES, merging=merging, first_sequence=1)
    spills = Spills(NAMES, merging=merging, budget_bytes=budget_bytes)
    for batch in arrivals:
        buffer.add(rows_of(batch))
        flushed = buffer.flush()
        assert flushed is not None
        spills.add(flushed.run)
    found = [row for table in spills.merged() for row in table.to_pylist()]
    spills.close()
    return found


@pytest.mark.parametrize("budget_bytes", [1 << 30, 1], ids=["at once", "in windows"])
@pytest.mark.parametrize("options", ENGINES.values(), ids=ENGINES)
@settings(max_examples=20)
@given(arrivals=batches)
def test_runs_on_disk_merge_into_what_one_buffer_would_have_held(
    options: dict[str, str], budget_bytes: int, arrivals: list[list[Row]]
) -> None:
    assert spilled(arrivals, options, budget_bytes=budget_bytes) == at_once(arrivals, options)


def test_deletes_are_kept_and_end_keys_of_earlier_runs() -> None:
    merging = merging_of(TABLE, {})
    buffer = WriteBuffer(NAMES, merging=merging, first_sequence=1)
    spills = Spills(NAMES, merging=merging, budget_bytes=1 << 20)
    for kind in (0, 3):
        buffer.add(rows_of([(1, 1, "x", 1)]), np.array([kind], np.int8))
        flushed = buffer.flush()
        assert flushed is not None
        spills.add(flushed.run)
    (table,) = spills.merged()
    assert table.column("_VALUE_KIND").to_pylist() == [3]
    spills.close()


def test_nothing_is_left_on_disk_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    spills = Spills(NAMES, merging=merging_of(TABLE, {}), budget_bytes=1 << 20)
    assert not spills
    spills.add([pa.table({name: [1] for name in (*NAMES, "_SEQUENCE_NUMBER", "_VALUE_KIND")})])
    assert spills
    assert list(tmp_path.rglob("*.arrow"))
    spills.close()
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    spills = Spills(NAMES, merging=merging_of(TABLE, {}), budget_bytes=1 << 20)
    with pytest.raises(StorageError, match=r"missing: a full write .* TMPDIR"):
        spills.add([pa.table({name: [1] for name in (*NAMES, "_SEQUENCE_NUMBER", "_VALUE_KIND")})])
