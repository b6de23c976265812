"""`CALL sys.check`: rows are read by tasks, and what is found is the answer."""

import shutil
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import lakebed
from lakebed.spark.registry import Registry
from lakebed.spark.spreading import TaskSpread
from lakebed.table.checking.check import Check
from lakebed.table.checking.findings import FINDING_COLUMNS
from support.damaged_tables import Damager
from support.golden_manifests import DATABASE

pytestmark = pytest.mark.spark


def test_the_procedure_tells_what_is_found(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.checked (id INT) USING paimon")
    spark.sql("INSERT INTO lake.db.checked VALUES (1), (2)")
    call = "CALL lake.sys.check(table => 'db.checked'"
    answer = spark.sql(f"{call})")
    assert answer.columns == FINDING_COLUMNS.names
    assert answer.collect() == []
    with pytest.raises(AnalysisException, match="depth is 'deep'"):
        spark.sql(f"{call}, depth => 'deep')")
    with pytest.raises(AnalysisException, match="parallelism is 0"):
        spark.sql(f"{call}, parallelism => 0)")
    assert spark.sql(f"{call}, depth => 'quick', snapshot_id => 1)").count() == 0
    spark.sql("DROP TABLE lake.db.checked")


def test_tasks_find_what_threads_find(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "pk_dv"
    shutil.copytree(DATABASE / "pk_dv", path)
    table = lakebed.load_table(str(path))
    damager = Damager(table)
    damager.edit_indexes(lambda _: [])
    check = Check(parts=table.parts())
    spread = TaskSpread(spark=spark, registry=Registry(), tasks=2, few_values=0)
    found = check.carry_out(spread)
    assert found == check.carry_out()
    assert {each.what for each in found} == {"two-live-rows"}
