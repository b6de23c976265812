"""The tables of the real engine read as the real engine read them."""

import pytest

import golden_adapter
from support.golden_answers import GoldenQuery, golden_queries

# Tables of plain engines and layouts; the stage `golden` asks everything of every table.
KINDS = ("latest", "snapshot", "filter", "columns")
TABLES = (
    "append_bucketed",
    "append_index",
    "append_many_commits",
    "append_nested",
    "append_partitioned",
    "append_rolling",
    "append_stats_modes",
    "append_types_parquet",
    "partition_names",
    "pk_composite_partitioned",
    "pk_date_timestamp_key",
    "pk_decimal_key",
    "pk_history",
    "pk_string_buckets",
)
QUERIES = [query for table in TABLES for query in golden_queries(table) if query.kind in KINDS]
DATABASE = golden_adapter.__file__.removesuffix("golden_adapter.py") + "golden/warehouse/db.db"


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.table}: {query.id}")
def test_answer_is_the_real_engine_s(query: GoldenQuery) -> None:
    assert query.difference(golden_adapter.read(f"{DATABASE}/{query.table}", **query.args)) is None


def test_every_kind_of_question_is_asked() -> None:
    assert {query.kind for query in QUERIES} == set(KINDS)
    assert len(QUERIES) == 140


@pytest.mark.parametrize("query", QUERIES[:3], ids=lambda query: query.id)
def test_a_wrong_answer_is_told(query: GoldenQuery) -> None:
    right = golden_adapter.read(f"{DATABASE}/{query.table}", **query.args)
    assert query.difference([*right, right[0]]) is not None
    assert query.difference(right[1:]) is not None
    assert query.difference([{**right[0], "more": 1}, *right[1:]]) is not None
