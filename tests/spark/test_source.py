"""`format("paimon")` without attached catalogs: a plain Python Data Source."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import lakebed
from lakebed.spark import register
from lakebed.spark.plain_writer import PaimonWriter

pytestmark = pytest.mark.spark

ROWS = {1: "a", 2: "b", 3: "c"}


def make(directory: Path, *, bucket: int) -> str:
    """A table with three rows, written in two commits; gives its path."""
    catalog = lakebed.load_catalog(warehouse=directory.as_uri())
    catalog.create_database("db", ignore_if_exists=True)
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema([("id", "BIGINT NOT NULL"), ("name", "STRING")]),
        primary_key=["id"] if bucket > 0 else [],
        options={"bucket": bucket},
    )
    table.append(pa.table({"id": [1, 2], "name": ["a", "b"]}))
    table.append(pa.table({"id": [3], "name": ["c"]}))
    return table.location


@pytest.mark.parametrize("bucket", [2, -1])
def test_tables_are_read_by_path(bare: SparkSession, tmp_path: Path, bucket: int) -> None:
    register(bare)
    frame = bare.read.format("paimon").load(make(tmp_path, bucket=bucket))
    assert {row.id: row.name for row in frame.collect()} == ROWS
    assert frame.where("id = 2").select("name").collect()[0][0] == "b"


def test_a_schema_reads_fewer_columns_and_an_option_an_older_snapshot(
    bare: SparkSession, tmp_path: Path
) -> None:
    register(bare)
    reader = bare.read.format("paimon").schema("name STRING").option("snapshot-id", 1)
    assert sorted(row.name for row in reader.load(make(tmp_path, bucket=2)).collect()) == ["a", "b"]


def test_tables_without_buckets_are_written(bare: SparkSession, tmp_path: Path) -> None:
    register(bare)
    path = make(tmp_path, bucket=-1)
    more = bare.createDataFrame([(4, "d")], "id BIGINT, name STRING")
    more.write.format("paimon").mode("append").save(path)
    assert lakebed.load_table(path).scan().count() == 4
    more.write.format("paimon").mode("overwrite").save(path)
    assert lakebed.load_table(path).scan().to_arrow().to_pylist() == [{"id": 4, "name": "d"}]


def test_tables_with_buckets_are_not_written(bare: SparkSession, tmp_path: Path) -> None:
    register(bare)
    path = make(tmp_path, bucket=2)
    more = bare.createDataFrame([(4, "d")], "id BIGINT, name STRING")
    with pytest.raises(AnalysisException, match=r"lakebed\.spark\.attach"):
        more.write.format("paimon").mode("append").save(path)
    assert lakebed.load_table(path).scan().count() == 3


def test_files_are_deleted_when_a_task_failed_but_not_when_only_the_commit_raised(
    tmp_path: Path,
) -> None:
    table = lakebed.load_table(make(tmp_path, bucket=-1))
    writer = PaimonWriter(table, is_overwrite=False)
    rows = pa.RecordBatch.from_pydict({"id": [4], "name": ["d"]})
    before = set(tmp_path.rglob("data-*"))
    message = writer.write(iter([rows]))
    (written,) = set(tmp_path.rglob("data-*")) - before
    writer.abort([message])
    assert written.exists()
    writer.abort([message, None])
    assert not written.exists()


def test_a_path_without_a_table_is_an_error(bare: SparkSession, tmp_path: Path) -> None:
    register(bare)
    with pytest.raises(AnalysisException, match="does not exist"):
        assert bare.read.format("paimon").load(str(tmp_path / "nothing")).columns
