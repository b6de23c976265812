"""Appends whose files Spark's own Parquet writer writes, and the table adopts."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

import lakebed
from lakebed import load_table
from lakebed.spark import writer
from lakebed.spark.native_writes import is_native_write, write_natively

pytestmark = pytest.mark.spark

COLUMNS = """
    id BIGINT NOT NULL, tiny TINYINT, small SMALLINT, whole INT, single FLOAT, wide DOUBLE,
    cents DECIMAL(9, 2), grams DECIMAL(18, 3), huge DECIMAL(38, 4), text STRING, short VARCHAR(10),
    bytes BINARY, day DATE, at TIMESTAMP, clock TIMESTAMP_NTZ, yes BOOLEAN, p STRING, q INT
"""
TASKS_OPTION = "'file-reader-async-threshold' = '1 mb'"
"""An option that Spark's writer is not told of, so that the rows go to tasks."""


def rows(spark: SparkSession) -> DataFrame:
    return spark.range(0, 400, 1, 1).selectExpr(
        "id",
        "cast(id % 100 AS TINYINT) AS tiny",
        "cast(id AS SMALLINT) AS small",
        "if(id % 5 = 0, NULL, cast(id AS INT)) AS whole",
        "cast((id + 1) / 7 AS FLOAT) AS single",
        "-(id + 1) / 3 AS wide",
        "cast(id / 100 AS DECIMAL(9, 2)) AS cents",
        "cast(id * 1000 AS DECIMAL(18, 3)) AS grams",
        "cast(id AS DECIMAL(38, 4)) AS huge",
        "if(id % 3 = 0, NULL, concat('a text that is longer than sixteen ', id)) AS text",
        "cast(concat('v', id) AS STRING) AS short",
        "cast(concat('b', id) AS BINARY) AS bytes",
        "date_add(DATE '1500-01-01', cast(id AS INT)) AS day",
        "timestamp_micros(id * 1000001 - 5000000000000) AS at",
        "cast(timestamp_micros(id * 1000001) AS TIMESTAMP_NTZ) AS clock",
        "id % 2 = 0 AS yes",
        "CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'a/b=c %' ELSE 'x' END AS p",
        "cast(id DIV 4 % 2 AS INT) AS q",
    )


def directory(spark: SparkSession, table: str) -> Path:
    described = spark.sql(f"DESCRIBE EXTENDED lake.db.{table}").collect()
    location = next(row[1] for row in described if row[0] == "Location")
    return Path(location.removeprefix("file://"))


def names(table: Path) -> list[str]:
    """Every file of a table but for its schemas."""
    found = (path.relative_to(table) for path in table.rglob("*") if path.is_file())
    return sorted(str(path) for path in found if path.parts[0] != "schema")


def test_spark_writes_the_files_that_tasks_would_have_written(spark: SparkSession) -> None:
    for table, option in (("native", "'write-only' = 'false'"), ("tasks", TASKS_OPTION)):
        spark.sql(
            f"CREATE TABLE lake.db.{table} ({COLUMNS}) PARTITIONED BY (p, q)"
            f" TBLPROPERTIES ({option})"
        )
        rows(spark).writeTo(f"lake.db.{table}").append()
    native, tasks = (directory(spark, table) for table in ("native", "tasks"))
    assert rows(spark).exceptAll(spark.table("lake.db.native")).isEmpty()
    assert load_table(str(native)).scan().to_arrow().num_rows == 400
    columns = "partition, record_count, min_value_stats, max_value_stats, null_value_counts"
    described = [
        sorted(map(str, spark.sql(f"SELECT {columns} FROM lake.db.`{table}$files`").collect()))
        for table in ("native", "tasks")
    ]
    assert described[0] == described[1]
    ours, theirs = (pq.read_metadata(next(each.rglob("*.parquet"))) for each in (tasks, native))
    assert theirs.created_by.startswith("parquet-mr")
    assert not ours.created_by.startswith("parquet-mr")
    assert [_stored(ours, index) for index in range(18)] == [
        _stored(theirs, index) for index in range(18)
    ]
    assert {path.split("/")[0] for path in names(native)} == {
        "manifest",
        "snapshot",
        "p=__DEFAULT_PARTITION__",
        "p=a%2Fb%3Dc %25",
        "p=x",
    }
    assert spark.conf.get("spark.sql.parquet.outputTimestampType") == "INT96"


def _stored(metadata: pq.FileMetaData, index: int) -> tuple[object, ...]:
    column, chunk = metadata.schema.column(index), metadata.row_group(0).column(index)
    field = metadata.schema.to_arrow_schema().field(index)
    identity = (field.metadata or {}).get(b"PARQUET:field_id")
    return (
        column.name,
        column.physical_type,
        str(column.logical_type),
        column.length,
        chunk.compression,
        identity,
    )


@pytest.mark.parametrize("option", ["'write-only' = 'false'", TASKS_OPTION])
def test_a_null_in_a_not_null_column_leaves_nothing_behind(
    spark: SparkSession, option: str
) -> None:
    spark.sql("DROP TABLE IF EXISTS lake.db.strict")
    spark.sql(
        f"CREATE TABLE lake.db.strict (id BIGINT, name STRING NOT NULL) TBLPROPERTIES ({option})"
    )
    frame = spark.range(0, 10, 1, 2).selectExpr("id", "if(id = 7, NULL, 'x') AS name")
    with pytest.raises(AnalysisException, match="column 'name' is NOT NULL") as caught:
        frame.writeTo("lake.db.strict").append()
    assert caught.value.getCondition() == "LAKEBED_INVALID_DATA"
    assert names(directory(spark, "strict")) == []


def test_a_failed_job_leaves_nothing_behind(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.failing (id BIGINT)")
    frame = spark.range(0, 100_000, 1, 4).selectExpr("if(id = 99000, raise_error('no'), id) AS id")
    with pytest.raises(PySparkException, match="no"):
        frame.writeTo("lake.db.failing").append()
    assert names(directory(spark, "failing")) == []
    spark.range(5).writeTo("lake.db.failing").append()
    assert spark.table("lake.db.failing").count() == 5


def test_files_that_came_out_too_large_are_written_anew(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.rolled (id BIGINT, text STRING, p INT) PARTITIONED BY (p)"
        " TBLPROPERTIES ('target-file-size' = '100 kb')"
    )
    pieces = "transform(sequence(1, if(id % 3 = 0, 9, 1)), n -> sha2(concat(id, '/', n), 256))"
    text = f"array_join({pieces}, '') AS text"
    frame = spark.range(0, 12_000, 1, 2).selectExpr("id", text, "cast(id % 3 AS INT) AS p")
    frame.writeTo("lake.db.rolled").append()
    files = list(directory(spark, "rolled").rglob("*.parquet"))
    assert max(path.stat().st_size for path in files) <= 200 << 10
    assert {pq.read_metadata(path).created_by.split()[0] for path in files} > {"parquet-mr"}
    assert spark.table("lake.db.rolled").exceptAll(frame).isEmpty()
    assert spark.table("lake.db.rolled").count() == 12_000


def test_files_hold_no_more_rows_than_the_option_allows(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.counted (id BIGINT) TBLPROPERTIES ('target-file-row-num'='30')")
    spark.range(0, 100, 1, 1).writeTo("lake.db.counted").append()
    files = spark.sql("SELECT record_count FROM lake.db.`counted$files`").collect()
    assert sorted(row[0] for row in files) == [10, 30, 30, 30]


def test_missing_columns_are_null_and_an_empty_frame_commits_nothing(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.partial (id BIGINT, note STRING)")
    spark.range(0).writeTo("lake.db.partial").append()
    assert names(directory(spark, "partial")) == []
    spark.range(1).writeTo("lake.db.partial").append()
    assert [tuple(row) for row in spark.table("lake.db.partial").collect()] == [(0, None)]


def test_overwrites_replace_what_was_there(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.replaced (id BIGINT, p STRING) PARTITIONED BY (p)")
    for ids, p in ((range(3), "a"), (range(3, 6), "b")):
        spark.createDataFrame([(each, p) for each in ids], "id BIGINT, p STRING").writeTo(
            "lake.db.replaced"
        ).append()
    spark.range(9, 10).withColumn("p", F.lit("b")).writeTo("lake.db.replaced").overwritePartitions()
    assert sorted(map(tuple, spark.table("lake.db.replaced").collect())) == [
        (0, "a"),
        (1, "a"),
        (2, "a"),
        (9, "b"),
    ]


@pytest.mark.parametrize(
    ("columns", "options", "by"),
    [
        ("id BIGINT, at TIMESTAMP", "", "Spark"),
        ("id BIGINT", "'file.compression' = 'snappy', 'fields.id.stats-mode' = 'none'", "Spark"),
        ("id BIGINT, st STRUCT<a: INT>", "", "tasks"),
        ("id BIGINT, a ARRAY<INT>", "", "tasks"),
        ("id BIGINT", "'file.format' = 'orc'", "tasks"),
        ("id BIGINT", TASKS_OPTION, "tasks"),
        ("id BIGINT", "'bucket' = '2', 'bucket-key' = 'id'", "tasks"),
        ("id BIGINT NOT NULL", "'primary-key' = 'id', 'bucket' = '2'", "tasks"),
    ],
)
def test_only_what_spark_writes_alike_is_written_by_spark(
    spark: SparkSession, *, columns: str, options: str, by: str
) -> None:
    spark.sql("DROP TABLE IF EXISTS lake.db.decided")
    properties = f" TBLPROPERTIES ({options})" if options else ""
    spark.sql(f"CREATE TABLE lake.db.decided ({columns}){properties}")
    table = load_table(str(directory(spark, "decided")))
    assert is_native_write(spark.table("lake.db.decided"), table.parts()) is (by == "Spark")


def test_a_null_becomes_the_default_so_tasks_write_such_columns(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.neighbour (id BIGINT)")
    warehouse = directory(spark, "neighbour").parents[1].as_uri()
    columns = lakebed.schema([("id", "BIGINT"), ("n", "INT", {"default": "5"})])
    lakebed.load_catalog(warehouse=warehouse).create_table("db.with_default", schema=columns)
    rows = spark.createDataFrame([(1, 2), (3, None)], "id BIGINT, n INT")
    rows.writeTo("lake.db.with_default").append()
    found = spark.table("lake.db.with_default").collect()
    assert sorted(map(tuple, found)) == [(1, 2), (3, 5)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.sql.parquet.writeLegacyFormat", "true"),
        ("spark.sql.parquet.fieldId.write.enabled", "false"),
        ("spark.sql.parquet.datetimeRebaseModeInWrite", "LEGACY"),
    ],
)
def test_a_session_whose_files_would_be_others_leaves_the_rows_to_tasks(
    spark: SparkSession, key: str, value: str
) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS lake.db.plain (cents DECIMAL(9, 2))")
    parts = load_table(str(directory(spark, "plain"))).parts()
    frame = spark.table("lake.db.plain")
    assert is_native_write(frame, parts)
    spark.conf.set(key, value)
    try:
        assert not is_native_write(frame, parts)
    finally:
        spark.conf.unset(key)


@pytest.mark.parametrize(
    ("kind", "is_native"),
    [("TIMESTAMP(3)", False), ("TIMESTAMP(6)", True), ("TIMESTAMP(9)", False), ("TIME", False)],
)
def test_times_of_other_digits_than_sparks_are_left_to_tasks(
    spark: SparkSession, tmp_path: Path, *, kind: str, is_native: bool
) -> None:
    catalog = lakebed.load_catalog(warehouse=tmp_path.as_uri())
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=lakebed.schema([("at", kind)]))
    frame = spark.sql("SELECT timestamp_ntz '2024-01-01 00:00:00' AS at")
    assert is_native_write(frame, table.parts()) is is_native


def test_codec_level_and_size_of_blocks_are_the_tables(spark: SparkSession) -> None:
    found, sizes = [], []
    for codec, level, block in (
        ("zstd", 1, "64 mb"),
        ("zstd", 19, "64 mb"),
        ("zstd", 1, "64 kb"),
        ("none", 1, "64 mb"),
    ):
        spark.sql("DROP TABLE IF EXISTS lake.db.levels")
        spark.sql(
            "CREATE TABLE lake.db.levels (id BIGINT, text STRING) TBLPROPERTIES"
            f" ('file.compression' = '{codec}', 'file.compression.zstd-level' = '{level}',"
            f" 'file.block-size' = '{block}')"
        )
        spark.range(0, 4_000, 1, 1).selectExpr(
            "id", "concat(sha2(string(id % 7), 256), sqrt(id)) AS text"
        ).writeTo("lake.db.levels").append()
        (file,) = directory(spark, "levels").rglob("*.parquet")
        footer = pq.read_metadata(file)
        found.append((footer.row_group(0).column(0).compression, footer.num_row_groups))
        sizes.append(file.stat().st_size)
    assert [codec for codec, _ in found] == ["ZSTD", "ZSTD", "ZSTD", "UNCOMPRESSED"]
    assert [groups > 1 for _, groups in found] == [False, False, True, False]
    assert sizes[1] < sizes[0] < sizes[3]


def test_rows_that_executors_wrote_to_another_disk_are_missed(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark.sql("CREATE TABLE lake.db.elsewhere (id BIGINT)")
    monkeypatch.setattr(writer, "write_natively", lambda *given: write_natively(*given) + 1)
    with pytest.raises(AnalysisException, match="wrote 4 rows, and 3 of them are here"):
        spark.range(3).writeTo("lake.db.elsewhere").append()
    assert names(directory(spark, "elsewhere")) == []


def test_an_overwrite_that_is_refused_leaves_nothing_behind(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.crossing (id BIGINT NOT NULL, p STRING NOT NULL) PARTITIONED BY (p)"
        " TBLPROPERTIES ('primary-key' = 'id', 'bucket' = '-1')"
    )
    frame = spark.range(3).withColumn("p", F.lit("x"))
    frame.writeTo("lake.db.crossing").append()
    before = names(directory(spark, "crossing"))
    with pytest.raises(AnalysisException, match="Overwrite the whole table"):
        frame.writeTo("lake.db.crossing").overwritePartitions()
    assert names(directory(spark, "crossing")) == before
