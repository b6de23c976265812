"""Indexes that Paimon's own writers made, asked many conditions (`file_index_vectors.jsonl`)."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from lakebed.errors import CorruptTableError, LakebedError, UnsupportedError
from lakebed.format.arrow.atoms import arrow_value_type
from lakebed.format.arrow.typing import ArrowArray, python_values
from lakebed.format.file_index.container import (
    IndexContainer,
    container_in_file,
    embedded_container,
)
from lakebed.format.file_index.evaluation import FileIndex
from lakebed.format.predicate.evaluation import evaluate
from lakebed.format.predicate.expressions import Expression
from lakebed.format.predicate.parser import parse_predicate
from lakebed.format.type_text import parse_type
from lakebed.format.types import AtomicType, DataField, RowType, TypeRoot
from lakebed.storage.memory import MemoryFileIO

VECTORS = Path(__file__).parent / "file_index_vectors.jsonl"


def vectors() -> Iterator[dict[str, Any]]:
    with VECTORS.open(encoding="utf-8") as lines:
        next(lines)
        yield from map(json.loads, lines)


INDEXES = [vector for vector in vectors() if "index" in vector]
CONTAINER = bytes.fromhex(next(v["hex"] for v in vectors() if v["case"] == "container"))


def type_of(vector: dict[str, Any]) -> AtomicType:
    kind = parse_type(vector["type"])
    assert isinstance(kind, AtomicType)
    return kind


def values_of(vector: dict[str, Any]) -> ArrowArray:
    kind, values = type_of(vector), vector["values"]
    wanted = arrow_value_type(kind)
    match kind.root:
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            return pa.array([None if v is None else float(v) for v in values], wanted)
        case TypeRoot.DECIMAL:
            scale = kind.scale or 0
            texts = [None if v is None else f"{v}E-{scale}" for v in values]
            return pa.array(texts, pa.string()).cast(pa.decimal128(38, scale)).cast(wanted)
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            unit = pa.timestamp("ms") if (kind.precision or 0) <= 3 else pa.timestamp("us")
            return pa.array(values, pa.int64()).cast(unit).cast(wanted)
        case TypeRoot.VARBINARY:
            return pa.array([None if v is None else v.encode() for v in values], wanted)
        case _:
            return pa.array(values, wanted)


def literals(kind: AtomicType, values: ArrowArray) -> list[str]:
    """SQL constants of a type: every value, and some that no vector has."""
    plain = {
        TypeRoot.BOOLEAN: ["true", "false"],
        TypeRoot.FLOAT: ["CAST('NaN' AS FLOAT)", "0.0", "-0.0", "1.5", "-3.25", "99.0", "1e10"],
        TypeRoot.DOUBLE: ["CAST('NaN' AS DOUBLE)", "0.0", "-0.0", "1.5", "-3.25", "99.0", "1e10"],
    }
    if kind.root in plain:
        return plain[kind.root]
    texts: list[str] = python_values(values.drop_null().unique().cast(pa.string()))
    match kind.root:
        case TypeRoot.CHAR | TypeRoot.VARCHAR:
            return [f"'{text}'" for text in [*texts, "green", "no such", "a", "{"]]
        case TypeRoot.VARBINARY:
            return [f"X'{text.encode().hex()}'" for text in [*texts, "no such"]]
        case TypeRoot.DATE:
            return [f"DATE '{text}'" for text in [*texts, "2000-01-01"]]
        case TypeRoot.TIME:
            return [f"CAST('{text}' AS TIME)" for text in [*texts, "00:00:01"]]
        case TypeRoot.TIMESTAMP:
            return [f"TIMESTAMP_NTZ '{text}'" for text in [*texts, "2000-01-01 00:00:00"]]
        case TypeRoot.TIMESTAMP_LTZ:
            return [f"TIMESTAMP '{text}'" for text in [*texts, "2000-01-01 00:00:00Z"]]
        case _:
            return [*texts, "3", "-3", "126"]


def conditions(kind: AtomicType, values: ArrowArray) -> list[str]:
    constants = literals(kind, values)
    if len(constants) > 5:
        constants = [*constants[:2], *constants[-3:]]
    found = ["c IS NULL", "c IS NOT NULL", f"c IN ({', '.join(constants)})"]
    for constant in constants:
        found += [f"c {sign} {constant}" for sign in ("=", "<", "<=", ">", ">=", "<>", "<=>")]
        found += [f"NOT (c = {constant} OR c IS NULL)", f"c NOT IN ({constant})"]
    if kind.root in {TypeRoot.CHAR, TypeRoot.VARCHAR}:
        found += ["c LIKE 'key1%'", "c LIKE '%e%'", "c NOT LIKE 'r_d'", "c LIKE 'zz%'"]
    if kind.root in {TypeRoot.INT, TypeRoot.BIGINT}:
        found += ["c * 1 = 7", "CAST(c AS STRING) = '-1'", "c = 1.5", "c BETWEEN 2 AND 6"]
    return found


def index_of(vector: dict[str, Any], data: bytes | None = None) -> FileIndex:
    body = bytes.fromhex(vector["hex"]) if data is None else data
    return FileIndex(
        container=container_with("c", vector["index"], body),
        row_count=len(vector["values"]),
        fields={"c": DataField(id=0, name="c", type=type_of(vector))},
    )


def container_with(column: str, index_type: str, body: bytes) -> IndexContainer:
    """A container of one index, made as the format says."""
    names = [name.encode() for name in (column, index_type)]
    texts = [len(name).to_bytes(2, "big") + name for name in names]
    length = 16 + 4 + len(texts[0]) + 4 + len(texts[1]) + 8 + 4
    numbers = [1, length, 1]
    head = (1493475289347502).to_bytes(8, "big") + b"".join(n.to_bytes(4, "big") for n in numbers)
    place = length.to_bytes(4, "big") + len(body).to_bytes(4, "big")
    data = head + texts[0] + (1).to_bytes(4, "big") + texts[1] + place + bytes(4) + body
    return embedded_container(data, "data-a.parquet")


def parsed(text: str, kind: AtomicType) -> Expression:
    fields = (DataField(id=0, name="c", type=kind),)
    return parse_predicate(text, RowType(fields=fields), time_zone=UTC)


def true_rows(predicate: Expression, values: ArrowArray) -> npt.NDArray[np.bool_]:
    found = evaluate(predicate, pa.table({"c": values}))
    flags: npt.NDArray[np.bool_] = found.fill_null(pa.scalar(value=False)).to_numpy()
    return flags


def name_of(vector: dict[str, Any]) -> str:
    return re.sub(r"\W+", "-", f"{vector['case']} {vector['index']} {vector['variant']}").strip("-")


KNOWS_ROWS = [v for v in INDEXES if v["index"] != "bloom-filter" and v["case"] != "timestamp 9"]
BLOOMS = [v for v in INDEXES if v["index"] == "bloom-filter"]
CUT = [v for v in INDEXES if v["index"] != "bloom-filter" and v["case"] == "timestamp 9"]


@pytest.mark.parametrize("vector", KNOWS_ROWS, ids=name_of)
def test_an_index_of_rows_by_the_real_writer_answers_exactly(vector: dict[str, Any]) -> None:
    kind, values, index = type_of(vector), values_of(vector), index_of(vector)
    for text in conditions(kind, values):
        predicate = parsed(text, kind)
        wanted = true_rows(predicate, values)
        assert index.may_match(predicate) == wanted.any(), text
        mask = index.row_mask(predicate)
        assert mask is not None, text
        assert mask.tolist() == wanted.tolist(), text


@pytest.mark.parametrize("vector", BLOOMS, ids=name_of)
def test_a_bloom_filter_by_the_real_writer_hides_no_value(vector: dict[str, Any]) -> None:
    kind, values, index = type_of(vector), values_of(vector), index_of(vector)
    hidden = 0
    for text in conditions(kind, values):
        predicate = parsed(text, kind)
        matches = true_rows(predicate, values).any()
        may_match = index.may_match(predicate)
        assert may_match or not matches, text
        assert index.row_mask(predicate) is None
        hidden += not may_match
    # A CHAR is compared as text, and what text a cast made is not looked up.
    assert hidden or kind.root is TypeRoot.CHAR


@pytest.mark.parametrize("vector", CUT, ids=name_of)
def test_rows_of_timestamps_that_an_index_cuts_are_not_known(vector: dict[str, Any]) -> None:
    index = index_of(vector)
    predicate = parsed("c = TIMESTAMP_NTZ '2000-01-01 00:00:00'", type_of(vector))
    assert index.may_match(predicate)
    assert index.row_mask(predicate) is None


def vector_of(case: str, index: str, variant: str = "") -> dict[str, Any]:
    names = (case, index, variant)
    return next(v for v in INDEXES if (v["case"], v["index"], v["variant"]) == names)


def test_a_condition_that_fails_on_a_value_may_match() -> None:
    vector = vector_of("int", "bitmap", "v2")
    overflowing = parsed("c + 1 = 0", type_of(vector))
    assert index_of(vector).may_match(overflowing)
    assert index_of(vector).row_mask(overflowing) is None


def test_a_condition_on_a_column_without_index_may_match() -> None:
    index = replace(index_of(vector_of("int", "bitmap", "v2")), fields={})
    predicate = parsed("c = 99", type_of(vector_of("int", "bsi")))
    assert index.may_match(predicate)
    assert index.row_mask(predicate) is None


NAME = "c\u00f6l\U0001f600\0r"
TWO_COLUMNS = RowType(
    fields=(
        DataField(id=0, name="a", type=parse_type("STRING")),
        DataField(id=1, name="b", type=parse_type("STRING")),
        DataField(id=2, name="other", type=parse_type("INT")),
    )
)


def two_columns() -> FileIndex:
    """Column `a`, which the file has under another name, is a, b, a; `b` is the same."""
    field = DataField(id=0, name=NAME, type=parse_type("STRING"))
    container = embedded_container(CONTAINER, "data-a.parquet")
    return FileIndex(container=container, row_count=3, fields={"a": field, "b": field})


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a = 'a' AND b = 'b'", []),
        ("a = 'a' OR b = 'b'", [0, 1, 2]),
        ("NOT (a = 'a' OR b = 'b')", []),
        ("NOT (a = 'a' AND b = 'b')", [0, 1, 2]),
        ("NOT (a = 'b' AND b = 'b')", [0, 2]),
        ("NOT (a = 'b' AND other = 1)", None),
        ("a = 'b' AND other = 1", [1]),
        ("a = 'b' OR other = 1", None),
        ("a = 'c' AND other = 1", []),
        ("a = b", None),
        ("other = 1", None),
        ("a = 'b' AND a < b", [1]),
    ],
)
def test_conditions_on_several_columns_are_joined_row_by_row(
    text: str, rows: list[int] | None
) -> None:
    predicate = parse_predicate(text, TWO_COLUMNS, time_zone=UTC)
    mask = two_columns().row_mask(predicate)
    assert (None if mask is None else np.flatnonzero(mask).tolist()) == rows
    assert two_columns().may_match(predicate) == (rows != [])


def test_the_head_of_a_container_names_columns_as_java_writes_them() -> None:
    container = embedded_container(CONTAINER, "data-a.parquet")
    assert set(container.places) == {NAME, "m[k]"}
    assert container.places["m[k]"] == {"bitmap": None}
    assert container.index_bytes("m[k]", "bitmap") is None
    assert container.index_bytes(NAME, "bsi") is None
    assert container.index_bytes("no such", "bitmap") is None


def test_an_index_file_is_read_in_ranges() -> None:
    file_io = MemoryFileIO()
    body = bytes.fromhex(vector_of("bigint many", "bitmap", "v2")["hex"])
    long_name = "n" * 20_000
    small = container_with("c", "bitmap", body).start
    large = container_with(long_name, "bitmap", body).start
    file_io.put_if_absent("/t/a.index", small)
    file_io.put_if_absent("/t/b.index", large)
    file_io.put_if_absent("/t/c.index", large[:-1])
    assert container_in_file(file_io, "/t/a.index").index_bytes("c", "bitmap") == body
    assert container_in_file(file_io, "/t/b.index").index_bytes(long_name, "bitmap") == body
    with pytest.raises(CorruptTableError, match=r"/t/c\.index.*is cut off"):
        container_in_file(file_io, "/t/c.index").index_bytes(long_name, "bitmap")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({0: 1}, "no file index"),
        ({11: 0}, "version 0"),
        ({12: 0x7F}, "a bitmap index of 77 bytes at 107, head"),
        ({20: 0x7F}, "is cut off"),
        ({15: 3}, "a length of 3"),
        ({16: 0xFF}, "a count of"),
        ({len(CONTAINER) - 1: 0xFF, 22: 0xFF}, "a name"),
    ],
)
def test_a_container_that_is_none_names_the_file(change: dict[int, int], problem: str) -> None:
    data = bytearray(CONTAINER)
    for position, byte in change.items():
        data[position] = byte
    with pytest.raises(CorruptTableError, match=f"data-a.parquet.*{problem}"):
        embedded_container(bytes(data), "data-a.parquet")


def test_a_newer_container_is_refused() -> None:
    newer = CONTAINER[:11] + b"\x02" + CONTAINER[12:]
    with pytest.raises(UnsupportedError, match=r"data-a\.parquet.*version 2.*file-index"):
        embedded_container(newer, "data-a.parquet")


def test_an_index_of_other_rows_is_corrupt() -> None:
    vector = vector_of("int", "bsi")
    index = replace(index_of(vector), row_count=7)
    with pytest.raises(CorruptTableError, match="is of 8 rows, and the data file has 7"):
        index.may_match(parsed("c = 1", type_of(vector)))


DAMAGED = [
    vector_of("string", "bitmap", "v1"),
    vector_of("string many", "bitmap", "v2 small blocks"),
    vector_of("bigint many", "bitmap", "v2"),
    vector_of("bigint", "bsi"),
    vector_of("string many", "range-bitmap", "small chunks"),
    vector_of("double", "range-bitmap"),
    vector_of("string", "bloom-filter"),
]


@pytest.mark.parametrize("vector", DAMAGED, ids=name_of)
def test_a_damaged_index_answers_or_names_the_file(vector: dict[str, Any]) -> None:
    """Indexes have no checksum: what is left is that nothing worse than an error happens."""
    body = bytes.fromhex(vector["hex"])
    kind = type_of(vector)
    constant = literals(kind, values_of(vector))[0]
    predicates = [parsed(text, kind) for text in (f"c = {constant}", f"c > {constant}")]
    step = max(len(body) // 50, 3)
    broken = [body[:length] for length in range(0, len(body), step)]
    for position in range(0, len(body), step):
        flipped = bytearray(body)
        flipped[position] ^= 0x81
        broken.append(bytes(flipped))
    errors = [error for data in broken for error in errors_of(index_of(vector, data), predicates)]
    assert all("data-a.parquet" in str(error) for error in errors)
    assert errors


def errors_of(index: FileIndex, predicates: list[Expression]) -> list[LakebedError]:
    errors: list[LakebedError] = []
    for predicate in predicates:
        try:
            index.may_match(predicate)
            index.row_mask(predicate)
        except (CorruptTableError, UnsupportedError) as error:
            errors.append(error)
    return errors
