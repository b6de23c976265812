import gzip
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pytest

from lakebed.errors import (
    CorruptTableError,
    InvalidArgumentError,
    NotFoundError,
    UnsupportedError,
)
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.text.csv import read_csv
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, DataField, DataType
from lakebed.storage.memory import MemoryFileIO

PATH = "memory:/t/data-1.csv"


def fields_of(*kinds: str | DataType) -> list[DataField]:
    types = [parse_type(kind) if isinstance(kind, str) else kind for kind in kinds]
    return [DataField(id=i, name=f"c{i}", type=kind) for i, kind in enumerate(types)]


def rows_of(
    text: str | bytes, *kinds: str | DataType, path: str = PATH, **options: str
) -> list[tuple[object, ...]]:
    store = MemoryFileIO()
    store.write(path, text if isinstance(text, bytes) else text.encode())
    given = {f"csv.{key.replace('_', '-')}": value for key, value in options.items()}
    table = read_csv(store, path, fields=fields_of(*kinds), options=given)
    return [tuple(row.values()) for row in table.to_pylist()]


CELLS: dict[str, tuple[str, object]] = {
    "BOOLEAN": ("True", True),
    "TINYINT": ("-128", -128),
    "SMALLINT": ("+7", 7),
    "INT": ("2147483647", 2147483647),
    "BIGINT": ("-9223372036854775808", -(2**63)),
    "DOUBLE": ("1.5E300", 1.5e300),
    "DECIMAL(5, 2)": ("-1.25", Decimal("-1.25")),
    "STRING": ("äöü", "äöü"),
    "BYTES": ("AP8=", b"\x00\xff"),
    "DATE": ("2024-02-29", date(2024, 2, 29)),
    "TIME(3)": ("12:34:56.789", time(12, 34, 56, 789000)),
    "TIMESTAMP(6)": ("2024-01-01 00:00:00.000001", datetime(2024, 1, 1, 0, 0, 0, 1)),  # noqa: DTZ001 - zoneless
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": (
        "2024-01-01 00:00:00.001",
        datetime(2024, 1, 1, 0, 0, 0, 1000, tzinfo=UTC),
    ),
}


@pytest.mark.parametrize("kind", CELLS)
def test_a_text_is_the_value_of_its_type_and_an_empty_one_null(kind: str) -> None:
    text, value = CELLS[kind]
    assert rows_of(f"{text},1\n,2\n", kind, "INT") == [(value, 1), (None, 2)]


def test_quotes_and_escapes_are_the_format_s() -> None:
    assert rows_of('"a,b","c\\"d"\n"e""f","g\\\\h"\n', "STRING", "STRING") == [
        ("a,b", 'c"d'),
        ('e"f', "g\\h"),
    ]


def test_options_change_the_signs() -> None:
    text = "names;nobody reads\n'a;b';NULL\n"
    given = {"field_delimiter": ";", "quote_character": "'", "null_literal": "NULL"}
    assert rows_of(text, "STRING", "INT", include_header="true", **given) == [("a;b", None)]


def test_an_empty_file_has_no_rows() -> None:
    assert rows_of("", "STRING", "INT") == []


def test_a_compressed_file_is_unpacked_by_its_extension() -> None:
    packed = gzip.compress(b"a,1\n")
    assert rows_of(packed, "STRING", "INT", path=f"{PATH}.gz") == [("a", 1)]
    with pytest.raises(UnsupportedError, match="codec 'snappy'"):
        rows_of(packed, "STRING", "INT", path=f"{PATH}.snappy")
    with pytest.raises(CorruptTableError, match="not the CSV"):
        rows_of(packed[:-6], "STRING", "INT", path=f"{PATH}.gz")


BAD: dict[str, tuple[str, str]] = {
    "another number of fields": ("a,b,c\n", "is not the CSV of the table"),
    "no number": ("a,b\n", "column 'c1' has a text that is no INT"),
    "a number that does not fit": ("a,2147483648\n", "column 'c1' has a text that is no INT"),
    "a fraction": ("a,1.5\n", "column 'c1' has a text that is no INT"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_the_columns_do_not_promise_is_an_error(case: str) -> None:
    text, problem = BAD[case]
    with pytest.raises(CorruptTableError, match=problem):
        rows_of(text, "STRING", "INT")


def test_what_is_not_read_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="column 'c0' is ARRAY"):
        rows_of("x\n", ArrayType(element=parse_type("INT")))
    with pytest.raises(UnsupportedError, match="line-delimiter"):
        rows_of("x\n", "STRING", line_delimiter="|")
    with pytest.raises(InvalidArgumentError, match="field-delimiter"):
        rows_of("x\n", "STRING", field_delimiter="||")
    with pytest.raises(NotFoundError):
        read_csv(MemoryFileIO(), PATH, fields=fields_of("INT"), options={})


def test_the_columns_have_the_types_of_the_table() -> None:
    store = MemoryFileIO()
    store.write(PATH, b"1,a\n")
    table = read_csv(store, PATH, fields=fields_of("INT NOT NULL", "STRING"), options={})
    assert table.schema == to_arrow_schema(fields_of("INT NOT NULL", "STRING"))
