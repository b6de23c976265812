"""Rows of `bucket-postpone` get their buckets in tasks as they do in one process."""

from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakebed.errors import LakebedError
from lakebed.format.snapshot import CommitKind
from lakebed.spark.postponed import place_in_tasks
from lakebed.spark.registry import make_registry
from lakebed.table.compaction.postponed import place_postponed
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.store_listing import data_files, orphans

pytestmark = pytest.mark.spark

OPTIONS = {
    "primary-key": "id,p",
    "bucket": "-2",
    "postpone.batch-write-fixed-bucket": "false",
    "changelog-producer": "input",
}
SIZES = {
    "by rows": {"postpone.target-row-num-per-bucket": "40"},
    "by bytes": {"postpone.target-size-per-bucket": "1 kb"},
    "fixed": {"postpone.default-bucket-num": "3"},
}


def make(spark: SparkSession, name: str, options: dict[str, str], *, more: str = "") -> Table:
    properties = ", ".join(f"'{k}' = '{v}'" for k, v in {**OPTIONS, **options}.items())
    spark.sql(
        f"CREATE TABLE lake.db.{name} (id BIGINT NOT NULL, at TIMESTAMP, p STRING NOT NULL, v INT,"
        f" tags ARRAY<STRING>{more}) USING paimon PARTITIONED BY (p) TBLPROPERTIES ({properties})"
    )
    return make_registry(spark).catalog("lake").load_table(f"db.{name}")


def upsert(table: Table, seed: int) -> None:
    """Rows of some keys, a few of them deletes; some keys come twice."""
    chance = np.random.default_rng(seed)
    ids = chance.integers(0, 200, 90)
    rows = {
        "id": ids,
        "at": pa.array(ids * 1_000_003, pa.timestamp("us", "UTC")),
        "p": chance.choice(["x", "y"], 90).tolist(),
        "v": pa.array(seed * 1000 + np.arange(90), pa.int32()),
        "tags": [[str(id_)] * (id_ % 3) for id_ in ids.tolist()],
        "_row_kind": np.where(chance.random(90) < 0.2, "-D", "+I").tolist(),
    }
    table.upsert(pa.table(rows))


def place(spark: SparkSession, table: Table) -> None:
    in_tasks = partial(place_in_tasks, spark, make_registry(spark), small_bytes=0, one_task_bytes=1)
    snapshot = place_postponed(table.parts(), EveryPartition(), write=in_tasks)
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.COMPACT


def rows(table: Table) -> list[str]:
    return sorted(map(repr, table.scan().to_arrow().to_pylist()))


def buckets(table: Table) -> dict[str, int]:
    """The number of buckets that have files, by partition."""
    directories = {path.rpartition("/")[0] for path in data_files(table.file_io, table.location)}
    found = [each.split("/p=")[1] for each in directories if "postpone" not in each]
    partitions = [each[0] for each in found]
    return {each: partitions.count(each) for each in partitions}


@pytest.mark.parametrize("name", SIZES)
def test_rows_and_buckets_are_those_of_one_process(spark: SparkSession, name: str) -> None:
    number = [*SIZES].index(name)
    here = make(spark, f"placed_here_{number}", SIZES[name])
    in_tasks = make(spark, f"placed_in_tasks_{number}", SIZES[name])
    for start in (0, 4):
        for table in (here, in_tasks):
            for seed in range(start, start + 4):
                upsert(table, seed)
        place_postponed(here.parts(), EveryPartition())
        place(spark, in_tasks)
        assert rows(in_tasks) == rows(here)
        # How many bytes rows take is known of a sample only.
        assert name == "by bytes" or buckets(in_tasks) == buckets(here)
        told, expected = (table.snapshots()[-1] for table in (in_tasks, here))
        assert told.changelog_record_count == expected.changelog_record_count != 0
    assert min(buckets(here).values()) > 1
    waiting = {path for path in orphans(in_tasks, in_tasks.file_io) if "postpone" not in path}
    assert waiting == set()


def test_a_file_that_cannot_be_read_leaves_all_rows_waiting(spark: SparkSession) -> None:
    table = make(spark, "placed_lame", SIZES["fixed"])
    for seed in range(3):
        upsert(table, seed)
    before = data_files(table.file_io, table.location)
    file = Path(urlsplit(min(before)).path)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(LakebedError, match="CorruptTableError"):
        place(spark, table)
    assert data_files(table.file_io, table.location) == before
    assert len(table.snapshots()) == 3
