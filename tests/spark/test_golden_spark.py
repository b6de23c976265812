"""The golden tables through Spark: names, types and rows are the real engine's.

A few tables of each way of reading stand here; the stage `golden-spark` asks everything of them.
"""

import json
from collections import Counter
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import golden_adapter
import golden_spark_adapter
from lakebed.spark import attach, register
from support.golden_answers import EXPECTED, GoldenQuery, encode, golden_queries, parse_type

pytestmark = pytest.mark.spark

WAREHOUSE = EXPECTED.parent / "warehouse"
DATABASE = WAREHOUSE / "db.db"
TABLES = sorted(path.stem for path in EXPECTED.glob("*.json"))
JAVA_TABLE = "append_java_types"  # holds what Spark cannot
SYSTEM_TABLES_OF = ("tags_branches", "pk_dv", "row_tracking")
# Kinds of table, and what is asked of each.
ASKED = {
    "agg_nested": "latest",
    "append_dv": "latest",
    "append_nested_orc": "latest",
    "append_types_avro": "latest",
    "cl_lookup": "incremental 1,",
    "evolve_pk": "snapshot 2",
    "first_row": "incremental 1,",
    "pk_dv": "$ro",
    "pu_sequence_groups": "$audit_log",
    "tags_branches": "tag ",
    "variant": "latest",
}
QUERIES = [
    query
    for table, start in ASKED.items()
    for query in golden_queries(table)
    if query.id.startswith(start)
]


@pytest.fixture(scope="module")
def golden(spark: SparkSession) -> SparkSession:
    """The session, with the golden tables in its catalog `golden`."""
    return attach(spark, "golden", warehouse=WAREHOUSE.as_uri())


def columns(document: dict[str, Any], query_id: str) -> list[tuple[str, str]]:
    return next(
        [tuple(column) for column in query["columns"]]
        for query in document["queries"]
        if query["id"] == query_id
    )


def encoded(rows: list[dict[str, Any]], types: list[tuple[str, str]]) -> Counter[str]:
    """Rows in one spelling, as a multiset."""
    kinds = {name: parse_type(kind) for name, kind in types}
    return Counter(repr([encode(row[name], kind) for name, kind in kinds.items()]) for row in rows)


@pytest.mark.parametrize("table", [table for table in TABLES if table != JAVA_TABLE])
def test_columns_have_the_real_engine_s_names_and_types(golden: SparkSession, table: str) -> None:
    document = json.loads((EXPECTED / f"{table}.json").read_text(encoding="utf-8"))
    frame = golden.table(f"golden.db.{table}")
    assert frame.dtypes == columns(document, "latest")


@pytest.mark.parametrize(
    "query",
    [
        query
        for table in SYSTEM_TABLES_OF
        for query in golden_queries(table)
        if query.id == f"${query.args.get('system_table')}"
    ],
    ids=lambda query: f"{query.table}{query.id}",
)
def test_system_tables_are_those_of_the_real_engine(
    golden: SparkSession, query: GoldenQuery
) -> None:
    frame = golden_spark_adapter.ask(golden, "golden.db", query.table, **query.args)
    # The corpus leaves out columns that differ from run to run.
    kept = {name for name, _ in query.columns}
    assert [column for column in frame.dtypes if column[0] in kept] == query.columns
    found = golden_spark_adapter.rows_of(frame)
    in_process = golden_adapter.read(f"{DATABASE.as_uri()}/{query.table}", **query.args)
    assert encoded(found, frame.dtypes) == encoded(in_process, frame.dtypes)
    assert len(found) == len(query.rows)


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.table}: {query.id}")
def test_answer_is_the_real_engine_s(golden: SparkSession, query: GoldenQuery) -> None:
    frame = golden_spark_adapter.ask(golden, "golden.db", query.table, **query.args)
    assert frame.dtypes == query.columns
    rows = golden_spark_adapter.rows_of(frame)
    variants = {name for name, kind in query.columns if kind == "variant"}
    plain = [
        {
            name: json.loads(value) if name in variants and isinstance(value, str) else value
            for name, value in row.items()
        }
        for row in rows
    ]
    assert query.difference(plain) is None


def test_every_way_of_reading_is_asked() -> None:
    assert {query.table for query in QUERIES} == set(ASKED)


def test_times_of_nine_digits_are_cut_and_time_of_day_is_refused(golden: SparkSession) -> None:
    table = f"golden.db.{JAVA_TABLE}"
    with pytest.raises(AnalysisException, match=r"'tm' has type TIME\(3\)"):
        golden.table(table)
    latest = next(query for query in golden_queries(JAVA_TABLE) if query.id == "latest")
    names = [name for name, _ in latest.columns]
    times = [name for name, kind in latest.columns if kind.startswith("timestamp")]
    found = golden.sql(f"SELECT id, {', '.join(times)} FROM {table}")
    assert golden.sql(f"DESCRIBE {table}").where("col_name = 'tm'").collect()[0][1] == "time(3)"
    rows = {row["id"]: row for row in golden_spark_adapter.rows_of(found)}
    assert times
    for expected in latest.rows:
        wanted = dict(zip(names, expected, strict=True))
        for name in times:
            shown, value = rows[wanted["id"]][name], wanted[name]
            cut = value and value.removesuffix("Z").replace("T", " ")[:26]
            assert (shown and str(shown).removesuffix("Z")) == cut


def test_tables_of_metadata_are_queried_like_any_other(golden: SparkSession) -> None:
    query = """
        SELECT s.snapshot_id, count(*) FROM golden.db.`pk_dv$snapshots` s
        JOIN golden.db.`pk_dv$schemas` c USING (schema_id) WHERE s.snapshot_id < 3 GROUP BY 1
    """
    assert sorted(tuple(row) for row in golden.sql(query).collect()) == [(1, 1), (2, 1)]
    about_all = golden.sql("SELECT table_name FROM golden.sys.tables WHERE primary_key")
    assert ("pk_dv",) in [tuple(row) for row in about_all.collect()]


def test_a_system_table_that_is_not_there_is_not_found_and_near_ones_are_named(
    golden: SparkSession,
) -> None:
    with pytest.raises(AnalysisException, match=r"There is files") as caught:
        golden.table("golden.db.pk_dv$filez")
    assert caught.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"


@pytest.mark.parametrize("is_attached", [True, False])
def test_paths_name_system_tables_and_options_name_changes(
    golden: SparkSession, *, is_attached: bool
) -> None:
    path = f"{DATABASE.as_uri()}/cl_input"
    session = golden if is_attached else golden.newSession()
    if not is_attached:
        session.conf.set("spark.sql.session.timeZone", "UTC")
        register(session)
    files = session.read.format("paimon").load(f"{path}$files")
    assert files.count() == len(golden_adapter.read(path, system_table="files"))
    changes = (
        session.read.format("paimon")
        .option("incremental-between", "1,3")
        .option("incremental-between-scan-mode", "changelog")
    )
    wanted = golden_adapter.read(path, incremental={"start": 1, "end": 3, "mode": "changelog"})
    frame = changes.load(path)
    found = encoded(golden_spark_adapter.rows_of(frame), frame.dtypes)
    assert found == encoded(wanted, frame.dtypes)
    assert found


def test_the_past_is_queried_by_the_columns_that_it_had(golden: SparkSession) -> None:
    document = json.loads((EXPECTED / "evolve_pk.json").read_text(encoding="utf-8"))
    then = columns(document, "snapshot 1")
    assert then != columns(document, "latest")
    # The table has a column `c` today, which is not what stands for `a` here.
    text = "SELECT id, a AS c FROM golden.db.evolve_pk VERSION AS OF 1 WHERE b IS NOT NULL"
    assert golden.sql(text).dtypes == [("id", "int"), ("c", "int")]
    assert golden.sql(text).count() > 0
