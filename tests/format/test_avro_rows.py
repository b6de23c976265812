import io
import json
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import fastavro
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import CorruptTableError, NotFoundError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.avro.container import write_container
from lakebed.format.avro.rows import avro_shape, read_avro, stream_avro
from lakebed.format.file_rows import FileShape
from lakebed.format.type_text import parse_type
from lakebed.format.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)
from lakebed.storage.local import LocalFileIO
from lakebed.storage.memory import MemoryFileIO
from support.golden_manifests import DATABASE

PATH = "memory:/t/bucket-0/data-1.avro"
INT, STRING = parse_type("INT"), parse_type("STRING")
PRIMITIVES = {
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.TINYINT: "int",
    TypeRoot.SMALLINT: "int",
    TypeRoot.INT: "int",
    TypeRoot.BIGINT: "long",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
    TypeRoot.CHAR: "string",
    TypeRoot.VARCHAR: "string",
    TypeRoot.BINARY: "bytes",
    TypeRoot.VARBINARY: "bytes",
}


def avro_type(kind: DataType, name: str) -> object:
    """The Avro type that the format's writers give a type (format.md 5)."""
    plain = plain_type(kind, name)
    return ["null", plain] if kind.nullable else plain


def plain_type(kind: DataType, name: str) -> object:
    match kind:
        case AtomicType():
            return atomic_type(kind)
        case RowType(fields=fields):
            return record(fields, name)
        case ArrayType(element=element):
            return {"type": "array", "items": avro_type(element, name)}
        case MapType(key=key, value=value):
            return map_type(key, value, name)
        case MultisetType(element=element):
            return map_type(element, INT, name)
        case _:
            raise NotImplementedError


def atomic_type(kind: AtomicType) -> object:
    digits = "millis" if (kind.precision or 0) <= 3 else "micros"
    match kind.root:
        case TypeRoot.DECIMAL:
            decimal = {"precision": kind.precision, "scale": kind.scale}
            return {"type": "bytes", "logicalType": "decimal", **decimal}
        case TypeRoot.DATE:
            return {"type": "int", "logicalType": "date"}
        case TypeRoot.TIME:
            return {"type": "int", "logicalType": "time-millis"}
        case TypeRoot.TIMESTAMP:
            return {"type": "long", "logicalType": f"timestamp-{digits}"}
        case TypeRoot.TIMESTAMP_LTZ:
            return {"type": "long", "logicalType": f"local-timestamp-{digits}"}
        case root:
            return PRIMITIVES[root]


def map_type(key: DataType, value: DataType, name: str) -> object:
    if isinstance(key, AtomicType) and key.root in {TypeRoot.CHAR, TypeRoot.VARCHAR}:
        return {"type": "map", "values": avro_type(value, name)}
    entry = (DataField(id=0, name="key", type=key), DataField(id=1, name="value", type=value))
    return {"type": "array", "items": record(entry, name), "logicalType": "map"}


def record(fields: tuple[DataField, ...], name: str) -> dict[str, object]:
    members = [{"name": f.name, "type": avro_type(f.type, f"{name}_{f.name}")} for f in fields]
    return {"type": "record", "name": name, "fields": members}


def write_avro(
    schema: object, rows: list[Any], *, codec: str = "null", block: int = 16000
) -> bytes:
    """A file as a library writes it, values as they are stored."""
    out = io.BytesIO()
    parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
    fastavro.writer(out, parsed, rows, codec=codec, sync_interval=block)
    return out.getvalue()


def stored(file: bytes, path: str = PATH) -> MemoryFileIO:
    store = MemoryFileIO()
    store.write(path, file)
    return store


def fields_of(**types: DataType | str) -> tuple[DataField, ...]:
    kinds = {n: parse_type(t) if isinstance(t, str) else t for n, t in types.items()}
    return tuple(DataField(id=i, name=n, type=kind) for i, (n, kind) in enumerate(kinds.items()))


# A column, the values stored in it, and what they are in Arrow.
VALUES: dict[str, tuple[DataType | str, list[Any], list[Any]]] = {
    "flag": ("BOOLEAN", [True, None], [True, None]),
    "tiny": ("TINYINT", [-128, None], [-128, None]),
    "small": ("SMALLINT NOT NULL", [-(2**15), 2**15 - 1], [-(2**15), 2**15 - 1]),
    "i": ("INT NOT NULL", [-(2**31), 2**31 - 1], [-(2**31), 2**31 - 1]),
    "big": ("BIGINT", [-(2**63), 2**63 - 1], [-(2**63), 2**63 - 1]),
    "f": ("FLOAT", [0.5, float("inf")], [0.5, float("inf")]),
    "d": ("DOUBLE NOT NULL", [1e300, -0.0], [1e300, -0.0]),
    "dec": (
        "DECIMAL(9, 2)",
        [b"\x00", (-12345).to_bytes(9, "big", signed=True)],
        [Decimal("0.00"), Decimal("-123.45")],
    ),
    "wide": (
        "DECIMAL(38, 10)",
        [(10**38 - 1).to_bytes(16, "big", signed=True), None],
        [Decimal("9999999999999999999999999999.9999999999"), None],
    ),
    "c": ("CHAR(3)", ["a", "äöü"], ["a", "äöü"]),
    "s": ("STRING NOT NULL", ["", "a\0b 𝄞"], ["", "a\0b 𝄞"]),
    "b": ("BYTES", [b"", b"\x00\xff"], [b"", b"\x00\xff"]),
    "fixed": ("BINARY(2)", [b"\x01\x02", None], [b"\x01\x02", None]),
    "day": ("DATE", [-719162, 2932896], [date(1, 1, 1), date(9999, 12, 31)]),
    "clock": ("TIME(3)", [86399999, 0], [time(23, 59, 59, 999000), time(0)]),
    "t0": ("TIMESTAMP(0)", [1000, None], [datetime(1970, 1, 1, 0, 0, 1), None]),  # noqa: DTZ001 - zoneless
    "t3": ("TIMESTAMP(3)", [-1, None], [datetime(1969, 12, 31, 23, 59, 59, 999000), None]),  # noqa: DTZ001 - zoneless
    "t6": (
        "TIMESTAMP(6)",
        [253402300799999999, -62135596800000000],
        [datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1, 1, 1)],  # noqa: DTZ001 - zoneless
    ),
    "list": (ArrayType(element=INT), [[1, None], []], [[1, None], []]),
    "lists": (
        ArrayType(element=ArrayType(element=STRING)),
        [[["a", None], None, []], None],
        [[["a", None], None, []], None],
    ),
    "by_name": (
        MapType(key=parse_type("STRING NOT NULL"), value=ArrayType(element=INT)),
        [{"a": [1], "b": None}, {}],
        [[("a", [1]), ("b", None)], []],
    ),
    "by_number": (
        MapType(key=parse_type("BIGINT NOT NULL"), value=RowType(fields=fields_of(x="DATE"))),
        [[{"key": 7, "value": {"x": 1}}, {"key": 8, "value": None}], None],
        [[(7, {"x": date(1970, 1, 2)}), (8, None)], None],
    ),
    "bag": (MultisetType(element=STRING), [{"a": 2}, None], [[("a", 2)], None]),
    "row": (
        RowType(
            fields=fields_of(
                x=RowType(fields=fields_of(y="DECIMAL(4, 1)"), nullable=False),
                z=MapType(key=parse_type("STRING NOT NULL"), value=STRING),
            )
        ),
        [{"x": {"y": b"\xff"}, "z": {"k": None}}, None],
        [{"x": {"y": Decimal("-0.1")}, "z": [("k", None)]}, None],
    ),
}
FIELDS = fields_of(**{name: kind for name, (kind, _, _) in VALUES.items()})
SCHEMA = to_arrow_schema(FIELDS)
ROWS = [{name: cells[i] for name, (_, cells, _) in VALUES.items()} for i in range(2)]
EXPECTED = [{name: cells[i] for name, (_, _, cells) in VALUES.items()} for i in range(2)]
TOP = record(FIELDS, "record")


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "bzip2", "xz"])
def test_every_type_is_read_with_every_codec(codec: str) -> None:
    table = read_avro(stored(write_avro(TOP, ROWS, codec=codec)), PATH, schema=SCHEMA)
    assert table.schema == SCHEMA
    assert table.to_pylist() == EXPECTED
    table.validate(full=True)


def test_a_nullable_record_on_top_is_read() -> None:
    table = read_avro(stored(write_avro(["null", TOP], ROWS)), PATH, schema=SCHEMA)
    assert table.to_pylist() == EXPECTED


def test_a_null_row_is_an_error() -> None:
    with pytest.raises(CorruptTableError, match="some Avro records are null"):
        read_avro(stored(write_avro(["null", TOP], [None, *ROWS])), PATH, schema=SCHEMA)


def test_columns_come_in_the_order_asked_and_rows_by_mask() -> None:
    wanted = pa.schema([SCHEMA.field("s"), SCHEMA.field("i")])
    store = stored(write_avro(TOP, ROWS))
    table = read_avro(store, PATH, schema=wanted, keep=np.array([False, True]))
    assert table.schema == wanted
    assert table.to_pylist() == [{"s": "a\0b 𝄞", "i": 2**31 - 1}]


@pytest.mark.parametrize("batch_rows", [1, 7, 64, 10_000])
def test_a_stream_has_the_rows_in_batches_of_at_most_that_many(batch_rows: int) -> None:
    fields = fields_of(k="INT NOT NULL", l=ArrayType(element=INT))
    rows = [{"k": k, "l": [k] * (k % 3)} for k in range(500)]
    store = stored(write_avro(record(fields, "record"), rows, block=100))
    schema = to_arrow_schema(fields)
    batches = list(stream_avro(store, PATH, schema=schema, row_count=500, batch_rows=batch_rows))
    assert max(batch.num_rows for batch in batches) <= batch_rows
    assert pa.concat_tables(batches).to_pylist() == rows


def test_the_shape_is_the_rows_of_all_blocks() -> None:
    fields = fields_of(k="INT NOT NULL")
    rows = [{"k": k} for k in range(1000)]
    store = stored(write_avro(record(fields, "record"), rows, block=100))
    shape = avro_shape(store, PATH, columns=["k"])
    assert isinstance(shape, FileShape)
    assert shape.row_count == 1000
    assert shape.uncompressed_bytes >= 1000


def test_a_file_without_rows_has_columns() -> None:
    store = stored(write_avro(TOP, []))
    assert read_avro(store, PATH, schema=SCHEMA, row_count=0) == SCHEMA.empty_table()
    assert sum(t.num_rows for t in stream_avro(store, PATH, schema=SCHEMA, batch_rows=5)) == 0


NESTED = MapType(
    key=parse_type("INT NOT NULL"),
    value=RowType(fields=fields_of(a=ArrayType(element=STRING), b="DOUBLE", c="BIGINT NOT NULL")),
)
nested_rows = st.lists(
    st.fixed_dictionaries(
        {
            "m": st.none()
            | st.lists(
                st.fixed_dictionaries(
                    {
                        "key": st.integers(-5, 5),
                        "value": st.none()
                        | st.fixed_dictionaries(
                            {
                                "a": st.none()
                                | st.lists(st.none() | st.text(max_size=4), max_size=4),
                                "b": st.none() | st.floats(allow_nan=False),
                                "c": st.integers(-(2**63), 2**63 - 1),
                            }
                        ),
                    }
                ),
                max_size=4,
            ),
            "n": st.none() | st.integers(-(2**31), 2**31 - 1),
        }
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(rows=nested_rows)
def test_nested_rows_of_any_shape_are_what_was_written(rows: list[Any]) -> None:
    fields = fields_of(m=NESTED, n="INT")
    file = write_avro(record(fields, "record"), rows, block=40)
    table = read_avro(stored(file), PATH, schema=to_arrow_schema(fields))
    table.validate(full=True)
    assert table.to_pylist() == [
        {"m": None if r["m"] is None else [(e["key"], e["value"]) for e in r["m"]], "n": r["n"]}
        for r in rows
    ]


def test_a_name_stands_for_the_record_it_was_given_to() -> None:
    point = {"type": "record", "name": "geo.point", "fields": [{"name": "x", "type": "int"}]}
    members = [{"name": "a", "type": point}, {"name": "b", "type": ["null", "geo.point"]}]
    file = write_avro(
        {"type": "record", "name": "r", "fields": members}, [{"a": {"x": 1}, "b": {"x": 2}}]
    )
    struct = pa.struct([("x", pa.int32())])
    table = read_avro(stored(file), PATH, schema=pa.schema([("a", struct), ("b", struct)]))
    assert table.to_pylist() == [{"a": {"x": 1}, "b": {"x": 2}}]


GOLDEN = sorted(map(str, DATABASE.glob("pk_thin_mode/bucket-*/*.avro")))


@pytest.mark.parametrize("path", GOLDEN)
def test_a_key_value_file_of_the_real_engine_has_its_system_columns(path: str) -> None:
    schema = pa.schema(
        [("_SEQUENCE_NUMBER", pa.int64()), ("_VALUE_KIND", pa.int8()), ("a", pa.int32())]
    )
    table = read_avro(LocalFileIO(), path, schema=schema)
    assert table.num_rows > 0
    assert set(table.column("_VALUE_KIND").to_pylist()) <= {0, 1, 2, 3}
    assert table.column("a").null_count == 0


BAD_SCHEMAS: dict[str, tuple[object, str]] = {
    "a wide union": (["null", "int", "string"], "the union"),
    "an enum": ({"type": "enum", "name": "e", "symbols": ["A"]}, "the type 'enum'"),
    "a fixed": ({"type": "fixed", "name": "f", "size": 2}, "the type 'fixed'"),
}


@pytest.mark.parametrize("case", BAD_SCHEMAS)
def test_what_no_writer_of_the_format_uses_is_refused_by_name(case: str) -> None:
    kind, problem = BAD_SCHEMAS[case]
    file = write_avro({"type": "record", "name": "r", "fields": [{"name": "x", "type": kind}]}, [])
    with pytest.raises(UnsupportedError, match=problem):
        read_avro(stored(file), PATH, schema=pa.schema([("x", pa.int32())]))


def test_what_the_file_lacks_is_named() -> None:
    store = stored(write_avro(TOP, ROWS))
    with pytest.raises(CorruptTableError, match="has no column 'gone'"):
        read_avro(store, PATH, schema=pa.schema([("gone", pa.int32())]))
    with pytest.raises(CorruptTableError, match="holds 2 rows where the manifest says 3"):
        read_avro(store, PATH, schema=SCHEMA, row_count=3)
    with pytest.raises(CorruptTableError, match="holds 2 rows where the manifest says 3"):
        list(stream_avro(store, PATH, schema=SCHEMA, row_count=3, batch_rows=1))
    with pytest.raises(CorruptTableError, match="column 's' is"):
        read_avro(store, PATH, schema=pa.schema([("s", pa.int32())]))
    with pytest.raises(NotFoundError):
        read_avro(store, f"{PATH}.avro", schema=SCHEMA)


@pytest.mark.parametrize("claimed", [1, 3])
def test_a_block_with_another_number_of_records_than_it_says_is_an_error(claimed: int) -> None:
    fields = fields_of(k="INT NOT NULL")
    # Two records, of a byte each, and a third byte that no record has.
    file = write_container(
        json.dumps(record(fields, "record")),
        [(claimed, b"\x02\x04\x86")],
        compression="null",
        level=1,
    )
    with pytest.raises(CorruptTableError, match="the Avro records"):
        read_avro(stored(file), PATH, schema=to_arrow_schema(fields))


def test_a_decimal_with_more_digits_than_its_type_is_an_error() -> None:
    fields = fields_of(d="DECIMAL(3, 0)")
    file = write_avro(record(fields, "record"), [{"d": (1000).to_bytes(2, "big")}])
    with pytest.raises(CorruptTableError, match="column 'd' is no decimal"):
        read_avro(stored(file), PATH, schema=to_arrow_schema(fields))


@pytest.mark.parametrize("digits", [b"", bytes(17)])
def test_a_decimal_of_no_bytes_or_too_many_is_an_error(digits: bytes) -> None:
    fields = fields_of(d="DECIMAL(3, 0)")
    file = write_avro(record(fields, "record"), [{"d": digits}])
    with pytest.raises(CorruptTableError, match="other than 1 to 16 bytes"):
        read_avro(stored(file), PATH, schema=to_arrow_schema(fields))
