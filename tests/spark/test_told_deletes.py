"""A DELETE of all rows drops files, unless `delete.force-produce-changelog` has it told."""

import pytest
from pyspark.sql import SparkSession

from lakebed.spark.registry import make_registry

pytestmark = pytest.mark.spark

_INSERTED = [("+I", 1), ("+I", 2)]


@pytest.mark.parametrize(
    ("forced", "told"), [("false", _INSERTED), ("true", [*_INSERTED, ("-D", 1), ("-D", 2)])]
)
def test_a_delete_of_all_rows_is_told_when_the_table_says_so(
    spark: SparkSession, forced: str, told: list[tuple[str, int]]
) -> None:
    name = f"db.told_deletes_{forced}"
    spark.sql(
        f"CREATE TABLE lake.{name} (id INT, v INT) USING paimon TBLPROPERTIES ("
        "'primary-key' = 'id', 'bucket' = '1', 'changelog-producer' = 'input', "
        f"'delete.force-produce-changelog' = '{forced}')"
    )
    spark.sql(f"INSERT INTO lake.{name} VALUES (1, 1), (2, 2)")
    spark.sql(f"DELETE FROM lake.{name}")
    assert spark.table(f"lake.{name}").count() == 0
    catalog = make_registry(spark).catalog("lake")
    log = catalog.load_table(f"{name}$audit_log")
    newest = catalog.load_table(name).latest_snapshot()
    assert newest is not None
    rows = log.scan(incremental=(0, newest.id), incremental_mode="changelog").to_arrow()
    assert sorted((row["rowkind"], row["id"]) for row in rows.to_pylist()) == told
