"""Three values of every type of the format, and the types that a file format cannot have."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, DataField, DataType, MapType, MultisetType, RowType
from support.columns import array_of

CODECS = {
    "avro": ("zstd", "snappy", "deflate", "null"),
    "orc": ("zstd", "snappy", "zlib", "lz4", "none"),
    "parquet": ("zstd", "snappy", "gzip", "lz4", "none"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedColumn:
    """A column of one type.

    Attributes:
        name: Its name.
        type: Its type.
        values: As Arrow takes them; the last is null where the type takes one.
        formats: The formats of files that can have it.
    """

    name: str
    type: DataType
    values: Sequence[object]
    formats: tuple[str, ...] = ("avro", "orc", "parquet")


def columns_of(file_format: str) -> list[TypedColumn]:
    """Those that files of a format can have."""
    return [column for column in COLUMNS if file_format in column.formats]


def fields_of(columns: Sequence[TypedColumn]) -> tuple[DataField, ...]:
    """The columns as fields, ids from 0."""
    return tuple(
        DataField(id=index, name=column.name, type=column.type)
        for index, column in enumerate(columns)
    )


def rows_of(columns: Sequence[TypedColumn]) -> pa.Table:
    """Six rows in three chunks, two of which are slices."""
    schema = to_arrow_schema(fields_of(columns))
    arrays = [
        array_of(column.values, field.type) for column, field in zip(columns, schema, strict=True)
    ]
    rows = pa.table(arrays, schema=schema)
    return pa.concat_tables([rows, rows.slice(1), rows.slice(2)])


def _local(*parts: int) -> datetime:
    return datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001 - a local timestamp


_INT, _STRING, _VARIANT = parse_type("INT"), parse_type("STRING"), parse_type("VARIANT")
_INT_KEY, _TEXT_KEY = parse_type("INT NOT NULL"), parse_type("STRING NOT NULL")
_NO_AVRO, _PARQUET = ("orc", "parquet"), ("parquet",)
# The numbers 1, as INT8 and with the dictionary empty, and null.
_ONE = {"value": b"\x0c\x01", "metadata": b"\x01\x00\x00"}
_NULL = {"value": b"\x00", "metadata": b"\x01\x00\x00"}
_EARLY = _local(1969, 12, 31, 23, 59, 59, 500_000)
_ROW = RowType(
    fields=(
        DataField(id=100, name="x", type=ArrayType(element=parse_type("TIMESTAMP(6)"))),
        DataField(id=101, name="y", type=parse_type("TIME(3)")),
        DataField(id=102, name="z", type=parse_type("CHAR(2)")),
    )
)
_ROWS = [
    {"x": [_local(2000, 1, 1), None], "y": time(1), "z": "ab"},
    {"x": [], "y": None, "z": None},
    None,
]
_NANO_ROW = RowType(
    fields=(
        DataField(id=110, name="n", type=parse_type("TIMESTAMP(9)")),
        DataField(
            id=111,
            name="m",
            type=MapType(
                key=parse_type("TIMESTAMP(9) NOT NULL"),
                value=parse_type("TIMESTAMP(8) WITH LOCAL TIME ZONE"),
            ),
        ),
    )
)
_NANO_ROWS = [
    {"n": _EARLY, "m": [(_local(2020, 1, 1), datetime(1930, 1, 1, tzinfo=UTC))]},
    None,
]

_ATOMS: dict[str, Sequence[object]] = {
    "BOOLEAN": [True, False, None],
    "TINYINT": [-128, 127, None],
    "SMALLINT": [-(2**15), 2**15 - 1, None],
    "INT": [-(2**31), 2**31 - 1, None],
    "INT NOT NULL": [-65, 64, 0],
    "BIGINT": [-(2**63), 2**63 - 1, None],
    "FLOAT": [-0.0, float("inf"), None],
    "DOUBLE": [-1e300, 0.1, None],
    "DECIMAL(9, 2)": [Decimal("-1234567.89"), Decimal("0.01"), None],
    "DECIMAL(18, 3)": [Decimal("999999999999999.999"), Decimal("-0.001"), None],
    "DECIMAL(28, 0)": [Decimal("9" * 28), Decimal(-128), None],
    "DECIMAL(38, 0)": [Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(128)],
    "CHAR(3)": ["abc", "äöü", None],
    "VARCHAR(5)": ["", "a\0b", None],
    "STRING": ["", "a\0b 𝄞", None],
    "STRING NOT NULL": ["", "x" * 200, "y"],
    "BYTES": [b"", b"\0\xff", None],
    "BINARY(3)": [b"abc", b"\0\0\0", None],
    "VARBINARY(3)": [b"a", b"", None],
    "DATE": [date(1, 1, 1), date(9999, 12, 31), None],
    "TIME(0)": [time(1), time(23, 59, 59), None],
    "TIME(3)": [time(0, 0, 0, 1000), time(23, 59, 59, 999000), None],
}
_NESTED: dict[str, tuple[DataType, Sequence[object], tuple[str, ...]]] = {
    "list": (ArrayType(element=_STRING), [["a", None, ""], [], None], ("avro", *_NO_AVRO)),
    "map": (
        MapType(key=_TEXT_KEY, value=_INT),
        [[("a", 1), ("b", None)], [], None],
        ("avro", *_NO_AVRO),
    ),
    "map_of_ints": (
        MapType(key=_INT_KEY, value=_STRING),
        [[(1, "x"), (-5, None)], [], None],
        ("avro", *_NO_AVRO),
    ),
    "row": (_ROW, _ROWS, ("avro", *_NO_AVRO)),
    "rows": (ArrayType(element=_ROW), [_ROWS, [], None], ("avro", *_NO_AVRO)),
    "deep": (
        MapType(
            key=parse_type("DATE NOT NULL"),
            value=ArrayType(element=MapType(key=_TEXT_KEY, value=ArrayType(element=_INT))),
        ),
        [[(date(2020, 1, 1), [[("k", [1, None])], None, []])], [], None],
        ("avro", *_NO_AVRO),
    ),
    "nano_rows": (ArrayType(element=_NANO_ROW), [_NANO_ROWS, [], None], _NO_AVRO),
    "multiset": (MultisetType(element=_TEXT_KEY), [[("a", 2)], [], None], ("avro", "parquet")),
    "multiset_of_ints": (MultisetType(element=_INT_KEY), [[(7, 2)], [], None], _PARQUET),
    "variant": (_VARIANT, [_ONE, _NULL, None], _PARQUET),
    "variants": (ArrayType(element=_VARIANT), [[_ONE, None], [], None], _PARQUET),
}


def _timestamps() -> list[TypedColumn]:
    """Of all precisions, with and without a zone."""
    made = []
    for digits in range(10):
        early = _EARLY if digits else _local(1969, 12, 31, 23, 59, 59)
        first = _local(1700, 1, 1) if digits > 6 else _local(1, 1, 1)
        values = [early, first, None]
        zoned = [value and value.replace(tzinfo=UTC) for value in values]
        formats = _NO_AVRO if digits > 6 else ("avro", *_NO_AVRO)
        local = parse_type(f"TIMESTAMP({digits})")
        instant = parse_type(f"TIMESTAMP({digits}) WITH LOCAL TIME ZONE")
        made += [
            TypedColumn(name=f"local{digits}", type=local, values=values, formats=formats),
            TypedColumn(name=f"instant{digits}", type=instant, values=zoned, formats=formats),
        ]
    return made


COLUMNS: tuple[TypedColumn, ...] = (
    *(
        TypedColumn(name=f"c{index}", type=parse_type(text), values=values)
        for index, (text, values) in enumerate(_ATOMS.items())
    ),
    *_timestamps(),
    *(
        TypedColumn(name=name, type=kind, values=values, formats=formats)
        for name, (kind, values, formats) in _NESTED.items()
    ),
)
