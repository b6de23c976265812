"""DataFrame readers and writers on Lakebed tables, by name and by path."""

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed import load_table

pytestmark = pytest.mark.spark


def items(spark: SparkSession, first: int, last: int, *, day: str = "d1") -> DataFrame:
    ids = spark.range(first, last)
    return ids.select(F.lit(day).alias("day"), F.col("id"), (F.col("id") * 2).alias("price"))


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


def test_write_to_creates_appends_and_overwrites(spark: SparkSession) -> None:
    writer = items(spark, 0, 3).writeTo("lake.db.items").using("paimon").partitionedBy(F.col("day"))
    writer.tableProperty("primary-key", "day,id").tableProperty("bucket", "2").create()
    with pytest.raises(AnalysisException) as caught:
        items(spark, 0, 3).writeTo("lake.db.items").create()
    assert caught.value.getCondition() == "TABLE_OR_VIEW_ALREADY_EXISTS"
    items(spark, 2, 5).writeTo("lake.db.items").append()
    items(spark, 7, 8, day="d2").writeTo("lake.db.items").append()
    assert ids(spark.table("lake.db.items")) == [0, 1, 2, 3, 4, 7]
    items(spark, 9, 10, day="d2").writeTo("lake.db.items").overwritePartitions()
    assert ids(spark.table("lake.db.items")) == [0, 1, 2, 3, 4, 9]
    items(spark, 5, 6).writeTo("lake.db.items").overwrite(F.expr("true"))
    assert ids(spark.table("lake.db.items")) == [5]
    described = spark.sql("DESCRIBE EXTENDED lake.db.items").collect()
    properties = next(row[1] for row in described if row[0] == "Table Properties")
    assert "primary-key=day,id" in properties


def test_columns_meet_by_name_in_any_order_and_case(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.by_name (id BIGINT, Price DOUBLE, note STRING)")
    items(spark, 1, 2).select("price", F.col("id").cast("int").alias("ID")).writeTo(
        "lake.db.by_name"
    ).append()
    assert [tuple(row) for row in spark.table("lake.db.by_name").collect()] == [(1, 2.0, None)]
    with pytest.raises(AnalysisException) as caught:
        items(spark, 1, 2).writeTo("lake.db.by_name").append()
    assert caught.value.getCondition() == "INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS"


def test_insert_into_goes_by_position(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.positions (a STRING, b BIGINT, c DOUBLE)")
    items(spark, 1, 3).write.insertInto("lake.db.positions")
    assert sorted(map(tuple, spark.table("lake.db.positions").collect())) == [
        ("d1", 1, 2.0),
        ("d1", 2, 4.0),
    ]
    items(spark, 5, 6).write.insertInto("lake.db.positions", overwrite=True)
    assert [row.b for row in spark.table("lake.db.positions").collect()] == [5]


def test_save_as_table_heeds_the_mode(spark: SparkSession) -> None:
    items(spark, 0, 2).write.format("paimon").saveAsTable("lake.db.saved")
    items(spark, 2, 3).write.mode("append").saveAsTable("lake.db.saved")
    items(spark, 3, 4).write.mode("ignore").saveAsTable("lake.db.saved")
    assert ids(spark.read.table("lake.db.saved")) == [0, 1, 2]
    with pytest.raises(AnalysisException) as caught:
        items(spark, 3, 4).write.saveAsTable("lake.db.saved")
    assert caught.value.getCondition() == "TABLE_OR_VIEW_ALREADY_EXISTS"
    items(spark, 4, 5).write.saveAsTable("lake.db.saved", mode="overwrite")
    assert ids(spark.read.table("lake.db.saved")) == [4]
    assert ids(spark.read.option("snapshot-id", 1).table("lake.db.saved")) == [0, 1]


def test_what_lakebed_lacks_is_an_error(spark: SparkSession) -> None:
    frame = items(spark, 0, 1)
    frame.writeTo("lake.db.lacking").create()
    writer = frame.write.mode("append")
    acts: list[Callable[[], object]] = [
        lambda: writer.format("csv").saveAsTable("lake.db.lacking"),
        lambda: writer.bucketBy(2, "id").saveAsTable("lake.db.lacking", format="paimon"),
    ]
    for act in acts:
        with pytest.raises(AnalysisException) as caught:
            act()
        assert caught.value.getCondition() == "UNSUPPORTED_FEATURE.TABLE_OPERATION"


def test_a_path_is_read_and_written_by_format(spark: SparkSession, tmp_path: Path) -> None:
    path = (tmp_path / "db.db" / "by_path").as_uri()
    writer = items(spark, 0, 3).write.format("paimon").partitionBy("day")
    writer.option("primary-key", "day,id").option("bucket", 1).save(path)
    with pytest.raises(AnalysisException) as caught:
        items(spark, 0, 3).write.format("paimon").save(path)
    assert caught.value.getCondition() == "TABLE_OR_VIEW_ALREADY_EXISTS"
    items(spark, 2, 5).write.format("paimon").mode("append").save(path)
    assert ids(spark.read.format("paimon").load(path)) == [0, 1, 2, 3, 4]
    assert ids(spark.read.format("paimon").option("snapshot-id", 1).load(path)) == [0, 1, 2]
    assert ids(spark.read.load(path, format="paimon", **{"scan.snapshot-id": "1"})) == [0, 1, 2]
    items(spark, 9, 10).write.format("paimon").mode("overwrite").save(path)
    assert ids(spark.read.format("paimon").load(path)) == [9]
    with pytest.raises(AnalysisException) as missing:
        spark.read.format("paimon").load((tmp_path / "db.db" / "nothing").as_uri())
    assert missing.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"


def test_options_of_a_reader_name_a_table(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).writeTo("lake.db.named").create()
    reader = spark.read.format("paimon").option("catalog", "lake").option("Database", "db")
    assert ids(reader.option("table", "named").load()) == [0, 1, 2]
    spark.range(3, 5).writeTo("lake.db.named").append()
    path = (tmp_path / "db.db" / "named").as_uri()
    by_path = spark.read.format("paimon").option("catalog", "lake")
    assert ids(by_path.option("scan.snapshot-id", 1).load(path)) == [0, 1, 2]
    for options, condition in (
        ({"catalog": "lake", "database": "db"}, "LAKEBED_INVALID_ARGUMENT"),
        ({"table": "named"}, "LAKEBED_INVALID_ARGUMENT"),
        ({"catalog": "nowhere", "database": "db", "table": "named"}, "TABLE_OR_VIEW_NOT_FOUND"),
        ({"catalog": "lake", "database": "db", "table": "nothing"}, "TABLE_OR_VIEW_NOT_FOUND"),
    ):
        with pytest.raises(AnalysisException) as caught:
            spark.read.format("paimon").options(**options).load()
        assert caught.value.getCondition() == condition


def test_a_reader_takes_the_version_and_the_time_of_a_table(spark: SparkSession) -> None:
    items(spark, 0, 1).writeTo("lake.db.aged").create()
    items(spark, 1, 2).writeTo("lake.db.aged").append()
    spark.sql("ALTER TABLE lake.db.aged CREATE TAG first AS OF VERSION 1")
    path = spark.sql("SHOW TBLPROPERTIES lake.db.aged ('path')").collect()[0].value
    first = load_table(path).snapshots()[0]
    moment = spark.sql(f"SELECT CAST(timestamp_millis({first.time_millis}) AS STRING)").first()
    assert moment is not None
    assert ids(spark.read.option("versionAsOf", 1).table("lake.db.aged")) == [0]
    assert ids(spark.read.option("VERSIONASOF", "first").table("lake.db.aged")) == [0]
    assert ids(spark.read.format("paimon").option("timestampAsOf", moment[0]).load(path)) == [0]
    old = spark.read.option("versionAsOf", "1").table("lake.db.aged")
    assert [row.id for row in old.select("id", "__paimon_bucket").collect()] == [0]


@pytest.mark.parametrize(
    ("options", "condition"),
    [
        ({"versionAsOf": "1", "timestampAsOf": "2026-01-01"}, "INVALID_TIME_TRAVEL_SPEC"),
        ({"timestampAsOf": "soon"}, "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.OPTION"),
        ({"versionAsOf": "1", "scan.version": "1"}, "LAKEBED_INVALID_ARGUMENT"),
    ],
)
def test_a_point_that_cannot_be_read_is_an_error(
    spark: SparkSession, options: dict[str, str], condition: str
) -> None:
    spark.sql("CREATE TABLE IF NOT EXISTS lake.db.pointed (id INT)")
    with pytest.raises(AnalysisException) as caught:
        spark.read.options(**options).table("lake.db.pointed")
    assert caught.value.getCondition() == condition


def test_a_table_can_be_made_at_any_path(spark: SparkSession, tmp_path: Path) -> None:
    path = (tmp_path / "plain" / "t").as_uri()
    items(spark, 0, 2).write.format("paimon").partitionBy("day").save(path)
    assert ids(spark.read.format("paimon").load(path)) == [0, 1]
    assert load_table(path).partition_keys == ["day"]


def test_other_formats_are_sparks(spark: SparkSession, tmp_path: Path) -> None:
    path = (tmp_path / "plain").as_uri()
    items(spark, 0, 3).write.mode("overwrite").partitionBy("day").parquet(path)
    assert ids(spark.read.parquet(path)) == [0, 1, 2]
    assert ids(spark.read.format("parquet").load(path)) == [0, 1, 2]


def test_the_session_catalog_knows_attached_catalogs(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.listed (id BIGINT NOT NULL COMMENT 'key', name VARCHAR(9))")
    catalog = spark.catalog
    assert "listed" in [table.name for table in catalog.listTables("lake.db")]
    assert catalog.tableExists("lake.db.listed")
    assert not catalog.tableExists("lake.db.nothing")
    assert catalog.databaseExists("lake.db")
    assert not catalog.databaseExists("lake.nothing")
    columns = [(c.name, c.dataType, c.nullable) for c in catalog.listColumns("lake.db.listed")]
    assert columns == [("id", "bigint", False), ("name", "varchar(9)", True)]
    try:
        catalog.setCurrentCatalog("lake")
        catalog.setCurrentDatabase("db")
        assert (catalog.currentCatalog(), catalog.currentDatabase()) == ("lake", "db")
        assert [database.name for database in catalog.listDatabases()] == ["db"]
        assert spark.table("listed").count() == 0
    finally:
        catalog.setCurrentCatalog("spark_catalog")
    assert catalog.currentCatalog() == "spark_catalog"


def test_an_option_that_one_write_could_not_heed_is_refused(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE lake.db.heeds (id BIGINT) TBLPROPERTIES ('file.compression' = 'snappy')"
    )
    rows = spark.range(2)
    rows.write.mode("append").option("file.compression", "snappy").saveAsTable("lake.db.heeds")
    for key, text in (("file.compression", "zstd"), ("target-file-sise", "1 mb")):
        with pytest.raises(AnalysisException, match=f"'{key}' = '{text}' of a writer"):
            rows.write.mode("append").option(key, text).saveAsTable("lake.db.heeds")
        with pytest.raises(AnalysisException, match="give it to the table"):
            rows.writeTo("lake.db.heeds").option(key, text).append()
    assert spark.table("lake.db.heeds").count() == 2


def test_a_default_may_be_said_and_a_path_heeds_no_other_option(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = (tmp_path / "db.db" / "heeds").as_uri()
    writer = spark.range(2).write.format("paimon")
    writer.option("file.format", "orc").option("write-only", "true").save(path)
    append = spark.range(2).write.format("paimon").mode("append")
    append.option("file.compression", "zstd").option("write.compaction-skip", "true").save(path)
    with pytest.raises(AnalysisException, match=r"'file\.format' = 'avro' of a writer"):
        append.option("file.format", "avro").save(path)
    with pytest.raises(AnalysisException, match="'save' does not support bucketBy"):
        append.bucketBy(2, "id").save(path)
    spark.range(9).write.format("paimon").mode("ignore").save(path)
    assert ids(spark.read.format("paimon").load(path)) == [0, 0, 1, 1]


LAYOUT: dict[str, tuple[Callable[[DataFrame, str], None], str]] = {
    "other partitions": (
        lambda rows, table: rows.write.mode("append").partitionBy("id").saveAsTable(table),
        "_LEGACY_ERROR_TEMP_1163",
    ),
    "more partitions": (
        lambda rows, table: rows.write.mode("append").partitionBy("day", "id").saveAsTable(table),
        "_LEGACY_ERROR_TEMP_1163",
    ),
    "partitions by position": (
        lambda rows, table: rows.write.partitionBy("day").insertInto(table),
        "PARTITION_BY_NOT_ALLOWED_WITH_INSERT_INTO",
    ),
    "buckets by position": (
        lambda rows, table: rows.write.bucketBy(2, "id").insertInto(table),
        "_LEGACY_ERROR_TEMP_1312",
    ),
}


@pytest.mark.parametrize("layout", LAYOUT)
def test_a_layout_that_an_existing_table_has_not_is_refused_as_by_spark(
    spark: SparkSession, layout: str
) -> None:
    write, condition = LAYOUT[layout]
    found = []
    for table, source in (("lake.db.laid", "paimon"), ("laid", "parquet")):
        spark.sql(f"DROP TABLE IF EXISTS {table}")
        items(spark, 0, 2).write.format(source).partitionBy("day").saveAsTable(table)
        with pytest.raises(AnalysisException) as caught:
            write(items(spark, 2, 4), table)
        found.append((caught.value.getCondition(), caught.value.getSqlState()))
        assert ids(spark.table(table)) == [0, 1]
    spark.sql("DROP TABLE laid")
    assert found[0] == found[1]
    assert found[0][0] == condition


def test_a_layout_that_an_existing_table_has_may_be_said(spark: SparkSession) -> None:
    writer = items(spark, 0, 1).writeTo("lake.db.said").partitionedBy(F.col("day"))
    keys = {"primary-key": "day,id", "bucket": "2"}
    for key, text in keys.items():
        writer.tableProperty(key, text)
    writer.create()
    items(spark, 1, 2).write.mode("append").partitionBy("DAY").saveAsTable("lake.db.said")
    items(spark, 9, 10).write.mode("ignore").partitionBy("id").saveAsTable("lake.db.said")
    writer = items(spark, 2, 3).writeTo("lake.db.said").partitionedBy(F.col("day"))
    for key, text in keys.items():
        writer.tableProperty(key, text)
    writer.using("paimon").append()
    assert ids(spark.table("lake.db.said")) == [0, 1, 2]


def test_nothing_that_a_writer_to_an_existing_table_is_told_goes_unheeded(
    spark: SparkSession, tmp_path: Path
) -> None:
    items(spark, 0, 2).writeTo("lake.db.told").partitionedBy(F.col("day")).create()
    path = (tmp_path / "told").as_uri()
    items(spark, 0, 2).write.format("paimon").partitionBy("day").save(path)
    writer = items(spark, 2, 4).writeTo("lake.db.told").tableProperty("file.format", "orc")
    save = items(spark, 2, 4).write.format("paimon").mode("overwrite").partitionBy("id")
    acts: list[tuple[Callable[[], None], str]] = [
        (lambda: save.save(path), r"Existing partition columns: \[day\]"),
        (lambda: save.saveAsTable("lake.db.told"), r"Existing partition columns: \[day\]"),
        (
            lambda: items(spark, 2, 4).writeTo("lake.db.told").partitionedBy(F.col("id")).append(),
            r"Specified partition columns: \[id\]",
        ),
        (
            lambda: items(spark, 2, 4).writeTo("lake.db.told").using("csv").append(),
            "does not support the format csv",
        ),
        (
            lambda: items(spark, 2, 4).writeTo("lake.db.told").clusterBy("id").append(),
            "does not support clusterBy",
        ),
        (
            lambda: items(spark, 2, 4).writeTo("lake.db.clustered").clusterBy("id").create(),
            "does not support clusterBy",
        ),
        (
            lambda: items(spark, 2, 4).write.clusterBy("id").insertInto("lake.db.told"),
            "does not support clusterBy",
        ),
        (writer.append, "'file.format' = 'orc' of a writer"),
        (lambda: writer.overwrite(F.expr("true")), "'file.format' = 'orc' of a writer"),
        (writer.overwritePartitions, "'file.format' = 'orc' of a writer"),
    ]
    for act, message in acts:
        with pytest.raises(AnalysisException, match=message):
            act()
    assert ids(spark.table("lake.db.told")) == [0, 1]
    assert ids(spark.read.format("paimon").load(path)) == [0, 1]
    assert not spark.catalog.tableExists("lake.db.clustered")


def test_an_overwrite_is_dynamic_where_the_writer_says_so(spark: SparkSession) -> None:
    writer = items(spark, 0, 2).union(items(spark, 2, 4, day="d2")).writeTo("lake.db.dynamic")
    writer.partitionedBy(F.col("day")).create()
    dynamic = {"partitionOverwriteMode": "dynamic"}
    day = items(spark, 5, 6, day="d2").write.mode("overwrite").options(**dynamic)
    day.saveAsTable("lake.db.dynamic")
    assert ids(spark.table("lake.db.dynamic")) == [0, 1, 5]
    # By position, where the partition column is the last.
    last = items(spark, 6, 7, day="d2").select(*spark.table("lake.db.dynamic").columns)
    last.write.mode("overwrite").options(**dynamic).insertInto("lake.db.dynamic")
    assert ids(spark.table("lake.db.dynamic")) == [0, 1, 6]
    last.write.mode("overwrite").insertInto("lake.db.dynamic")
    assert ids(spark.table("lake.db.dynamic")) == [6]


def test_overwriting_the_partitions_of_a_table_without_any_empties_it(spark: SparkSession) -> None:
    items(spark, 0, 2).writeTo("lake.db.emptied").create()
    items(spark, 0, 0).writeTo("lake.db.emptied").overwritePartitions()
    assert spark.table("lake.db.emptied").count() == 0


@pytest.mark.parametrize("merging", ["false", "true"])
def test_rows_say_in_a_column_of_their_own_that_they_are_deletes(
    spark: SparkSession, merging: str
) -> None:
    spark.sql("DROP TABLE IF EXISTS lake.db.kinds")
    items(spark, 0, 3).writeTo("lake.db.kinds").tableProperty("primary-key", "id").tableProperty(
        "bucket", "2"
    ).create()
    changes = items(spark, 1, 4).withColumn("_row_kind", F.expr("if(id = 1, '-D', '+U')"))
    changes.writeTo("lake.db.kinds").option("write.merge-schema", merging).append()
    assert spark.table("lake.db.kinds").columns == ["day", "id", "price"]
    assert ids(spark.table("lake.db.kinds")) == [0, 2, 3]
