"""COPY INTO a path: rows of tables, views and queries as files."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.spark

TABLE = "lake.db.copied_out"


@pytest.fixture
def table(spark: SparkSession) -> str:
    spark.sql(f"DROP TABLE IF EXISTS {TABLE}")
    spark.sql(f"CREATE TABLE {TABLE} (id INT NOT NULL, name VARCHAR(3))")
    return TABLE


@pytest.mark.parametrize(
    ("file_format", "text"),
    [
        ("TYPE = CSV, HEADER = TRUE, FIELD_DELIMITER = ';'", "id;name\n1;a\n"),
        ("TYPE = JSON", '{"id":1,"name":"a"}\n'),
        ("TYPE = PARQUET, COMPRESSION = GZIP", None),
    ],
)
def test_rows_are_written_to_files_and_come_back(
    spark: SparkSession, table: str, tmp_path: Path, *, file_format: str, text: str | None
) -> None:
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a')")
    out = tmp_path / "out"
    answer = spark.sql(f"COPY INTO '{out}' FROM {table} FILE_FORMAT = ({file_format})")
    assert answer.collect() == [Row(output_path=str(out), file_count=1, rows_written=1)]
    assert [each.dataType.typeName() for each in answer.schema] == ["string", "integer", "long"]
    (part,) = out.glob("part-*")
    assert text is None or part.read_text() == text
    back = file_format.replace("HEADER", "SKIP_HEADER").replace("TRUE", "1")
    loaded = spark.sql(f"COPY INTO {table} FROM '{out}' FILE_FORMAT = ({back})").collect()
    assert [(row.status, row.rows_loaded) for row in loaded] == [("LOADED", 1)]
    assert [tuple(row) for row in spark.table(table).collect()] == [(1, "a"), (1, "a")]


def test_files_take_the_place_of_others_only_where_that_is_asked(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a'), (2, 'b')")
    out = f"file://{tmp_path}/out"
    text = f"COPY INTO '{out}' FROM (SELECT id FROM {table} WHERE id IN (:few, 3)) FILE_FORMAT ="
    spark.sql(f"{text} (TYPE = JSON)", args={"few": 1})
    with pytest.raises(AnalysisException, match="PATH_ALREADY_EXISTS"):
        spark.sql(f"{text} (TYPE = JSON) OVERWRITE = FALSE", args={"few": 1})
    answer = spark.sql(f"{text} (TYPE = JSON) OVERWRITE = TRUE", args={"few": 2}).collect()
    assert (answer[0].output_path, answer[0].rows_written) == (out, 1)
    assert [row.id for row in spark.read.json(out).collect()] == [2]


def test_a_view_and_no_rows_can_be_written(spark: SparkSession, table: str, tmp_path: Path) -> None:
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a')")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW copied_view AS SELECT id + 1 AS n FROM {table}")
    out = tmp_path / "out"
    text = f"COPY INTO '{out}' FROM %s FILE_FORMAT = (TYPE = CSV, HEADER = TRUE) OVERWRITE = TRUE"
    assert spark.sql(text % "(SELECT * FROM copied_view WHERE n > 9)").collect()[0][2] == 0
    assert spark.sql(text % "copied_view").collect()[0][2] == 1
    assert [each.read_text() for each in out.glob("part-*")] == ["n\n2\n"]


def test_files_are_not_written_over_tables(spark: SparkSession, table: str) -> None:
    spark.sql(f"INSERT INTO {table} VALUES (1, 'a')")
    path = spark.sql(f"SHOW TBLPROPERTIES {table} ('path')").collect()[0][1]
    for target in (path, f"{path}/x", path.rpartition("/")[0], str(Path(path).parents[2])[5:]):
        with pytest.raises(AnalysisException, match="warehouse"):
            spark.sql(
                f"COPY INTO '{target}' FROM {table} FILE_FORMAT = (TYPE = CSV) OVERWRITE = TRUE"
            )
    assert [tuple(row) for row in spark.table(table).collect()] == [(1, "a")]


def test_only_queries_are_written(spark: SparkSession, table: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for text in (
        f"FROM {table} INSERT INTO {table} SELECT *",
        f"WITH x AS (SELECT 1) DELETE FROM {table}",
    ):
        with pytest.raises(PySparkException, match="PARSE_SYNTAX_ERROR"):
            spark.sql(f"COPY INTO '{out}' FROM ({text}) FILE_FORMAT = (TYPE = CSV)")
    assert not out.exists()
