"""Tables that give buckets to keys, written by several tasks: each key is one task's."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark user knows

from lakebed.format.hash_index import decode_hashes
from lakebed.spark import key_shares
from lakebed.spark.key_shares import KeyedWrite
from lakebed.spark.registry import Registry, make_registry
from lakebed.table.table import Table

pytestmark = pytest.mark.spark

TASKS = 4
KEYS = 2000
Rows = dict[Any, tuple[Any, ...]]


@pytest.fixture(autouse=True)
def _any_row_is_worth_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_shares, "SHARE_BYTES", 1)
    monkeypatch.setattr(Registry, "parallelism", lambda *_: TASKS)


def changes(seed: int) -> list[tuple[Any, ...]]:
    """Rows (id, dt, v) of half of the keys, each once."""
    chance = np.random.default_rng(seed)
    ids = chance.choice(KEYS, KEYS // 2, replace=False).tolist()
    dts = chance.choice(["x", "y", "ü"], len(ids)).tolist()
    return [(key, dt, seed * KEYS + key) for key, dt in zip(ids, dts, strict=True)]


def frame_of(spark: SparkSession, rows: list[tuple[Any, ...]]) -> DataFrame:
    return spark.createDataFrame(rows, "id BIGINT, dt STRING, v BIGINT").repartition(3)


def create(spark: SparkSession, name: str, options: dict[str, str]) -> Table:
    texts = ", ".join(f"'{key}' = '{text}'" for key, text in options.items())
    spark.sql(
        f"CREATE TABLE lake.db.{name} (id BIGINT, dt STRING, v BIGINT) USING paimon"
        f" PARTITIONED BY (dt) TBLPROPERTIES ({texts})"
    )
    return loaded(spark, name)


def loaded(spark: SparkSession, name: str) -> Table:
    table = make_registry(spark).catalog("lake").load_table(f"db.{name}")
    assert isinstance(table, Table)
    return table


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.scan().to_arrow().to_pylist())


def files_of(spark: SparkSession, name: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in spark.table(f"lake.db.`{name}$files`").collect()]


def hash_counts(table: Table) -> Counter[tuple[bytes, int]]:
    """How many buckets the hash index of each partition has each hash in."""
    parts = table.parts()
    counts: Counter[tuple[bytes, int]] = Counter()
    for entry in parts.manifests.index_files(parts.snapshots.latest()):
        path = parts.paths.index(entry.file_name)
        hashes = decode_hashes(parts.file_io.read(path), path)
        assert len(hashes) == entry.row_count
        counts.update((entry.partition, each) for each in hashes.tolist())
    return counts


def test_dynamic_buckets_are_shared_by_tasks_and_a_key_keeps_its_bucket(
    spark: SparkSession,
) -> None:
    options = {"primary-key": "id,dt", "bucket": "-1", "dynamic-bucket.target-row-num": "100"}
    create(spark, "dynamic", options)
    told: Rows = {}
    for seed in range(3):
        frame_of(spark, changes(seed)).writeTo("lake.db.dynamic").append()
        told |= {row[:2]: row for row in changes(seed)}
    table = loaded(spark, "dynamic")
    table.upsert(table.scan(where="id < 40").to_arrow())
    assert rows_of(table) == sorted(told.values())
    assert {row[:2] for row in told.values()} == {row[:2] for row in rows_of(table)}
    assert set(hash_counts(table).values()) == {1}
    assert len(hash_counts(table)) == len(told)
    buckets = {(row["partition"], row["bucket"]) for row in files_of(spark, "dynamic")}
    assert len(buckets) >= 3 * TASKS


def test_initial_buckets_bound_how_many_buckets_tasks_begin(spark: SparkSession) -> None:
    create(
        spark,
        "initial",
        {"primary-key": "id,dt", "bucket": "-1", "dynamic-bucket.initial-buckets": "2"},
    )
    frame_of(spark, changes(1)).writeTo("lake.db.initial").append()
    assert {row["bucket"] for row in files_of(spark, "initial")} == {0, 1}
    assert rows_of(loaded(spark, "initial")) == sorted(changes(1))


@pytest.mark.parametrize("engine", ["deduplicate", "first-row", "partial-update"])
def test_keys_that_move_between_partitions_are_looked_up_by_several_tasks(
    spark: SparkSession, engine: str
) -> None:
    name = f"moving_{engine.replace('-', '_')}"
    options = {
        "primary-key": "id",
        "bucket": "-1",
        "dynamic-bucket.target-row-num": "100",
        "merge-engine": engine,
        **({"write-only": "true"} if engine == "first-row" else {}),
    }
    create(spark, name, options)
    told: Rows = {}
    stays = 0
    for seed in range(3):
        frame_of(spark, changes(seed)).writeTo(f"lake.db.{name}").append()
        for key, dt, v in changes(seed):
            old = told.get(key)
            stays += old is None or old[1] == dt
            if engine == "deduplicate" or old is None:
                told[key] = (key, dt, v)
            elif engine == "partial-update":
                told[key] = (key, old[1], v)
    if engine == "first-row":
        # Read once compacted; rows that would move their key were not written.
        assert sum(row["record_count"] for row in files_of(spark, name)) == stays
    else:
        assert rows_of(loaded(spark, name)) == sorted(told.values())


def test_postponed_tables_measure_new_partitions_before_several_tasks_write(
    spark: SparkSession,
) -> None:
    options = {"primary-key": "id,dt", "bucket": "-2", "postpone.target-row-num-per-bucket": "150"}
    create(spark, "postponed", options)
    told: Rows = {}
    for seed in range(3):
        frame_of(spark, changes(seed)).writeTo("lake.db.postponed").append()
        told |= {row[:2]: row for row in changes(seed)}
        buckets = {(row["partition"], row["bucket"]) for row in files_of(spark, "postponed")}
        assert Counter(partition for partition, _ in buckets) == {"{x}": 4, "{y}": 4, "{ü}": 4}
    assert rows_of(loaded(spark, "postponed")) == sorted(told.values())


def test_rows_left_postponed_are_written_by_tasks_that_each_have_their_keys(
    spark: SparkSession,
) -> None:
    options = {
        "primary-key": "id,dt",
        "bucket": "-2",
        "postpone.batch-write-fixed-bucket": "false",
    }
    create(spark, "left_postponed", options)
    frame_of(spark, changes(1)).writeTo("lake.db.left_postponed").append()
    table = loaded(spark, "left_postponed")
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    assert snapshot.total_record_count == len(changes(1))
    files = Path(table.parts().paths.location.removeprefix("file://")).glob("*/bucket-postpone/*")
    assert len({file.name.split("-w-")[0] for file in files}) == TASKS


def test_a_key_whose_hash_sql_cannot_give_is_written_by_one_task(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.decimals (id DECIMAL(20, 2), v INT) USING paimon"
        " TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '-1')"
    )
    frame = spark.range(1000).selectExpr("cast(id AS DECIMAL(20, 2)) AS id", "cast(id AS INT) AS v")
    frame.writeTo("lake.db.decimals").append()
    assert {row["bucket"] for row in files_of(spark, "decimals")} == {0}


def test_a_task_that_is_sent_keys_of_another_one_commits_nothing(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(spark, "astray", {"primary-key": "id,dt", "bucket": "-1"})
    monkeypatch.setattr(
        KeyedWrite, "_key_class", lambda _, classes: F.pmod(F.col("id"), F.lit(classes))
    )
    with pytest.raises(Exception, match="keys of another task"):
        frame_of(spark, changes(1)).writeTo("lake.db.astray").append()
    assert loaded(spark, "astray").latest_snapshot() is None
