"""EXECUTE IMMEDIATE over tables of attached catalogs, and scripts, which are refused."""

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from lakebed.spark.sql.parser import parse_statement
from lakebed.spark.sql.running.statements import ExecuteImmediate, Value

TEXT = "SELECT v FROM lake.db.immediate WHERE id = "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EXECUTE IMMEDIATE 'a'", ExecuteImmediate(text="'a'")),
        (
            "EXECUTE IMMEDIATE concat('a', b) INTO c, d.e USING 1, f(2, 3)",
            ExecuteImmediate(
                text="concat('a', b)",
                into=[("c",), ("d", "e")],
                values=[Value(text="1"), Value(text="f(2, 3)")],
            ),
        ),
        (
            "EXECUTE IMMEDIATE a USING ((1 + 2) AS b, 'c' d, e.f)",
            ExecuteImmediate(
                text="a",
                values=[
                    Value(text="(1 + 2)", name="b"),
                    Value(text="'c'", name="d"),
                    Value(text="e.f"),
                ],
            ),
        ),
    ],
)
def test_the_parts_are_told(text: str, expected: ExecuteImmediate) -> None:
    found = parse_statement(text)
    assert isinstance(found, ExecuteImmediate)
    assert found.text == expected.text
    assert list(found.into) == list(expected.into)
    assert list(found.values) == list(expected.values)


@pytest.mark.parametrize("text", ["", " USING 1", " 'a' INTO", " 'a' USING"])
def test_what_is_left_out_is_a_syntax_error(text: str) -> None:
    with pytest.raises(ParseException, match="Syntax error"):
        parse_statement(f"EXECUTE IMMEDIATE{text}")


@pytest.fixture
def immediate(spark: SparkSession) -> SparkSession:
    """A session with a table of (1, 'a') and (2, 'b') and the variables `number` and `letter`."""
    spark.sql("DROP TABLE IF EXISTS lake.db.immediate")
    spark.sql("CREATE TABLE lake.db.immediate (id INT, v STRING)")
    spark.sql("EXECUTE IMMEDIATE 'INSERT INTO lake.db.immediate VALUES (1, \\'a\\'), (2, \\'b\\')'")
    spark.sql("DECLARE OR REPLACE number INT DEFAULT 2")
    spark.sql("DECLARE OR REPLACE letter STRING")
    return spark


@pytest.mark.spark
@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        (f"EXECUTE IMMEDIATE '{TEXT} ?' USING 1", [("a",)]),
        (f"EXECUTE IMMEDIATE '{TEXT} :x' USING number AS x", [("b",)]),
        (f"EXECUTE IMMEDIATE '{TEXT} :x' USING (number - 1 AS x)", [("a",)]),
        (f"EXECUTE IMMEDIATE concat('{TEXT}', number)", [("b",)]),
        ("EXECUTE IMMEDIATE 'SELECT ? + 1' USING 1", [(2,)]),
    ],
)
def test_a_text_is_run_with_its_values(
    immediate: SparkSession, statement: str, rows: list[tuple[object, ...]]
) -> None:
    assert immediate.sql(statement).collect() == rows


@pytest.mark.spark
def test_variables_give_the_text_and_take_the_row(immediate: SparkSession) -> None:
    def into(key: int) -> tuple[object, ...]:
        query = "SELECT id, v FROM lake.db.immediate WHERE id = ?"
        immediate.sql(f"EXECUTE IMMEDIATE '{query}' INTO number, letter USING {key}")
        return tuple(immediate.sql("SELECT number, letter").collect()[0])

    immediate.sql(f"DECLARE OR REPLACE query STRING DEFAULT '{TEXT} 1'")
    assert immediate.sql("EXECUTE IMMEDIATE query").collect() == [("a",)]
    assert into(2) == (2, "b")
    assert into(3) == (None, None)


@pytest.mark.spark
def test_values_are_all_named_or_none(immediate: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="ALL_PARAMETERS_MUST_BE_NAMED"):
        immediate.sql(f"EXECUTE IMMEDIATE '{TEXT} :x' USING 1 AS x, 2")


@pytest.mark.spark
def test_a_script_over_tables_is_refused_and_says_what_to_do(immediate: SparkSession) -> None:
    counted = "SELECT count(*) FROM lake.db.immediate"
    with pytest.raises(AnalysisException, match=r"one by one .* with the flow in Python"):
        immediate.sql(f"BEGIN DECLARE c INT; SET c = ({counted}); SELECT c; END")
    plain = immediate.sql("BEGIN DECLARE lake INT; SET lake = 3; SELECT lake AS lake; END")
    assert plain.collect() == [(3,)]
