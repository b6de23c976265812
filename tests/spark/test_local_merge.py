"""Rows that their tasks merge before the shuffle: the same table, and fewer rows on their way."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from lakebed.spark import writer
from lakebed.spark.distribution import by_bucket
from lakebed.spark.registry import Registry, make_registry
from lakebed.table.parts import TableParts
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.table import Table

pytestmark = pytest.mark.spark

TASKS = 3
KEYS = 10
ROWS = 600
COLUMNS = "k BIGINT, p BIGINT, a BIGINT, b STRING, g BIGINT, _row_kind STRING"
# The rows of a key are one task's, since tasks come in no order; from g on some come too late.
VALUES = [
    f"(id div {ROWS // TASKS}) * {KEYS} + id % {KEYS} AS k",
    "id % 2 AS p",
    "if(id % 7 = 0, NULL, id) AS a",
    "if(id % 5 = 0, NULL, concat('text ', id)) AS b",
    "pmod(id * 377, 601) AS g",
]
OLDER_KEYS = range(20, 60)
OLDER = pa.table(
    {
        "k": pa.array(OLDER_KEYS, pa.int64()),
        "p": pa.array([key % 2 for key in OLDER_KEYS], pa.int64()),
        "b": pa.array(["older"] * len(OLDER_KEYS), pa.string()),
        "g": pa.array([300] * len(OLDER_KEYS), pa.int64()),
    }
)
GROUP = {"merge-engine": "partial-update", "fields.g.sequence-group": "a"}
SUM = {"merge-engine": "aggregation", "fields.a.aggregate-function": "sum"}
DELETES = "if(id % 11 = 0, '-D', '+I')"
INSERTS = "'+I'"
ENGINES: dict[str, tuple[Mapping[str, str], str]] = {
    "deduplicate by sequence": ({"sequence.field": "g"}, DELETES),
    "deduplicate in partitions": ({"primary-key": "k,p", "partition": "p"}, DELETES),
    "deduplicate in dynamic buckets": ({"bucket": "-1"}, DELETES),
    "first-row": ({"merge-engine": "first-row"}, INSERTS),
    "partial-update": ({"merge-engine": "partial-update"}, INSERTS),
    "partial-update with a group": (GROUP, INSERTS),
    "aggregation": (SUM, INSERTS),
}


def make(spark: SparkSession, name: str, options: Mapping[str, str]) -> Table:
    """A table with older rows."""
    given = {"primary-key": "k", "bucket": "2", "write-only": "true", **options}
    texts = ", ".join(f"'{key}' = '{text}'" for key, text in given.items())
    spark.sql(f"DROP TABLE IF EXISTS lake.db.{name}")
    spark.sql(
        f"CREATE TABLE lake.db.{name} (k BIGINT NOT NULL, p BIGINT, a BIGINT, b STRING,"
        f" g BIGINT) TBLPROPERTIES ({texts})"
    )
    table = make_registry(spark).catalog("lake").load_table(f"db.{name}")
    assert isinstance(table, Table)
    table.upsert(OLDER)
    return table


def rows(spark: SparkSession, kinds: str) -> DataFrame:
    """Rows in several tasks of which Spark does not know that they are few."""
    frame = spark.range(0, ROWS, 1, TASKS).selectExpr(*VALUES, f"{kinds} AS _row_kind")
    return frame.mapInArrow(lambda batches: batches, COLUMNS)


def content(table: Table) -> list[dict[str, Any]]:
    """The rows of every level: those of first-row are else seen when they are compacted."""
    parts = table.parts()
    source = SnapshotSource(snapshot=parts.snapshots.latest(), visibility=Visibility.ALL)
    return sorted(parts.scan(source).to_arrow().to_pylist(), key=itemgetter("k"))


@pytest.fixture
def shuffled(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each write brought together by bucket."""
    counts: list[int] = []

    def counting(frame: DataFrame, parts: TableParts, registry: Registry) -> DataFrame:
        counts.append(frame.count())
        return by_bucket(frame, parts, registry)

    monkeypatch.setattr(writer, "by_bucket", counting)
    return counts


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_is_the_same_with_and_without_local_merge(
    spark: SparkSession, shuffled: list[int], engine: str
) -> None:
    options, kinds = ENGINES[engine]
    contents = []
    for name, more in (("plain", {}), ("merged", {"local-merge-buffer-size": "8 kb"})):
        table = make(spark, name, {**options, **more})
        rows(spark, kinds).writeTo(f"lake.db.{name}").append()
        contents.append(content(table))
    assert contents[0] == contents[1]
    assert {row["b"] for row in contents[0]} > {"older"}
    if options.get("bucket") != "-1":
        assert shuffled == [ROWS, TASKS * KEYS]


def test_rows_that_take_back_are_shuffled_as_they_came(
    spark: SparkSession, shuffled: list[int]
) -> None:
    contents = []
    for more in ({}, {"local-merge-buffer-size": "1 mb"}):
        table = make(spark, "sums", {**SUM, **more})
        rows(spark, DELETES).writeTo("lake.db.sums").append()
        contents.append(content(table))
    assert contents[0] == contents[1]
    assert shuffled == [ROWS, ROWS]


def test_what_is_wrong_with_rows_is_said_as_without_local_merge(spark: SparkSession) -> None:
    messages = []
    for more in ({}, {"local-merge-buffer-size": "1 mb"}):
        table = make(spark, "wrong", more)
        with pytest.raises(Exception, match="a row kind is one of") as caught:
            rows(spark, "'?'").writeTo("lake.db.wrong").append()
        messages.append(str(caught.value))
        assert len(content(table)) == len(OLDER_KEYS)
    assert messages[0] == messages[1]
