"""Files of an older schema are found by field id through Spark too, never by the name of today."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakebed import load_catalog, load_table, schema
from lakebed.format.types import DataField
from lakebed.table.table import Table

pytestmark = pytest.mark.spark


def renamed(table: Table, **names: str) -> Table:
    """The table after a change of schema that gives columns other names."""
    fields = tuple(
        replace(field, name=names.get(field.name, field.name)) for field in table.schema.fields
    )
    return evolved(table, fields)


def evolved(table: Table, fields: tuple[DataField, ...]) -> Table:
    """The table after a change of schema to these fields."""
    table.parts().schemas.put(replace(table.schema, id=table.schema.id + 1, fields=fields))
    return load_table(table.location)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    made = catalog.create_table("db.t", schema=schema([("id", "BIGINT"), ("a", "STRING")]))
    made.append(pa.table({"id": [1], "a": ["old"]}))
    return made


def rows(spark: SparkSession, table: Table) -> list[tuple[object, ...]]:
    frame = spark.read.format("paimon").load(table.location)
    return sorted(tuple(row) for row in frame.collect())


def test_a_renamed_column_keeps_the_values_of_files_written_before(
    spark: SparkSession, table: Table
) -> None:
    later = renamed(table, a="b")
    later.append(pa.table({"id": [2], "b": ["new"]}))
    assert rows(spark, later) == [(1, "old"), (2, "new")]


def test_a_new_column_of_an_old_name_does_not_take_the_old_ones_values(
    spark: SparkSession, table: Table
) -> None:
    number, old = table.schema.fields
    later = evolved(table, (number, replace(old, id=2)))
    assert rows(spark, later) == [(1, None)]
