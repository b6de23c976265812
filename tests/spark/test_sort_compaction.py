"""Sort compaction on Spark: in the driver, a partition a task, and a partition over many tasks."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import lakebed
from lakebed.errors import LakebedError
from lakebed.format.snapshot import CommitKind
from lakebed.spark.compaction import run_job
from lakebed.spark.registry import make_registry
from lakebed.table.compaction.job import CompactionJob, compaction_job
from lakebed.table.compaction.sort_order import chosen_ordering
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.store_listing import data_files

pytestmark = pytest.mark.spark

ROW_COUNT = 20_000
COLUMNS = [
    ("a", "INT"),
    ("b", "BIGINT"),
    ("s", "STRING"),
    ("dt", "STRING"),
    ("at", "TIMESTAMP(3)"),
    ("d", "DECIMAL(9, 2)"),
    ("list", "ARRAY<INT>"),
]
OPTIONS = {
    "target-file-size": "48 kb",
    "deletion-vectors.enabled": "true",
}


def drawn(seed: int) -> pa.Table:
    numbers = np.random.default_rng(seed).integers(0, 1000, (3, ROW_COUNT))
    return pa.table(
        {
            "a": pa.array(numbers[0], pa.int32(), mask=numbers[0] % 100 == 7),
            "b": numbers[1],
            "s": numbers[2].astype(str),
            "dt": np.where(numbers[2] < 700, "d0", "d1"),
            "at": pa.array(numbers[2] * 1000, pa.timestamp("ms")),
            "d": numbers[2],
            "list": pa.array([[n, None] for n in range(ROW_COUNT)], pa.list_(pa.int32())),
        }
    )


@pytest.fixture
def table(spark: SparkSession) -> Iterator[Table]:
    """Two files in each of two partitions, and in each rows that are marked."""
    catalog = make_registry(spark).catalog("lake")
    made = catalog.create_table(
        "db.wide", schema=lakebed.schema(COLUMNS), partition_by=["dt"], options=OPTIONS
    )
    for seed in (1, 2):
        made.append(drawn(seed))
    made.delete("b = 5 OR a = 3")
    yield catalog.load_table("db.wide")
    spark.sql("DROP TABLE lake.db.wide")


def job_of(table: Table, strategy: str, order_by: str) -> CompactionJob:
    parts = table.parts()
    ordering = chosen_ordering(parts, strategy, order_by)
    return compaction_job(parts, None, EveryPartition(), ordering=ordering)


def rows_of(table: Table) -> list[tuple[object, ...]]:
    rows = table.scan().to_arrow()
    return sorted(zip(*(column.to_pylist() for column in rows.columns), strict=True), key=str)


def files_of(table: Table, dt: str) -> list[pa.Table]:
    """The files of a partition in the order of their sequence numbers."""
    splits = table.scan(where=f"dt = '{dt}'").plan().splits
    files = [file for split in splits for file in split.files]
    ordered = sorted(files, key=lambda file: file.min_sequence_number)
    assert all(
        one.max_sequence_number + 1 == next_one.min_sequence_number
        for one, next_one in pairwise(ordered)
    )
    return [pq.read_table(file.path.removeprefix("file://"), partitioning=None) for file in ordered]


def kinds(table: Table) -> list[CommitKind]:
    return [snapshot.commit_kind for snapshot in table.snapshots()]


@pytest.mark.parametrize(
    ("small_bytes", "one_task_bytes"),
    [(1 << 30, 1 << 30), (0, 1 << 30), (0, 0), (0, 300_000)],
    ids=["driver", "a partition a task", "ranges", "one partition in ranges"],
)
def test_rows_stay_the_same_and_are_in_one_order_over_all_files_of_a_partition(
    spark: SparkSession, table: Table, *, small_bytes: int, one_task_bytes: int
) -> None:
    before = rows_of(table)
    job = job_of(table, "order", "a,b")
    snapshot = run_job(
        spark,
        make_registry(spark),
        job,
        small_bytes=small_bytes,
        one_task_bytes=one_task_bytes,
    )
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.total_record_count) == (CommitKind.COMPACT, len(before))
    assert rows_of(table) == before
    for dt in ("d0", "d1"):
        files = files_of(table, dt)
        assert len(files) > 2
        sorted_rows = pa.concat_tables(files)
        keys = [
            (a is not None, a or 0, b)
            for a, b in zip(*(sorted_rows[name].to_pylist() for name in "ab"), strict=True)
        ]
        assert keys == sorted(keys)
    marked = spark.sql("SELECT count(*) FROM lake.db.`wide$files` WHERE level > 0").collect()
    assert marked == [(0,)]


@pytest.mark.parametrize("strategy", ["zorder", "hilbert"])
def test_sorted_ranges_are_those_of_one_process(
    spark: SparkSession, table: Table, *, strategy: str
) -> None:
    """Ties are broken anyhow, so keys are compared."""
    columns = ["b", "a"]
    found = []
    for one_task_bytes in (0, 1 << 30):
        job = job_of(table, strategy, ",".join(columns))
        one = [each for each in job.compactions if "d0" in urlsplit(each.directory).path]
        run_job(
            spark,
            make_registry(spark),
            replace(job, compactions=one),
            small_bytes=0,
            one_task_bytes=one_task_bytes,
        )
        rows = pa.concat_tables(files_of(table, "d0")).select(columns)
        found.append(rows.to_pylist())
    assert found[0] == found[1]


def test_a_filter_on_either_column_reads_few_files_after_the_call(
    spark: SparkSession, table: Table
) -> None:
    spark.sql("CALL lake.sys.compact(table => 'db.wide')")
    queries = ["dt = 'd0' AND a = 77", "dt = 'd0' AND b = 77"]

    def planned() -> list[int]:
        return [sum(s.file_count for s in table.scan(where=q).plan().splits) for q in queries]

    before = planned()
    answer = spark.sql(
        "CALL lake.sys.compact(table => 'db.wide', order_strategy => 'zorder', order_by => 'a, b')"
    )
    assert answer.collect() == [(True,)]
    after = planned()
    assert all(many >= 2 * few > 0 for many, few in zip(before, after, strict=True))


def test_a_call_sorts_the_partitions_that_it_names(spark: SparkSession, table: Table) -> None:
    before = data_files(table.file_io, table.location)
    spark.sql(
        "CALL lake.sys.compact(table => 'db.wide', partitions => 'dt=d1',"
        " order_strategy => 'ORDER', order_by => 'b')"
    )
    query = "SELECT DISTINCT partition FROM lake.db.`wide$files` WHERE file_source = 'COMPACT'"
    assert spark.sql(query).collect() == [("{d1}",)]
    assert {path for path in before if "dt=d0" in path} <= set(
        data_files(table.file_io, table.location)
    )


def test_values_that_spark_would_cut_are_sorted_without_it(spark: SparkSession) -> None:
    catalog = make_registry(spark).catalog("lake")
    fine = catalog.create_table(
        "db.fine", schema=lakebed.schema([("a", "BIGINT"), ("t", "TIMESTAMP(9)"), ("c", "TIME")])
    )
    nanos = pa.array([3, 1, 2], pa.timestamp("ns"))
    times = pa.array([5, 6, 7], pa.time32("ms"))
    fine.append(pa.table({"a": [3, 1, 2], "t": nanos, "c": times}))
    job = job_of(fine, "order", "a")
    run_job(spark, make_registry(spark), job, small_bytes=0, one_task_bytes=0)
    found = fine.scan().to_arrow()
    assert found["a"].to_pylist() == [1, 2, 3]
    assert found["t"].cast(pa.int64()).to_pylist() == [1, 2, 3]


def test_a_file_that_cannot_be_read_leaves_the_table_as_it_was(
    spark: SparkSession, table: Table
) -> None:
    before = data_files(table.file_io, table.location)
    job = job_of(table, "zorder", "a,b")
    broken = next(path for path in before if "dt=d1" in path)
    Path(urlsplit(broken).path).write_bytes(b"nothing")
    with pytest.raises(LakebedError, match=broken.rpartition("/")[2]):
        run_job(spark, make_registry(spark), job, small_bytes=0, one_task_bytes=0)
    assert data_files(table.file_io, table.location) == before
    assert CommitKind.COMPACT not in kinds(table)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("order_strategy => 'zorder'", "needs order_by"),
        ("order_strategy => 'order', order_by => 'nope'", "no column 'nope'; there are: a, b"),
        ("order_strategy => 'order', order_by => 'dt'", "partition column 'dt'"),
        ("order_strategy => 'order', order_by => 'list'", "'list'.*has no order"),
        ("order_strategy => 'hilbert', order_by => 'a'", "two columns at least"),
        ("order_strategy => 'zorder', order_by => 'a,b,a'", "named twice"),
        ("order_strategy => 'z', order_by => 'a'", "none, order, zorder, hilbert"),
        ("order_by => 'a'", "sorts nothing"),
        (
            "compact_strategy => 'minor', order_strategy => 'order', order_by => 'a'",
            "leave one of them out",
        ),
    ],
)
def test_a_sort_that_cannot_be_is_refused_and_nothing_is_done(
    spark: SparkSession, table: Table, *, arguments: str, message: str
) -> None:
    before = table.latest_snapshot()
    with pytest.raises(AnalysisException, match=message) as caught:
        spark.sql(f"CALL lake.sys.compact(table => 'db.wide', {arguments})")
    assert caught.value.getCondition() == "LAKEBED_INVALID_ARGUMENT"
    assert table.latest_snapshot() == before
