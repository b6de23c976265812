"""Tables whose rows have ids: each keeps its own through all that becomes of its file."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import InvalidTableError
from lakebed.table.table import Table
from support.golden_manifests import DATABASE

Row = tuple[int, str, str, int, int]
"""`id`, `v`, the partition, the row's id and the snapshot that wrote it."""

REAL = f"{DATABASE}/row_tracking"
TRACKED = {"row-tracking.enabled": "true", "compaction.min.file-num": "2"}
OPTIONS = {
    "files": TRACKED,
    "deletion vectors": TRACKED | {"deletion-vectors.enabled": "true"},
    "orc": TRACKED | {"file.format": "orc"},
    "avro": TRACKED | {"file.format": "avro", "metadata.stats-mode": "none"},
    "clustered": TRACKED | {"clustering.incremental": "true", "clustering.columns": "v"},
}


def create(location: Path, options: Mapping[str, str]) -> Table:
    """A table with five rows of two commits."""
    catalog = lakebed.load_catalog(warehouse=str(location))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema([("id", "BIGINT"), ("v", "STRING"), ("p", "STRING")]),
        partition_by=["p"],
        options=dict(options),
    )
    table.append(pa.table({"id": [1, 2, 3], "v": ["c", "b", "a"], "p": ["x", "y", "x"]}))
    table.append(pa.table({"id": [4, 5], "v": ["e", "d"], "p": ["x", "y"]}))
    return table


def tracked_rows(table: Table, *, snapshot_id: int | None = None) -> list[Row]:
    view = lakebed.load_table(f"{table.location}$row_tracking")
    names = ["id", "v", "p", "_ROW_ID", "_SEQUENCE_NUMBER"]
    found = view.scan(names, snapshot_id=snapshot_id).to_arrow()
    rows: list[Row] = sorted(tuple(row.values()) for row in found.to_pylist())
    return rows


@pytest.mark.parametrize("name", OPTIONS)
def test_rows_keep_their_ids_through_updates_deletes_and_compactions(
    tmp_path: Path, name: str
) -> None:
    table = create(tmp_path, OPTIONS[name])
    first = [(1, "c", "x", 0, 1), (2, "b", "y", 2, 1), (3, "a", "x", 1, 1)]
    assert tracked_rows(table) == [*first, (4, "e", "x", 3, 2), (5, "d", "y", 4, 2)]
    assert table.update({"v": "'z'"}, where="id = 3") is not None
    assert table.delete(where="id = 4") is not None
    left = [(1, "c", "x", 0, 1), (2, "b", "y", 2, 1), (3, "z", "x", 1, 3), (5, "d", "y", 4, 2)]
    assert tracked_rows(table) == left
    assert table.compact("full") is not None
    assert tracked_rows(table) == left
    assert table.update({"p": "'y'"}, where="id = 1") is not None
    moved = [(1, "c", "y", 0, 6), *left[1:]]
    assert tracked_rows(table) == moved
    snapshot = table.append(pa.table({"id": [6], "v": ["f"], "p": ["x"]}))
    assert snapshot is not None
    assert snapshot.next_row_id == 6
    assert tracked_rows(table) == [*moved, (6, "f", "x", 5, 7)]
    assert tracked_rows(table, snapshot_id=2)[:3] == first


def test_rows_that_are_overwritten_get_new_ids(tmp_path: Path) -> None:
    table = create(tmp_path, TRACKED)
    table.overwrite(pa.table({"id": [1], "v": ["n"], "p": ["x"]}), partition={"p": "x"})
    assert tracked_rows(table) == [(1, "n", "x", 5, 3), (2, "b", "y", 2, 1), (5, "d", "y", 4, 2)]


def test_a_sorted_compaction_takes_the_ids_along(tmp_path: Path) -> None:
    table = create(tmp_path, TRACKED)
    before = tracked_rows(table)
    assert table.compact(order_strategy="order", order_by="v") is not None
    assert tracked_rows(table) == before
    assert table.scan(["v"], where="p = 'x'").to_arrow()["v"].to_pylist() == ["a", "c", "e"]


def test_conditions_find_rows_in_files_that_were_written_anew() -> None:
    table = lakebed.load_table(REAL)
    assert table.scan(["v"], where="id = 25").to_arrow().to_pylist() == [{"v": "u"}]
    assert table.scan(where="id > 1000").count() == 0


def test_the_real_history_is_told_the_same(tmp_path: Path) -> None:
    """The rows and ids of the golden table, made once more by Lakebed."""
    real = lakebed.load_table(REAL)
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema([("id", "INT"), ("v", "STRING")]),
        options={"row-tracking.enabled": True},
    )
    for snapshot_id, start in ((1, 0), (2, 20)):
        rows = real.scan(snapshot_id=snapshot_id, where=f"id >= {start}").to_arrow()
        table.append(rows.sort_by("id"))
    changed = real.scan(["id"], snapshot_id=3, where="v = 'u'").to_arrow()["id"].to_pylist()
    table.update({"v": "'u'"}, where=f"id IN ({', '.join(map(str, changed))})")
    before, after = (real.scan(["id"], snapshot_id=each).to_arrow()["id"] for each in (3, 4))
    (gone,) = set(before.to_pylist()) - set(after.to_pylist())
    table.delete(where=f"id = {gone}")
    for snapshot_id in (1, 2, 3, 4):
        views = [lakebed.load_table(f"{each.location}$row_tracking") for each in (real, table)]
        expected, found = (each.scan(snapshot_id=snapshot_id).to_arrow() for each in views)
        assert found.sort_by("id").to_pylist() == expected.sort_by("id").to_pylist()
    numbers = [snapshot.next_row_id for snapshot in table.snapshots()]
    assert numbers == [snapshot.next_row_id for snapshot in real.snapshots()]


@pytest.mark.parametrize("what", ["a primary key", "buckets"])
def test_a_table_that_cannot_track_its_rows_is_not_made(tmp_path: Path, what: str) -> None:
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    more = {"bucket": "2", "bucket-key": "id"} if what == "buckets" else {}
    with pytest.raises(InvalidTableError, match="neither a primary key nor buckets"):
        catalog.create_table(
            "db.t",
            schema=lakebed.schema([("id", "BIGINT NOT NULL")]),
            primary_key=["id"] if what == "a primary key" else [],
            options=TRACKED | more,
        )
