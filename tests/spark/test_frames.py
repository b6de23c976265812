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
    acts: list[Callable[[], None]] = [
        lambda: frame.writeTo("lake.db.lacking").createOrReplace(),
        lambda: frame.writeTo("lake.db.lacking").overwrite(F.col("id") == 1),
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
