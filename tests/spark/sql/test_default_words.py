from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

import lakebed
from lakebed.spark.sql.default_words import default_of, is_default, with_defaults
from lakebed.table.table import Table

COLUMNS: list[tuple[str, str] | tuple[str, str, dict[str, str]]] = [
    ("a", "INT"),
    ("b", "STRING", {"default": "it's"}),
    ("c", "INT", {"default": "5"}),
    ("d", "STRING", {"default": "'quoted'"}),
    ("e", "ARRAY<ROW<x INT, y MAP<STRING, INT>>>", {"default": "ARRAY(STRUCT(1, MAP('k', null)))"}),
]

NESTED = (
    "CAST(array(CAST(named_struct('x', CAST('1' AS int), 'y', CAST(map(CAST('k' AS string), NULL) "
    "AS map<string,int>)) AS struct<x:int,y:map<string,int>>)) AS "
    "array<struct<x:int,y:map<string,int>>>)"
)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    return catalog.create_table("db.t", schema=lakebed.schema(COLUMNS))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("VALUES (1, 'x', 2)", "VALUES (1, 'x', 2)"),
        ("VALUES (1, DEFAULT, 2)", "VALUES (1, CAST('it\\'s' AS string), 2)"),
        (
            "VALUES (DEFAULT, f(1, 2), default), (1, 'DEFAULT', `DEFAULT`)",
            "VALUES (NULL, f(1, 2), CAST('5' AS int)), (1, 'DEFAULT', `DEFAULT`)",
        ),
        (
            "VALUES (1, 'x', 2, DEFAULT, DEFAULT)",
            f"VALUES (1, 'x', 2, CAST('quoted' AS string), {NESTED})",
        ),
        ("VALUES (1, f(DEFAULT), DEFAULT + 1)", "VALUES (1, f(DEFAULT), DEFAULT + 1)"),
    ],
)
def test_the_word_alone_stands_for_the_default_of_its_column(
    table: Table, values: str, expected: str
) -> None:
    assert with_defaults(values, table, [*"abcde"]) == expected


def test_values_in_excess_are_left_to_spark(table: Table) -> None:
    assert with_defaults("VALUES (1, DEFAULT)", table, ["a"]) == "VALUES (1, DEFAULT)"


def test_the_word_is_one_token() -> None:
    assert is_default(" default ")
    assert not is_default("default + 1")
    assert not is_default("'default'")


def test_the_default_of_an_unknown_column_is_refused(table: Table) -> None:
    with pytest.raises(AnalysisException, match="`nothing` cannot be resolved"):
        default_of(table, "nothing")
