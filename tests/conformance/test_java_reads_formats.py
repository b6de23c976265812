"""Data files of every format, as Lakebed writes them, read by the real Paimon 1.4.2."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import lakebed
from conformance.encoding import count_arrow, count_java, spark_type
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.schema_definition import Schema
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.format.variant import variant_to_json
from support.columns import array_of
from support.golden_answers import SparkType
from support.typed_columns import CODECS, TypedColumn, columns_of, fields_of, rows_of
from tools.peers.referee import Answer, Referee

pytestmark = pytest.mark.peers

CELLS = [(file_format, codec) for file_format, codecs in CODECS.items() for codec in codecs]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def written(
    warehouse: Path,
    fields: Sequence[DataField],
    rows: pa.Table,
    *,
    options: Mapping[str, str],
    primary_key: Sequence[str] = (),
) -> Path:
    """A new table with the rows of one commit; its directory."""
    catalog = lakebed.load_catalog(warehouse=str(warehouse))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t", schema=Schema(fields=tuple(fields)), primary_key=primary_key, options=dict(options)
    )
    table.append(rows)
    return warehouse / "db.db" / "t"


def extensions(table: Path) -> set[str]:
    return {path.suffix for path in table.glob("bucket-*/data-*")}


def shown(column: TypedColumn, rows: pa.Table) -> pa.Table:
    """A column as Java shows it: a VARIANT is its JSON."""
    if column.type != parse_type("VARIANT"):
        return rows.select([column.name])
    values = [
        value and json.loads(variant_to_json(value["value"], value["metadata"]))
        for value in rows.column(column.name).to_pylist()
    ]
    return pa.table({column.name: pa.array(values)})


def differences(
    answer: Answer, columns: Sequence[TypedColumn], rows: pa.Table
) -> dict[str, tuple[Counter[str], Counter[str]]]:
    """Columns whose values are others, with those that Java has and those that it should."""
    types: dict[str, SparkType] = {name: spark_type(kind) for name, kind in answer.columns}
    found = {}
    for index, column in enumerate(columns):
        kind = {column.name: types[column.name]}
        theirs = count_java([[row[index]] for row in answer.rows], kind)
        ours = count_arrow(shown(column, rows), kind)
        if theirs != ours:
            found[column.name] = (theirs, ours)
    return found


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_java_reads_every_type(cell: tuple[str, str], referee: Referee, tmp_path: Path) -> None:
    file_format, codec = cell
    # The adapter of the answers knows a VARIANT only as a column of its own.
    columns = [column for column in columns_of(file_format) if column.name != "variants"]
    rows = rows_of(columns)
    options = {"file.format": file_format, "file.compression": codec}
    table = written(tmp_path, fields_of(columns), rows, options=options)
    assert extensions(table) == {f".{file_format}"}
    answer = referee.read(table)
    assert len(answer.rows) == rows.num_rows
    assert differences(answer, columns, rows) == {}


@pytest.mark.parametrize("file_format", CODECS)
def test_java_reads_large_files(file_format: str, referee: Referee, tmp_path: Path) -> None:
    count = 40_000
    numbers = np.random.default_rng(7).integers(-(2**40), 2**40, count)
    text = pa.array([f"value {n}" if n % 7 else None for n in numbers.tolist()])
    rows = pa.table(
        {"n": pa.array(numbers), "s": text, "l": pa.array([[n, None] for n in numbers])}
    )
    fields = [
        DataField(id=0, name="n", type=parse_type("BIGINT NOT NULL")),
        DataField(id=1, name="s", type=parse_type("STRING")),
        DataField(id=2, name="l", type=parse_type("ARRAY<BIGINT>")),
    ]
    table = written(tmp_path, fields, rows, options={"file.format": file_format})
    answer = referee.read(table)
    types = {name: spark_type(kind) for name, kind in answer.columns}
    assert count_java(answer.rows, types) == count_arrow(rows, types)


WANTED: list[tuple[str, str, object]] = [
    ("i", "=", 7),
    ("c", "=", "c13"),
    ("v", ">", "v98"),
    ("s", "=", "text 4"),
    ("d", ">=", "98.50"),
    ("t", "<", "1970-01-01T00:00:02.000000"),
    ("u", "=", "1970-01-01T00:00:05.000000Z"),
]


@pytest.mark.parametrize("file_format", CODECS)
def test_java_finds_rows_by_what_the_files_say_of_them(
    file_format: str, referee: Referee, tmp_path: Path
) -> None:
    types = {
        "i": "INT",
        "c": "CHAR(3)",
        "v": "VARCHAR(9)",
        "s": "STRING",
        "d": "DECIMAL(9, 2)",
        "t": "TIMESTAMP(6)",
        "u": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    }
    fields = [
        DataField(id=index, name=name, type=parse_type(text))
        for index, (name, text) in enumerate(types.items())
    ]
    schema = to_arrow_schema(fields)
    values: list[list[object]] = [
        list(range(100)),
        [f"c{n}" for n in range(100)],
        [f"v{n}" for n in range(100)],
        [f"text {n}" for n in range(100)],
        [Decimal(n) + Decimal("0.5") for n in range(100)],
        [n * 10**6 for n in range(100)],
        [n * 1000 for n in range(100)],
    ]
    arrays = [array_of(each, field.type) for each, field in zip(values, schema, strict=True)]
    rows = pa.table(arrays, schema=schema)
    table = written(tmp_path, fields, rows, options={"file.format": file_format})
    for column, operator, literal in WANTED:
        found = [row[0] for row in referee.read(table, where=[(column, operator, literal)]).rows]
        low = {"i": 7, "c": 13, "v": 99, "s": 4, "d": 98, "t": 0, "u": 5}[column]
        high = {"d": 99, "t": 1}.get(column, low)
        assert set(range(low, high + 1)) <= set(found), column
    nothing = referee.read(table, where=[("i", ">", 1000)])
    assert nothing.rows == []


def test_java_reads_nanoseconds_of_all_times(referee: Referee, tmp_path: Path) -> None:
    fields = [DataField(id=0, name="t", type=parse_type("TIMESTAMP(9)"))]
    moments = [-1, 0, 1, -(2**62), 2**62, -999_999, -1_000_001, -86_400 * 10**9]
    schema = to_arrow_schema(fields)
    rows = pa.table([array_of(moments, schema.field(0).type)], schema=schema)
    answer = referee.read(written(tmp_path, fields, rows, options={}))
    expected = [str(np.datetime64(moment, "ns")) for moment in moments]
    assert sorted(_to_nanos(row[0]) for row in answer.rows) == sorted(expected)


def _to_nanos(text: str) -> str:
    return f"{text:0<29}"


@pytest.mark.parametrize(
    "options",
    [
        {"file.format.per.level": "0:avro", "file.compression.per.level": "0:snappy"},
        {"file.format": "orc"},
        {"file.format": "avro"},
        {"parquet.enable.dictionary": "true", "parquet.page.size": "100"},
    ],
    ids=lambda options: ",".join(options.values()),
)
def test_java_reads_key_value_files_and_compacts_them(
    options: dict[str, str], referee: Referee, tmp_path: Path
) -> None:
    columns = {"id": "INT NOT NULL", "s": "STRING", "t": "TIMESTAMP(3)"}
    fields = [
        DataField(id=index, name=name, type=parse_type(text))
        for index, (name, text) in enumerate(columns.items())
    ]
    schema = to_arrow_schema(fields)
    rows = pa.table(
        [
            pa.array(range(100), pa.int32()),
            pa.array([str(n) for n in range(100)]),
            pa.array([None] * 100, schema.field(2).type),
        ],
        schema=schema,
    )
    table = written(tmp_path, fields, rows, options={"bucket": "1", **options}, primary_key=["id"])
    lakebed.load_table(str(table)).append(rows.slice(50))
    level_0 = (
        "avro" if "file.format.per.level" in options else options.get("file.format", "parquet")
    )
    assert extensions(table) == {f".{level_0}"}
    types = {name: spark_type(kind) for name, kind in referee.read(table).columns}
    assert count_java(referee.read(table).rows, types) == count_arrow(rows, types)
    referee.compact(table, full=True)
    assert count_java(referee.read(table).rows, types) == count_arrow(rows, types)
    assert count_arrow(lakebed.load_table(str(table)).scan().to_arrow(), types) == count_arrow(
        rows, types
    )
