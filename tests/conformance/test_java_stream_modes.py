"""Streams of Lakebed and of the real Paimon 1.4.2 begin at the same place, and read the same rows.

Tables differ in where their changelog comes from, and in whether older snapshots have expired.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.table.table import Table
from tools.peers.referee import Json, Referee

pytestmark = pytest.mark.peers

ROWS = lakebed.schema([("k", "INT NOT NULL"), ("v", "INT")])
BUCKET = {"bucket": "1", "num-sorted-run.compaction-trigger": "100", "write-only": "true"}
TABLES: dict[str, dict[str, str] | None] = {
    "append": None,
    "no changelog": BUCKET,
    "input": {**BUCKET, "changelog-producer": "input"},
    "lookup": {**BUCKET, "changelog-producer": "lookup"},
    "full-compaction": {**BUCKET, "changelog-producer": "full-compaction"},
}
BATCHES = ([(1, 10), (2, 20)], [(2, 21), (3, 30)], [(3, 31), (4, 40)], [(1, 11), (5, 50)])
MODES: tuple[dict[str, str], ...] = (
    {},
    {"scan.mode": "latest-full"},
    {"scan.mode": "latest"},
    {"scan.mode": "compacted-full"},
)
TIMED_MODES = (
    ("from-timestamp", "scan.timestamp-millis"),
    ("from-creation-timestamp", "scan.creation-time-millis"),
    ("from-file-creation-time", "scan.file-creation-time-millis"),
)
BETWEEN_SECONDS = 0.02
DIFFERENT_ANSWERS = 4


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


@pytest.mark.parametrize("expires", [False, True], ids=["all snapshots", "the oldest expired"])
@pytest.mark.parametrize("name", TABLES)
def test_a_stream_begins_where_that_of_the_real_paimon_does(
    name: str, referee: Referee, tmp_path: Path, *, expires: bool
) -> None:
    table, times = build(tmp_path, TABLES[name], expires=expires)
    path = tmp_path / "db.db" / "t"
    newest = table.snapshots()[-1].id
    modes = [*MODES, *numbered_modes(1, newest - 1), *timed_modes(times)]
    found = {str(mode): streamed(table, mode) for mode in modes}
    expected = {str(mode): counted(referee.stream(path, options=mode)) for mode in modes}
    assert found == expected
    assert len({str(each) for each in expected.values()}) >= DIFFERENT_ANSWERS


def build(
    directory: Path, options: Mapping[str, str] | None, *, expires: bool
) -> tuple[Table, list[int]]:
    """A table of four batches, a compaction after each; times before, between and after them."""
    catalog = lakebed.load_catalog(warehouse=str(directory), options={"lakebed.time-zone": "UTC"})
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=ROWS,
        primary_key=[] if options is None else ["k"],
        options={"snapshot.num-retained.min": "100", **(options or {})},
    )
    times = [moment()]
    for batch in BATCHES:
        rows = pa.table({"k": [k for k, _ in batch], "v": [v for _, v in batch]})
        (table.append if options is None else table.upsert)(rows)
        times.append(moment())
        table.compact("full")
        times.append(moment())
    if expires:
        table.expire_snapshots(retain_max=3, retain_min=3)
    return table, times


def moment() -> int:
    """A time between two commits, in epoch milliseconds."""
    time.sleep(BETWEEN_SECONDS)
    now = time.time_ns() // 1_000_000
    time.sleep(BETWEEN_SECONDS)
    return now


def numbered_modes(*numbers: int) -> list[dict[str, str]]:
    names = ("from-snapshot", "from-snapshot-full")
    return [{"scan.mode": name, "scan.snapshot-id": str(n)} for name in names for n in numbers]


def timed_modes(times: list[int]) -> list[dict[str, str]]:
    return [{"scan.mode": mode, key: str(each)} for mode, key in TIMED_MODES for each in times]


def streamed(table: Table, options: Mapping[str, str]) -> Counter[str]:
    batches = table.stream(until="latest", options=dict(options))
    rows = (row for batch in batches for row in batch.to_pylist())
    return Counter(str([row["_row_kind"], row["k"], row["v"]]) for row in rows)


def counted(rows: list[list[Json]]) -> Counter[str]:
    return Counter(map(str, rows))
