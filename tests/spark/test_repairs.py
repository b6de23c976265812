"""Orphan files, lost files and hints, as users of the format's own connector call it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.types import LongType, StringType, StructField, StructType

from lakebed.errors import CorruptTableError, NotFoundError
from lakebed.spark.registry import make_registry
from lakebed.spark.spreading import FEW_VALUES, TaskSpread
from lakebed.storage.local import LocalFileIO
from lakebed.table.table import Table
from support.cleaned_tables import UUID

pytestmark = pytest.mark.spark

PARTITIONS = FEW_VALUES + 4
ORPHANS = StructType(
    [
        StructField("deletedFileCount", LongType()),
        StructField("deletedFileTotalLenInBytes", LongType()),
    ]
)
LOST = StructType([StructField("fileName", StringType(), nullable=False)])
EARLIEST = StructType(
    [
        StructField("previous_earliest_snapshot_id", LongType(), nullable=False),
        StructField("current_earliest_snapshot_id", LongType(), nullable=False),
    ]
)


def table_of(spark: SparkSession, name: str = "events") -> Table:
    return make_registry(spark).catalog("lake").load_table(f"db.{name}")


def directory_of(table: Table) -> Path:
    path = table.file_io.local_path(table.location)
    assert path is not None
    return Path(path)


def put_orphan(directory: Path, name: str) -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"orphan")
    for each in (path, *path.parents[:3]):
        os.utime(each, (0, 0))
    return path


@pytest.fixture
def events(spark: SparkSession) -> Iterator[Path]:
    """Where a table of many partitions is, every file of which is old."""
    spark.sql("CREATE TABLE lake.db.events (id INT, p INT) USING paimon PARTITIONED BY (p)")
    table = table_of(spark)
    for start in (0, 1000):
        ids = range(start, start + 3 * PARTITIONS)
        numbers = [pa.array(each, pa.int32()) for each in (ids, [n % PARTITIONS for n in ids])]
        table.append(pa.table(numbers, names=["id", "p"]))
    directory = directory_of(table)
    for path in directory.rglob("*"):
        os.utime(path, (0, 0))
    yield directory
    spark.sql("DROP TABLE lake.db.events")


@pytest.fixture
def orphans(events: Path) -> set[Path]:
    """An orphan in each partition, and others."""
    files = {put_orphan(each, f"bucket-0/data-{UUID}-7.parquet") for each in events.glob("p=*")}
    assert len(files) == PARTITIONS
    files.add(put_orphan(events, f"manifest/manifest-{UUID}-7"))
    files.add(put_orphan(events, ".lakebed-staging-x/_temporary/0/part-0.parquet"))
    return files


def files_in(directory: Path) -> set[Path]:
    return {each for each in directory.rglob("*") if each.is_file()}


@pytest.mark.parametrize("arguments", ["", ", mode => 'LOCAL'", ", parallelism => 3"])
def test_orphans_are_counted_then_deleted(
    spark: SparkSession, events: Path, orphans: set[Path], *, arguments: str
) -> None:
    before, rows = files_in(events), spark.table("lake.db.events").count()
    call = f"CALL lake.sys.remove_orphan_files(table => 'db.events'{arguments}"
    for more in (", dry_run => true", ""):
        answer = spark.sql(f"{call}{more})")
        assert answer.schema == ORPHANS
        assert [tuple(row) for row in answer.collect()] == [(len(orphans), 6 * len(orphans))]
        left = before if more else before - orphans
        assert files_in(events) == left
    assert spark.sql(f"{call})").collect() == [(0, 0)]
    assert spark.table("lake.db.events").count() == rows


@pytest.mark.usefixtures("events")
def test_all_tables_of_a_database_are_cleaned(spark: SparkSession, orphans: set[Path]) -> None:
    spark.sql("CREATE TABLE lake.db.more (id INT) USING paimon")
    other = put_orphan(directory_of(table_of(spark, "more")), f"index/index-{UUID}-0")
    for name in ("db.*", "lake.db.*"):
        answer = spark.sql(f"CALL lake.sys.remove_orphan_files('{name}', dry_run => true)")
        assert answer.collect()[0][0] == len(orphans) + 1
    spark.sql("CALL lake.sys.remove_orphan_files('db.*')")
    assert not any(each.exists() for each in (*orphans, other))
    spark.sql("DROP TABLE lake.db.more")


def test_files_are_as_young_as_is_said(spark: SparkSession, events: Path) -> None:
    path = put_orphan(events, f"manifest/manifest-{UUID}-7")
    os.utime(path, (1_767_225_600, 1_767_225_600))  # 2026-01-01T00:00:00Z
    call = "CALL lake.sys.remove_orphan_files('db.events', '2026-01-01 00:00:0{}')"
    assert spark.sql(call.format(0)).collect()[0][0] == 0
    assert spark.sql(call.format(1)).collect()[0][0] == 1
    assert not path.exists()


@pytest.mark.parametrize("mode", ["distributed", "local"])
def test_nothing_is_deleted_when_a_manifest_cannot_be_read(
    spark: SparkSession, orphans: set[Path], *, mode: str
) -> None:
    directory = directory_of(table_of(spark)) / "manifest"
    manifest = next(
        each for each in sorted(directory.glob("manifest-[0-9a-f]*-0")) if UUID not in each.name
    )
    for damage, error in ((b"no manifest", CorruptTableError), (None, NotFoundError)):
        if manifest.exists():
            manifest.unlink()
        if damage is not None:
            manifest.write_bytes(damage)
        with pytest.raises(AnalysisException) as raised:
            spark.sql(f"CALL lake.sys.remove_orphan_files('db.events', mode => '{mode}')")
        assert isinstance(raised.value.__cause__, error)
        assert all(each.exists() for each in orphans - {manifest})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("'db.events', mode => 'remote'", "mode is 'remote'"),
        ("'db.events', parallelism => 0", "parallelism is 0"),
        ("'db.events', '2100-01-01'", "which is not past"),
        ("'a.b.c.*'", "database.* for all"),
        ("'db.nothing'", "cannot be found"),
        ("'nothing.*'", "nothing"),
    ],
)
@pytest.mark.usefixtures("events")
def test_arguments_that_cannot_be_are_refused(
    spark: SparkSession, arguments: str, words: str
) -> None:
    with pytest.raises(AnalysisException, match=words):
        spark.sql(f"CALL lake.sys.remove_orphan_files({arguments})")


def test_lost_files_are_taken_out_of_the_table(spark: SparkSession, events: Path) -> None:
    lost = sorted(events.glob("p=*/bucket-0/data-*.parquet"))[: FEW_VALUES + 3]
    for path in lost:
        path.unlink()
    call = "CALL lake.sys.remove_unexisting_files(table => 'db.events'"
    dry = spark.sql(f"{call}, dry_run => true)")
    assert dry.schema == LOST
    assert [Path(row[0].removeprefix("file:")) for row in dry.collect()] == lost
    assert spark.sql(f"{call}, parallelism => 2)").collect() == dry.collect()
    assert spark.sql(f"{call})").collect() == []
    left = len(list(events.glob("p=*/bucket-0/data-*.parquet")))
    assert spark.sql("SELECT count(*) FROM lake.db.`events$files`").collect() == [(left,)]
    assert 0 < spark.table("lake.db.events").count() < 6 * PARTITIONS


def test_the_hint_of_the_earliest_snapshot_is_mended(spark: SparkSession, events: Path) -> None:
    spark.sql("INSERT INTO lake.db.events VALUES (1, 1)")
    (events / "snapshot" / "snapshot-2").unlink()
    call = "CALL lake.sys.repair_earliest_snapshot(table => 'db.events', snapshot_id => {})"
    answer = spark.sql(call.format(3))
    assert answer.schema == EARLIEST
    assert answer.collect() == [(1, 3)]
    assert (events / "snapshot" / "EARLIEST").read_text() == "3"
    with pytest.raises(AnalysisException, match="before 3, which is the oldest"):
        spark.sql(call.format(2))


def test_what_tasks_found_comes_in_the_order_of_the_values(
    spark: SparkSession, tmp_path: Path
) -> None:
    paths = [str(tmp_path / f"{number:03d}") for number in range(25)]
    for number, path in enumerate(paths):
        Path(path).write_bytes(b"x" * number)
    spread = TaskSpread(spark=spark, registry=make_registry(spark), tasks=4)
    assert spread(LocalFileIO().size, paths) == list(range(25))
    assert spread(LocalFileIO().size, paths[:2]) == [0, 1]
    with pytest.raises(NotFoundError, match="lost"):
        spread(LocalFileIO().size, [*paths, str(tmp_path / "lost")])


def test_a_purge_leaves_a_table_without_rows(spark: SparkSession, events: Path) -> None:
    answer = spark.sql("CALL lake.sys.purge_files('db.events')")
    assert answer.schema == StructType([StructField("result", StringType())])
    assert answer.collect() == [("Success",)]
    assert spark.table("lake.db.events").count() == 0
    assert [each for each in files_in(events) if "bucket-" in str(each)] == []
