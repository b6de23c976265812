"""Rows past `record-level.expire-time` go with compactions, and with nothing else."""

from typing import Any

import pyarrow as pa
import pytest

from lakebed.format.manifest import entries_from_columns
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.effects import EPOCH_MS, open_catalog, reopen

HOUR_S = 3600
NOW_S = EPOCH_MS // 1000
EXPIRY = {"record-level.expire-time": "1 h", "record-level.time-field": "t"}
VECTORS = {"deletion-vectors.enabled": "true"}
Rows = list[tuple[int, int | None]]


class Life:
    """A table whose clock a test moves."""

    def __init__(self, options: dict[str, str], *, time_type: str = "BIGINT") -> None:
        self._store = MemoryFileIO()
        self._clock_ms = EPOCH_MS
        catalog = open_catalog(self._store, options={"lakebed.merge.memory": "1 b"})
        catalog.create_database("db")
        created = catalog.create_table(
            "db.t",
            schema=schema([("id", "INT NOT NULL"), ("t", time_type), ("v", "STRING")]),
            primary_key=["id"],
            options={"bucket": "1", "write-only": "true", **EXPIRY, **options},
        )
        self.table: Table = reopen(created, self._store, clock=lambda: self._clock_ms)
        self._kind = self.table.scan().to_arrow().schema.field("t").type

    def write(self, rows: Rows) -> None:
        """Rows of ids and times in seconds from the start."""
        times = [None if age is None else NOW_S + age for _, age in rows]
        seconds = pa.timestamp("s") if pa.types.is_timestamp(self._kind) else pa.int64()
        columns = {
            "id": pa.array([number for number, _ in rows], pa.int32()),
            "t": pa.array(times, pa.int64()).cast(seconds).cast(self._kind),
            "v": ["v"] * len(rows),
        }
        self.table.upsert(pa.table(columns))

    def wait(self, seconds: int) -> None:
        self._clock_ms += seconds * 1000

    @property
    def ids(self) -> list[int]:
        rows: list[dict[str, Any]] = self.table.scan().to_arrow().to_pylist()
        return sorted(row["id"] for row in rows)

    @property
    def levels(self) -> list[tuple[int, int]]:
        """Level and row count of each file."""
        parts = self.table.parts()
        snapshot = parts.snapshots.latest()
        assert snapshot is not None
        live = parts.manifests.live(snapshot, partitions=EveryPartition())
        files = (entry.file for entry in entries_from_columns(live))
        return sorted((file.level, file.row_count) for file in files)


@pytest.mark.parametrize(
    "time_type",
    ["INT", "BIGINT", "TIMESTAMP(0)", "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(3)"],
)
@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_readers_see_an_expired_row_until_a_compaction_reads_it(
    time_type: str, file_format: str
) -> None:
    if file_format != "parquet" and time_type == "TIMESTAMP(9)":
        file_format = "parquet"
    life = Life({"file.format": file_format}, time_type=time_type)
    life.write([(1, 0), (2, 60), (3, None)])
    life.table.compact()
    life.wait(HOUR_S + 1)
    assert life.ids == [1, 2, 3]
    life.write([(4, 0), (5, HOUR_S)])
    assert life.ids == [1, 2, 3, 4, 5]
    life.table.compact()
    assert life.ids == [2, 3, 5]


def test_a_compacted_bucket_is_compacted_again_when_some_of_its_rows_expire() -> None:
    life = Life({"target-file-row-num": "2"})
    life.write([(1, 0), (2, HOUR_S), (3, HOUR_S), (4, HOUR_S)])
    life.table.compact()
    assert life.table.compact() is None
    life.wait(HOUR_S + 1)
    plan = life.table.compact(dry_run=True)
    assert plan.column("why").to_pylist() == [
        "rows of 1 file at the max level are expired or marked deleted"
    ]
    life.table.compact()
    assert life.ids == [2, 3, 4]
    assert life.levels == [(5, 1), (5, 2)]
    assert life.table.compact() is None


def test_a_bucket_of_which_all_rows_expire_is_left_without_files() -> None:
    life = Life({})
    life.write([(1, 0), (2, 0)])
    life.wait(HOUR_S + 1)
    life.table.compact()
    assert life.levels == []
    life.write([(1, HOUR_S)])
    assert life.ids == [1]


def test_a_file_of_unknown_age_is_looked_into_only_when_it_is_read_anyway() -> None:
    life = Life({"metadata.stats-mode": "none"})
    life.write([(1, 0), (2, HOUR_S)])
    life.table.compact()
    life.wait(HOUR_S + 1)
    assert life.table.compact() is None
    assert life.ids == [1, 2]
    life.write([(0, HOUR_S), (3, HOUR_S)])
    life.table.compact()
    assert life.ids == [0, 2, 3]


@pytest.mark.parametrize("stats_mode", ["none", "full"])
@pytest.mark.parametrize("producer", ["none", "lookup"])
def test_a_key_is_there_once_where_vectors_mark_rows_and_its_old_row_expired(
    producer: str, stats_mode: str
) -> None:
    options = {"changelog-producer": producer, "metadata.stats-mode": stats_mode, **VECTORS}
    life = Life(options)
    life.write([(1, 0), (2, 0), (3, HOUR_S), (4, HOUR_S)])
    life.table.compact()
    life.wait(HOUR_S + 1)
    life.write([(1, HOUR_S), (4, 0)])
    life.table.compact("minor")
    # Row 2 is in a file that was looked into; of key 4 the older row is the younger one.
    assert life.ids == [1, 3, 4]
    assert life.table.scan().count() == 3
    life.table.compact()
    assert life.ids == [1, 3, 4]


def test_a_first_row_is_known_for_as_long_as_it_stands() -> None:
    life = Life({"merge-engine": "first-row", "compaction.size-ratio": "-100"})
    life.write([(1, 0), (2, HOUR_S)])
    life.table.compact()
    life.wait(HOUR_S + 1)
    life.write([(1, HOUR_S), (3, HOUR_S)])
    life.table.compact("minor")
    assert life.ids == [1, 2, 3]
    life.table.compact()
    assert life.ids == [2, 3]
    life.write([(1, HOUR_S)])
    life.table.compact()
    assert life.ids == [1, 2, 3]


def test_a_writer_drops_rows_when_it_compacts() -> None:
    life = Life({"write-only": "false", "num-sorted-run.compaction-trigger": "1"})
    life.write([(1, 0), (2, HOUR_S)])
    life.wait(HOUR_S + 1)
    life.write([(3, HOUR_S)])
    assert life.ids == [2, 3]
