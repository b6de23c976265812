"""Manifests and file indexes written anew, as users call it in SQL."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakebed.format.arrow.typing import python_values
from lakebed.format.snapshot import CommitKind
from lakebed.spark.compaction import run_job
from lakebed.spark.registry import make_registry
from lakebed.table.compaction.index_rewrite import index_rewrite
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table

pytestmark = pytest.mark.spark

NAME = "lake.db.kept_up"


def table_of(spark: SparkSession) -> Table:
    return make_registry(spark).catalog("lake").load_table("db.kept_up")


def rows(spark: SparkSession, query: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.sql(query).collect())


def manifest_count(spark: SparkSession) -> int:
    return spark.sql("SELECT * FROM lake.db.`kept_up$manifests`").count()


def set_options(table: Table, options: Mapping[str, str]) -> None:
    schema = table.schema
    newer = replace(schema, id=schema.id + 1, options={**schema.options, **options})
    table.file_io.write(table.parts().paths.schema(newer.id), newer.to_json())


@pytest.fixture
def kept_up(spark: SparkSession) -> Iterator[Table]:
    spark.sql(
        f"CREATE TABLE {NAME} (id BIGINT, name STRING, Dt STRING) USING paimon PARTITIONED BY (Dt)"
        " TBLPROPERTIES ('write-only' = 'true')"
    )
    table = table_of(spark)
    for start in range(4):
        ids = range(start, 40, 4)
        table.append(
            pa.table(
                {
                    "id": pa.array(ids, pa.int64()),
                    "name": [f"name {n}" for n in ids],
                    "Dt": [f"d{n % 2}" for n in ids],
                }
            )
        )
    yield table
    spark.sql(f"DROP TABLE {NAME}")


def test_a_dry_run_writes_nothing_and_a_call_leaves_one_manifest(
    spark: SparkSession, kept_up: Table, caplog: pytest.LogCaptureFixture
) -> None:
    before = rows(spark, f"SELECT * FROM {NAME}")
    count = manifest_count(spark)
    assert count > 1
    with caplog.at_level(logging.INFO):
        call = "CALL lake.sys.compact_manifest(table => 'db.kept_up', dry_run => true)"
        assert rows(spark, call) == [(True,)]
    assert sum("would be written anew" in message for message in caplog.messages) == count
    assert manifest_count(spark) == count
    assert rows(spark, "CALL lake.sys.compact_manifest('db.kept_up')") == [(True,)]
    assert manifest_count(spark) == 1
    assert rows(spark, f"SELECT * FROM {NAME}") == before
    assert [each.commit_kind for each in kept_up.snapshots()][4:] == [CommitKind.COMPACT]
    assert rows(spark, "CALL lake.sys.compact_manifest('db.kept_up')") == [(True,)]
    assert len(kept_up.snapshots()) == 5


def test_manifests_are_sorted_as_a_call_says(spark: SparkSession, kept_up: Table) -> None:
    call = (
        "CALL lake.sys.compact_manifest(table => 'db.kept_up', manifest_sort_enabled => true,"
        " manifest_sort_partition_field => 'Dt', manifest_sort_max_rewrite_size => '1 mb'{})"
    )
    spark.sql(call.format(", options => 'manifest.target-file-size=1b'"))
    # No manifest is small then, and each is of one day.
    assert manifest_count(spark) == 4
    spark.sql(call.format(""))
    assert manifest_count(spark) == 1
    (meta,) = kept_up.parts().manifests.files(kept_up.snapshots()[-1])
    entries = kept_up.parts().manifests.entries([meta])
    days = python_values(entries.column("partition"))
    assert days == sorted(days)
    with pytest.raises(AnalysisException, match="none of the partition columns Dt"):
        spark.sql(
            "CALL lake.sys.compact_manifest(table => 'db.kept_up', manifest_sort_enabled => true,"
            " manifest_sort_partition_field => 'id')"
        )


def test_files_get_the_indexes_that_the_table_was_altered_to(
    spark: SparkSession, kept_up: Table
) -> None:
    before = rows(spark, f"SELECT * FROM {NAME}")
    assert rows(spark, "CALL lake.sys.rewrite_file_index('db.kept_up')") == [(0, 0)]
    set_options(kept_up, {"file-index.bloom-filter.columns": "name"})
    call = "CALL lake.sys.rewrite_file_index(table => 'db.kept_up', where => \"dt = 'd1'\")"
    assert rows(spark, call) == [(1, 2)]
    assert rows(spark, call) == [(0, 0)]
    assert rows(spark, "CALL lake.sys.rewrite_file_index('db.kept_up')") == [(1, 2)]
    assert rows(spark, f"SELECT * FROM {NAME}") == before
    assert rows(spark, f"SELECT id FROM {NAME} WHERE name = 'name 22'") == [(22,)]
    plan = table_of(spark).scan(where="name = 'name 22'").plan()
    assert sum(split.file_count for split in plan.splits) == 1
    with pytest.raises(AnalysisException, match="id"):
        spark.sql("CALL lake.sys.rewrite_file_index(table => 'db.kept_up', where => 'id = 1')")


def test_indexes_are_made_by_tasks_where_files_are_large(
    spark: SparkSession, kept_up: Table
) -> None:
    set_options(
        kept_up,
        {"file-index.bitmap.columns": "name,id", "file-index.in-manifest-threshold": "0 b"},
    )
    table = table_of(spark)
    job = index_rewrite(table.parts(), EveryPartition())
    snapshot = run_job(spark, make_registry(spark), job, small_bytes=0)
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.COMPACT
    assert rows(spark, f"SELECT id FROM {NAME} WHERE name = 'name 22'") == [(22,)]
    indexes = rows(spark, "SELECT index_file_path FROM lake.db.`kept_up$file_indexes`")
    assert len(set(indexes)) == 4
    assert table.rewrite_file_index() is None
