"""What a merge's source says of the rows that it can meet."""

import pytest
from pyspark.sql import SparkSession

from lakebed.format.schema_definition import schema
from lakebed.spark.sql.row_changes.source_range import reach_of
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def table() -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    columns = [("id", "BIGINT"), ("day", "DATE"), ("name", "STRING"), ("at", "TIMESTAMP(6)")]
    return catalog.create_table("db.t", schema=schema(columns))


CASES = {
    "numbers of another width": (
        "SELECT * FROM VALUES (3S), (-7S), (NULL) AS (k)",
        {"id": "k"},
        "`id` BETWEEN -7 AND 3",
    ),
    "a day and a text": (
        "SELECT DATE '2026-11-23' AS Day, 'b' AS name",
        {"day": "day", "name": "name"},
        "`day` BETWEEN DATE '2026-11-23' AND DATE '2026-11-23' AND `name` BETWEEN 'b' AND 'b'",
    ),
    "a text that would have to be escaped": ("SELECT 'it''s' AS name", {"name": "name"}, None),
    "no rows": ("SELECT 1 AS id WHERE FALSE", {"id": "id"}, None),
    "another type": ("SELECT '1' AS id", {"id": "id"}, None),
    "an instant": ("SELECT TIMESTAMP '2026-11-23 00:00:00' AS at", {"at": "at"}, None),
    "no column that must be equal": ("SELECT 1 AS id", {}, None),
    "names that differ in their case alone": ("SELECT 1 AS id, 2 AS ID", {"id": "id"}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_the_reach_of_a_source(spark: SparkSession, table: Table, case: str) -> None:
    text, pairs, expected = CASES[case]
    reach = reach_of(spark.sql(text), table, pairs)
    assert (None if reach is None else reach.condition) == expected


def test_the_reach_tells_how_many_rows_the_source_has(spark: SparkSession, table: Table) -> None:
    reach = reach_of(spark.sql("SELECT * FROM VALUES (3), (3), (NULL) AS (k)"), table, {"id": "k"})
    assert reach is not None
    assert reach.row_count == 3
