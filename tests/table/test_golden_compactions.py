"""Each compaction of a golden table, done again by Lakebed from the snapshot before it.

The real Paimon 2.1 compacted these tables after writes and when it was asked to. From the same
files Lakebed must leave the same files on the same levels, the same rows and the same changes.
"""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import pytest

import lakebed
from support.golden_manifests import DATABASE

COUNTED = ["commit_kind", "delta_record_count", "changelog_record_count", "total_record_count"]
PLACED = ["partition", "bucket", "level", "record_count", "deleteRowCount", "file_source"]
INDEXED = ["partition", "bucket", "index_type", "row_count", "dv_ranges"]
# By a write, which compacts what the options ask for, or by a call.
BY_WRITES = {
    "cl_lookup": [2, 4, 6, 8],
    "first_row": [2, 4, 6],
    "pk_composite_partitioned": [4, 6, 8, 10],
    "pk_dv": [2, 4, 6, 8],
}
BY_CALLS = {
    "agg_functions": [5],
    "append_many_commits": [13],
    "cl_full_compaction": [3, 6],
    "evolve_pk": [6],
    "pk_date_timestamp_key": [3],
    "pk_postpone": [2],
    "pk_string_buckets": [4],
    "pk_thin_mode": [3],
    "pu_plain": [5],
    "rollback_expire": [13],
}


def before(name: str, snapshot_id: int, directory: Path) -> Path:
    """A copy of a golden table as it was before a snapshot."""
    path = directory / "db.db" / name
    shutil.copytree(DATABASE / name, path)
    schema_id = next(
        row["schema_id"]
        for row in read(DATABASE / f"{name}$snapshots")
        if row["snapshot_id"] == snapshot_id
    )
    for kind, kept in (("snapshot", snapshot_id - 1), ("schema", schema_id)):
        for file in (path / kind).iterdir():
            number = file.name.removeprefix(f"{kind}-")
            if not number.isdecimal() or int(number) > kept:
                file.unlink()
    return path


def read(table: Path, snapshot_id: int | None = None) -> list[dict[str, Any]]:
    scan = lakebed.load_table(str(table)).scan(snapshot_id=snapshot_id)
    rows: list[dict[str, Any]] = scan.to_arrow().to_pylist()
    return rows


def look(table: Path, snapshot_id: int) -> dict[str, Counter[str]]:
    """What a snapshot holds and tells."""
    commits = read(system_table(table, "snapshots"))
    files = read(system_table(table, "files"), snapshot_id)
    indexes = read(system_table(table, "table_indexes"), snapshot_id)
    log = lakebed.load_table(str(system_table(table, "audit_log")))
    changes = log.scan(incremental=(snapshot_id - 1, snapshot_id), incremental_mode="changelog")
    return {
        "counts": Counter(
            str([row[name] for name in COUNTED])
            for row in commits
            if row["snapshot_id"] == snapshot_id
        ),
        "files": Counter(str([row[name] for name in PLACED]) for row in files),
        "indexes": Counter(str([row[name] for name in INDEXED]) for row in indexes),
        "rows": Counter(map(str, read(table, snapshot_id))),
        "changes": Counter(map(str, changes.to_arrow().to_pylist())),
    }


def system_table(table: Path, name: str) -> Path:
    return table.with_name(f"{table.name}${name}")


@pytest.mark.parametrize(
    ("name", "snapshot_id", "strategy"),
    [(name, each, "minor") for name, ids in BY_WRITES.items() for each in ids]
    + [(name, each, "full") for name, ids in BY_CALLS.items() for each in ids],
)
def test_a_golden_table_is_compacted_as_the_real_engine_did(
    name: str, snapshot_id: int, *, strategy: Literal["minor", "full"], tmp_path: Path
) -> None:
    path = before(name, snapshot_id, tmp_path)
    snapshot = lakebed.load_table(str(path)).compact(strategy)
    assert snapshot is not None
    assert look(path, snapshot_id) == look(DATABASE / name, snapshot_id)
