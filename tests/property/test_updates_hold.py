"""An update is in the table when it is committed, or it is refused and nothing has changed."""

from collections.abc import Callable

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakebed.errors import InvalidDataError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog

Row = tuple[int, int | None, int | None, int | None]

COLUMNS = [("k", "INT NOT NULL"), ("a", "INT"), ("b", "INT"), ("g", "INT")]
PARTIAL = {"merge-engine": "partial-update"}
ENGINES: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "sequence field": {"sequence.field": "g"},
    "partial-update": PARTIAL,
    "sequence field of partial-update": PARTIAL | {"sequence.field": "g"},
    "sequence group": PARTIAL | {"fields.g.sequence-group": "a"},
    "aggregates": PARTIAL | {"fields.g.sequence-group": "a", "fields.a.aggregate-function": "sum"},
    "deletion vectors": {"sequence.field": "g", "deletion-vectors.enabled": "true"},
}
SMALL = st.none() | st.integers(0, 4)
ROWS = st.lists(st.tuples(st.integers(0, 6), SMALL, SMALL, SMALL), min_size=1, max_size=8)
UPDATES: dict[str, tuple[dict[str, object], Callable[[Row], Row]]] = {
    "a column": ({"a": "k + 1"}, lambda row: (row[0], row[0] + 1, row[2], row[3])),
    "null": ({"b": None}, lambda row: (row[0], row[1], None, row[3])),
    "a sequence": ({"g": 2}, lambda row: (*row[:3], 2)),
    "with a sequence": ({"b": "g", "a": 0, "g": 5}, lambda row: (row[0], 0, row[3], 5)),
    "the same": ({"a": "a"}, lambda row: row),
}


@given(
    engine=st.sampled_from(sorted(ENGINES)),
    history=st.lists(ROWS, min_size=1, max_size=3),
    changes=st.lists(st.sampled_from(sorted(UPDATES)), min_size=1, max_size=4),
    compacts=st.booleans(),
)
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_what_is_updated_is_read(
    *, engine: str, history: list[list[Row]], changes: list[str], compacts: bool
) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    options = {"bucket": "1", "num-sorted-run.compaction-trigger": "3", **ENGINES[engine]}
    table = catalog.create_table("db.t", schema=schema(COLUMNS), primary_key=["k"], options=options)
    for rows in history:
        table.upsert(arrow(rows))
    for name in changes:
        assigned, changed = UPDATES[name]
        before = rows_in(table)
        expected = [changed(row) if row[0] < 5 else row for row in before]
        try:
            table.update(assigned, "k < 5")
        except InvalidDataError:
            assert engine != "deduplicate"
            expected = before
        assert rows_in(table) == expected
        if compacts:
            table.compact()
            assert rows_in(table) == expected


def rows_in(table: Table) -> list[Row]:
    found = table.scan().to_arrow()
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True))


def arrow(rows: list[Row]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(
        [pa.array(list(each), pa.int32()) for each in columns], names=[name for name, _ in COLUMNS]
    )
