import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import InvalidArgumentError, LakebedError, UnsupportedError
from lakebed.format.type_text import format_type, parse_type
from lakebed.format.types import (
    MAX_LENGTH,
    AtomicType,
    DataField,
    RowType,
    TypeRoot,
    VectorType,
)


@pytest.mark.parametrize(
    "text",
    [
        "BOOLEAN",
        "TINYINT",
        "SMALLINT",
        "INT NOT NULL",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DATE",
        "TIME(3)",
        "TIMESTAMP(6)",
        "TIMESTAMP(9) WITH LOCAL TIME ZONE",
        "TIMESTAMP(0) WITH LOCAL TIME ZONE NOT NULL",
        "DECIMAL(10, 2) NOT NULL",
        "CHAR(4)",
        "VARCHAR(8)",
        "STRING",
        "BINARY(3)",
        "VARBINARY(10)",
        "BYTES NOT NULL",
        "VARIANT",
        "BLOB",
        "ARRAY<INT NOT NULL> NOT NULL",
        "MAP<STRING NOT NULL, ARRAY<BIGINT>>",
        "MULTISET<STRING>",
        "VECTOR<FLOAT, 3>",
        "ROW<`a` INT, `b c` STRING NOT NULL 'it''s', `d``e` ROW<>>",
    ],
)
def test_text_of_the_format_comes_back(text: str) -> None:
    assert format_type(parse_type(text)) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("decimal", "DECIMAL(10, 0)"),
        ("DECIMAL(5)", "DECIMAL(5, 0)"),
        ("numeric(5,1)", "DECIMAL(5, 1)"),
        ("DEC(5,1)", "DECIMAL(5, 1)"),
        ("integer", "INT"),
        ("double precision", "DOUBLE"),
        ("TIME", "TIME(0)"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP(6)"),
        ("TIMESTAMP WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        ("TIMESTAMP_LTZ", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        ("timestamp_ltz(3) not null", "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL"),
        ("CHAR", "CHAR(1)"),
        ("BINARY", "BINARY(1)"),
        ("VARCHAR(2147483647)", "STRING"),
        ("VARBINARY(2147483647)", "BYTES"),
        ("  INT   NULL ", "INT"),
        ("row<a int, b: string not null>", "ROW<`a` INT, `b` STRING NOT NULL>"),
    ],
)
def test_other_spellings_are_taken(text: str, canonical: str) -> None:
    assert format_type(parse_type(text)) == canonical


def test_string_is_text_of_the_greatest_length() -> None:
    assert parse_type("STRING") == AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)


def test_a_row_keeps_names_and_comments() -> None:
    kind = parse_type("ROW<Id INT NOT NULL 'the ''id''', `not` INT>")
    assert kind == RowType(
        fields=(
            DataField(
                id=0,
                name="Id",
                type=AtomicType(root=TypeRoot.INT, nullable=False),
                description="the 'id'",
            ),
            DataField(id=1, name="not", type=AtomicType(root=TypeRoot.INT)),
        )
    )


def test_a_vector_has_its_length() -> None:
    assert parse_type("VECTOR<FLOAT NOT NULL, 7>") == VectorType(
        element=AtomicType(root=TypeRoot.FLOAT, nullable=False), length=7
    )


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("FOO", 0),
        ("INT INT", 4),
        ("INT(3)", 3),
        ("ARRAY<INT", 9),
        ("ARRAY<INT>>", 10),
        ("MAP<INT>", 7),
        ("ROW<a INT, a INT>", 11),
        ("ROW<a>", 5),
        ("DECIMAL(39, 1)", 8),
        ("DECIMAL(5, 6)", 11),
        ("CHAR(0)", 5),
        ("CHAR(99999999999999999999)", 5),
        ("TIMESTAMP(10)", 10),
        ("TIMESTAMP(3) WITH TIME ZONE", 18),
        ("INT NOT", 7),
        ("VECTOR<STRING, 3>", 7),
        ("VECTOR<INT, 0>", 12),
        ("ROW<`a INT>", 4),
    ],
)
def test_a_bad_text_is_refused_at_its_position(text: str, position: int) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_type(text)
    assert f"{text!r}, position {position}:" in str(caught.value)


@pytest.mark.parametrize("text", ["GEOMETRY", "GEOMETRY(OGC:CRS84)", "ARRAY<GEOGRAPHY>"])
def test_types_that_lakebed_lacks_are_refused_as_such(text: str) -> None:
    with pytest.raises(UnsupportedError, match="GEO"):
        parse_type(text)


def test_endless_nesting_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="nest deeper"):
        parse_type("ARRAY<" * 5000)


@given(st.text(alphabet="INTROWMAPARY<>(),'` 0123:", max_size=30))
def test_any_text_is_a_type_or_a_clear_error(text: str) -> None:
    try:
        kind = parse_type(text)
    except LakebedError:
        return
    assert parse_type(format_type(kind)) == kind
