"""The real Paimon 1.4.2 reads and goes on after Lakebed wrote manifests and indexes anew."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.format.arrow.typing import python_values
from lakebed.table.table import Table
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")
Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def create(directory: Path, *, keyed: bool) -> Table:
    catalog = lakebed.load_catalog(warehouse=str(directory))
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=lakebed.schema([("id", "INT NOT NULL"), ("city", "STRING"), ("dt", "STRING")]),
        primary_key=["id", "dt"] if keyed else [],
        partition_by=["dt"],
        options={"bucket": "1" if keyed else "-1", "write-only": "true"},
    )


def rows(*numbers: int, suffix: str = "") -> Rows:
    return [(number, f"city {number}{suffix}", DAYS[number % len(DAYS)]) for number in numbers]


def arrow(table: Table, data: Rows) -> pa.Table:
    names = table.schema.names
    return pa.Table.from_pylist(
        [dict(zip(names, row, strict=True)) for row in data], schema=table.scan().schema
    )


def reloaded(table: Table) -> Table:
    return lakebed.load_table(table.location)


def theirs(referee: Referee, table: Table, **scan: Any) -> Rows:  # noqa: ANN401 - as the referee
    answer = referee.read(Path(table.location), columns=table.schema.names, **scan)
    return sorted(tuple(row) for row in answer.rows)


def ours(table: Table, **scan: Any) -> Rows:  # noqa: ANN401 - as the table
    found = reloaded(table).scan(**scan).to_arrow()
    return sorted(zip(*(python_values(column) for column in found.columns), strict=True))


def written_in_turns(referee: Referee, table: Table) -> dict[int, Rows]:
    """Writes by both, and what each snapshot holds."""
    past = {}
    for step in range(6):
        data = rows(*range(step * 3, step * 3 + 6), suffix=f" {step}" if table.primary_keys else "")
        if step % 2:
            referee.write(Path(table.location), [["+I", *row] for row in data])
        else:
            table.append(arrow(table, data))
        if step == 3:
            table.delete("id < 4")
        past[newest(table)] = ours(table)
    return past


def newest(table: Table) -> int:
    snapshot = reloaded(table).latest_snapshot()
    assert snapshot is not None
    return snapshot.id


def check(referee: Referee, table: Table, past: dict[int, Rows]) -> None:
    for snapshot_id, held in past.items():
        options = {"scan.snapshot-id": str(snapshot_id)}
        assert theirs(referee, table, options=options) == held, snapshot_id
        assert ours(table, snapshot_id=snapshot_id) == held


@pytest.mark.parametrize("keyed", [True, False], ids=["primary key", "append"])
@pytest.mark.parametrize("is_sorted", [True, False], ids=["sorted", "unsorted"])
def test_the_real_paimon_reads_and_writes_on_after_manifests_were_compacted(
    referee: Referee, tmp_path: Path, *, keyed: bool, is_sorted: bool
) -> None:
    table = create(tmp_path, keyed=keyed)
    past = written_in_turns(referee, table)
    before = referee.metadata(Path(table.location))[str(newest(table))]
    snapshot = table.compact_manifest(manifest_sort_enabled=is_sorted)
    assert snapshot is not None
    past[snapshot.id] = ours(table)
    assert past[snapshot.id] == past[snapshot.id - 1]
    check(referee, table, past)
    after = referee.metadata(Path(table.location))[str(snapshot.id)]
    assert after["delta"] == []
    (manifest,) = after["base"]
    assert live_entries(after) == live_entries(before)
    assert len(manifest["entries"]) == len(live_entries(before))
    referee.write(Path(table.location), [["+I", *row] for row in rows(90, 91)])
    referee.compact(Path(table.location), full=True)
    past[newest(table)] = ours(table)
    check(referee, table, past)
    for day in DAYS:
        where = [("dt", "=", day)]
        expected = [row for row in past[newest(table)] if row[2] == day]
        assert theirs(referee, table, where=where) == expected


def live_entries(metadata: dict[str, Any]) -> list[str]:
    """The entries that are live by what the real Paimon reads of the manifests."""
    live: dict[str, Any] = {}
    for manifest in (*metadata["base"], *metadata["delta"]):
        for entry in manifest["entries"]:
            file = json.dumps({**entry, "_KIND": None}, sort_keys=True)
            live[file] = live.get(file, 0) + (-1 if entry["_KIND"] else 1)
    return sorted(file for file, count in live.items() if count)


@pytest.mark.parametrize("keyed", [True, False], ids=["primary key", "append"])
@pytest.mark.parametrize("threshold", ["1 mb", "0 b"], ids=["in manifests", "beside files"])
def test_the_real_paimon_finds_rows_by_indexes_that_came_later(
    referee: Referee, tmp_path: Path, *, keyed: bool, threshold: str
) -> None:
    table = create(tmp_path, keyed=keyed)
    past = written_in_turns(referee, table)
    options = {
        "file-index.bloom-filter.columns": "city",
        "file-index.bitmap.columns": "id",
        "file-index.in-manifest-threshold": threshold,
    }
    changes = [{"action": "setOption", "key": key, "value": text} for key, text in options.items()]
    referee.alter(Path(table.location), changes)
    table = reloaded(table)
    snapshot = table.rewrite_file_index()
    assert snapshot is not None
    past[snapshot.id] = ours(table)
    assert past[snapshot.id] == past[snapshot.id - 1]
    check(referee, table, past)
    for row in past[snapshot.id]:
        same = [each for each in past[snapshot.id] if each == row]
        assert theirs(referee, table, where=[("city", "=", row[1])]) == same
        assert theirs(referee, table, where=[("id", "=", row[0])]) == same
    assert theirs(referee, table, where=[("city", "=", "no such")]) == []
    referee.write(Path(table.location), [["+I", *row] for row in rows(90, 3, 5)])
    referee.compact(Path(table.location), full=True)
    past[newest(table)] = ours(table)
    check(referee, table, past)
    assert reloaded(table).compact_manifest() is not None
    assert reloaded(table).compact() is None
    past[newest(table)] = ours(table)
    check(referee, table, past)
