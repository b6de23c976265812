import pickle
from zoneinfo import ZoneInfo

import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.format.predicate.expressions import (
    And,
    Column,
    Comparison,
    ComparisonOperator,
    Expression,
    Literal,
    columns_of,
    conjuncts,
    rename,
    split_by_columns,
)
from lakebed.format.predicate.parser import parse_expression, parse_predicate
from lakebed.format.predicate.text import format_expression
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, RowType, TypeRoot

UTC = ZoneInfo("UTC")
INT = AtomicType(root=TypeRoot.INT)
STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
ROW_TYPE = RowType(
    fields=(
        DataField(id=0, name="id", type=AtomicType(root=TypeRoot.BIGINT, nullable=False)),
        DataField(
            id=1, name="Total", type=AtomicType(root=TypeRoot.DECIMAL, precision=10, scale=2)
        ),
        DataField(id=2, name="dt", type=STRING),
        DataField(id=3, name="show", type=INT),
        DataField(id=4, name="odd ` name", type=INT),
        DataField(id=5, name="date", type=AtomicType(root=TypeRoot.DATE)),
        DataField(id=6, name="st", type=RowType(fields=(DataField(id=7, name="x", type=INT),))),
        DataField(id=8, name="c", type=AtomicType(root=TypeRoot.CHAR, length=3)),
        DataField(id=9, name="ok", type=AtomicType(root=TypeRoot.BOOLEAN)),
    )
)


def parse(text: str) -> Expression:
    return parse_predicate(text, ROW_TYPE, time_zone=UTC)


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("id = 3", "id = 3"),
        ("id <> 3 AND dt == 'a'", "(NOT (id = 3)) AND (dt = 'a')"),
        ("id = 1 OR id = 2 AND ok", "(id = 1) OR ((id = 2) AND ok)"),
        ("NOT id = 1 AND ok", "(NOT (id = 1)) AND ok"),
        ("id NOT IN (1, 2L)", "NOT (id IN (1, 2))"),
        ("id BETWEEN 1 AND 2 AND ok", "(id >= 1) AND (id <= 2) AND ok"),
        ("id + 2 * 3 = -4 - 1", "(id + 6) = -5"),
        ("show = 1", "show = 1"),
        ("`odd `` name` IS NOT NULL", "`odd `` name` IS NOT NULL"),
        ("date < DATE '2026-01-31'", "date < DATE '2026-01-31'"),
        ("date < '2026-1-31'", "date < DATE '2026-01-31'"),
        ("st.x > 0 -- a comment", "st.x > 0"),
        ("Total > 1", "Total > 1.00"),
        ("c = 'a'", "CAST(c AS CHAR(3)) = 'a  '"),
        ("dt LIKE 'a%' ESCAPE '#'", "dt LIKE 'a%' ESCAPE '#'"),
        ("1 = 1", "TRUE"),
        ("show = '7'", "CAST(show AS BIGINT) = 7"),
        ("ok AND NULL", "ok AND NULL"),
    ],
)
def test_text_means_what_spark_makes_of_it(text: str, meaning: str) -> None:
    assert format_expression(parse(text)) == meaning


def test_a_meaning_printed_means_the_same_again() -> None:
    once = parse("(id = 1 OR dt LIKE 'a\\%') AND NOT (Total * 2 > 1.5) AND date >= '2026-01-01'")

    assert parse(format_expression(once)) == once


def test_names_match_exactly_unless_told_otherwise() -> None:
    with pytest.raises(InvalidArgumentError, match=r"no column 'total'; did you mean Total\?"):
        parse("total = 1")

    found = parse_predicate("ToTaL = 1", ROW_TYPE, time_zone=UTC, case_sensitive=False)
    assert columns_of(found) == {"Total"}


def test_a_name_that_two_columns_share_but_for_case_is_refused() -> None:
    twins = RowType(
        fields=(DataField(id=0, name="a", type=INT), DataField(id=1, name="A", type=INT))
    )

    with pytest.raises(InvalidArgumentError, match=r"'a' may be any of \['a', 'A'\]"):
        parse_predicate("a = 1", twins, time_zone=UTC, case_sensitive=False)


@pytest.mark.parametrize(
    ("text", "problem", "mark"),
    [
        ("id = 3 LIMIT 5", "expected an operator, or the end, found 'LIMIT'", "       ^^^^^"),
        ("id % 2 = 0", "'%' is not understood", "   ^"),
        ("upper(dt) = 'A'", "the function upper is not understood", "^^^^^"),
        ("id = 'open", "the quote ' is never closed", "     ^"),
        ("(id = 1", "expected '\\)', found the end", "       ^"),
        ("id IN ()", "expected a value", "       ^"),
        ("id", "the predicate must be a condition, BOOLEAN, and this is BIGINT", "^^"),
        ("id AND ok", "an operand of AND must be a condition", "   ^^^"),
        ("ok = 1", "BOOLEAN and INT cannot be compared", "   ^"),
        ("st = 1", "ROW cannot be compared by =; name a field", "   ^"),
        ("dt.x = 1", "dt is STRING and has no fields", "   ^"),
        ("st.y = 1", "no field of st 'y'", "   ^"),
        ("date = DATE '2026-02-30'", "'2026-02-30' is not a date", "            ^^^^^^^^^^^^"),
        ("dt LIKE id", "expected a text as the pattern", "        ^^"),
        ("dt LIKE 'a' ESCAPE 'bc'", "ESCAPE takes one character, not 2", "                   ^^^^"),
        ("CAST(id AS WORD) = 1", "there is no type WORD", "           ^^^^"),
        ("id = 128Y", "128 does not fit into TINYINT", "     ^^^^"),
        ("ok\nAND (nope)", "no column 'nope'.*at line 2, column 6", "     ^^^^"),
        ("   ", "the expression is empty", "   ^"),
    ],
)
def test_what_is_not_understood_is_refused_at_its_place(text: str, problem: str, mark: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"(?s){problem}") as caught:
        parse(text)

    assert f"\n  {mark}\n" in str(caught.value)
    assert "Understood are:" in str(caught.value)


def test_nesting_beyond_the_stack_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="nested more than 50 levels"):
        parse("(" * 2000 + "ok" + ")" * 2000)
    with pytest.raises(InvalidArgumentError, match="nested more than 50 levels"):
        parse("id = " + " + ".join(["id"] * 2000))


def test_long_chains_of_or_are_flat() -> None:
    assert len(parse(" OR ".join(f"id = {i}" for i in range(2000))).operands) == 2000  # type: ignore[union-attr] # an Or


def test_an_assignment_is_cast_to_its_column() -> None:
    total = ROW_TYPE.fields[1].type

    found = parse_expression("Total + 1", ROW_TYPE, time_zone=UTC, assigned_to=total)

    assert format_expression(found) == "CAST(Total + 1 AS DECIMAL(10, 2))"
    assert parse_expression("NULL", ROW_TYPE, time_zone=UTC, assigned_to=total) == Literal(
        None, AtomicType(root=TypeRoot.DECIMAL, precision=10, scale=2)
    )
    with pytest.raises(InvalidArgumentError, match="STRING cannot be stored as DECIMAL"):
        parse_expression("dt", ROW_TYPE, time_zone=UTC, assigned_to=total)


def test_expressions_survive_pickling() -> None:
    found = parse("Total > 1 AND date < '2026-01-01' OR CAST(dt AS TIMESTAMP) IS NULL")

    assert pickle.loads(pickle.dumps(found)) == found


def test_a_predicate_splits_by_the_columns_that_its_conjuncts_read() -> None:
    part, rest = split_by_columns(parse("dt = 'a' AND (id = 1 OR dt = 'b') AND ok"), {"dt"})

    assert part is not None
    assert rest is not None
    assert format_expression(part) == "dt = 'a'"
    assert [columns_of(found) for found in conjuncts(rest)] == [{"id", "dt"}, {"ok"}]
    assert split_by_columns(None, {"dt"}) == (None, None)


def test_rename_changes_columns_and_not_their_fields() -> None:
    found = rename(parse("st.x = 1 AND ok"), {"st": "x", "x": "y"})

    one = Literal(1, INT)
    assert found == And(
        (
            Comparison(ComparisonOperator.EQUAL, Column(("x", "x"), INT), one),
            Column(("ok",), AtomicType(root=TypeRoot.BOOLEAN)),
        )
    )
