"""TPC-H's 22 queries over Lakebed tables answer as Spark does over Parquet files of the same rows.

Every value is an integer, a decimal, a date or a text, so answers are compared to the last digit.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from lakebed.spark import attach, detach
from lakebed.spark.java import ensure_java
from tools.tpch.data import TABLES, TEST_SCALE, generated
from tools.tpch.loading import load_append, load_keyed
from tools.tpch.queries import QUERIES

# Another stage than that of all tests on Spark runs these, with files from a package of their own.
pytestmark = pytest.mark.peers

SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
Ask = Callable[[str, str], list[Row]]
PARQUET = "spark_catalog.parquet"


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session with Parquet tables, and the databases `append` and `keyed` in `lake`."""
    ensure_java()
    directory = tmp_path_factory.mktemp("tpch")
    builder = SparkSession.builder.master("local[2]").config(map={**SETTINGS})
    session = builder.config("spark.sql.warehouse.dir", str(directory / "spark")).getOrCreate()
    attach(session, "lake", warehouse=(directory / "lake").as_uri())
    make_parquet_tables(session, generated(TEST_SCALE))
    load_append(session, "lake.append", source=PARQUET)
    load_keyed(session, "lake.keyed", source=PARQUET)
    yield session
    detach(session)
    session.stop()


def make_parquet_tables(spark: SparkSession, files: Path) -> None:
    spark.sql(f"CREATE DATABASE {PARQUET}")
    for table in TABLES:
        path = files / f"{table}.parquet"
        spark.sql(f"CREATE TABLE {PARQUET}.{table} USING parquet LOCATION '{path}'")


@pytest.fixture(scope="module")
def ask(spark: SparkSession) -> Ask:
    """The answer of a database to a query; it is asked once."""

    @cache
    def answer(database: str, name: str) -> list[Row]:
        spark.sql(f"USE {database}")
        try:
            return spark.sql(QUERIES[name]).collect()
        finally:
            spark.sql("USE spark_catalog.default")

    return answer


def test_there_are_22_queries() -> None:
    assert list(QUERIES) == [f"q{number:02}" for number in range(1, 23)]


@pytest.mark.parametrize("kind", ["append", "keyed"])
@pytest.mark.parametrize("name", QUERIES)
def test_answers_are_those_over_parquet_files(ask: Ask, name: str, kind: str) -> None:
    expected = ask(PARQUET, name)
    assert ask(f"lake.{kind}", name) == expected
    assert expected


@pytest.mark.parametrize("table", TABLES)
def test_keyed_tables_hold_files_that_overlap_and_need_a_merge(
    spark: SparkSession, table: str
) -> None:
    files = spark.sql(f"SELECT file_path, level, record_count FROM lake.keyed.`{table}$files`")
    rows = files.collect()
    assert {row.level for row in rows} == {0}
    held = spark.sql(f"SELECT count(*) FROM {PARQUET}.{table}").collect()[0][0]
    assert sum(row.record_count for row in rows) > held
