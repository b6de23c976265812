import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.data_file import read_file
from lakebed.format.data_file_write import (
    DataFileSettings,
)
from lakebed.format.key_value import data_file_fields
from lakebed.format.type_text import parse_type
from support.typed_columns import columns_of, fields_of, rows_of
from support.written_files import field, golden, one_column, written

INT, STRING = parse_type("INT"), parse_type("STRING")

PARQUET_TABLES = [
    "append_java_types",
    "append_nested",
    "append_types_parquet",
    "pk_decimal_key",
    "variant",
]


@pytest.mark.parametrize("table", PARQUET_TABLES)
def test_parquet_files_have_the_schema_of_real_ones(table: str) -> None:
    file, schema = golden(table, "parquet")
    fields = data_file_fields(schema)
    store, path = written(to_arrow_schema(fields).empty_table(), fields, "parquet")
    assert _parquet_schema(store.read(path)) == _parquet_schema(file.read_bytes())


def _parquet_schema(file: bytes) -> list[str]:
    """Names, types, nesting and field ids; the name on top and a note on maps mean nothing."""
    lines = str(pq.read_metadata(pa.BufferReader(file)).schema).splitlines()
    return [line.replace(" key_value (Map)", " key_value") for line in lines[2:]]


def test_only_nanoseconds_are_int96_and_they_have_no_statistics() -> None:
    columns = columns_of("parquet")
    store, path = written(rows_of(columns), fields_of(columns), "parquet")
    metadata = pq.read_metadata(pa.BufferReader(store.read(path)))
    stored = {}
    for index in range(metadata.num_columns):
        column = metadata.row_group(0).column(index)
        stored[column.path_in_schema] = (
            metadata.schema.column(index).physical_type,
            column.physical_type,
            column.is_stats_set,
        )
    nanos = {f"{kind}{digits}" for kind in ("local", "instant") for digits in (7, 8, 9)}
    nested = {"n", "m.key_value.key", "m.key_value.value"}
    int96 = {path for path, (kind, _, _) in stored.items() if kind == "INT96"}
    assert int96 == nanos | {f"nano_rows.list.element.{part}" for part in nested}
    assert all(stored[path] == ("INT96", "INT96", False) for path in int96)
    assert all(is_set for path, (_, _, is_set) in stored.items() if path not in int96)


def test_nanoseconds_before_1970_count_upwards_from_midnight() -> None:
    kind = parse_type("TIMESTAMP(9)")
    rows, fields = one_column(kind, [-1, 0, 1, -(2**62), 2**62])
    store, path = written(rows, fields, "parquet", settings=DataFileSettings(compression="none"))
    assert read_file(store, path, schema=rows.schema).equals(rows)
    last_nano_of_1969 = (86_400 * 10**9 - 1).to_bytes(8, "little") + (2440587).to_bytes(4, "little")
    assert last_nano_of_1969 in store.read(path)


def test_pages_of_parquet_files_have_checksums() -> None:
    rows, fields = one_column(STRING, ["some text to be found", "more"])
    store, path = written(rows, fields, "parquet", settings=DataFileSettings(compression="none"))
    data = bytearray(store.read(path))
    data[data.index(b"some text")] ^= 1
    with pytest.raises(OSError, match=r"CRC|checksum"):
        pq.ParquetFile(pa.BufferReader(bytes(data)), page_checksum_verification=True).read()


@pytest.mark.parametrize(
    ("options", "dictionaries"),
    [
        ({}, [False, True]),
        ({"dictionary": True}, [True, True]),
        ({"dictionary": False}, [False] * 2),
    ],
)
def test_dictionaries_are_those_asked_for(
    options: dict[str, bool], dictionaries: list[bool]
) -> None:
    rows = pa.table({"n": pa.array([1, 2], pa.int32()), "s": pa.array(["a", "b"])})
    fields = [field("n", INT), field("s", STRING, number=1)]
    settings = DataFileSettings(dictionary=options.get("dictionary"))
    store, path = written(rows, fields, "parquet", settings=settings)
    group = pq.read_metadata(pa.BufferReader(store.read(path))).row_group(0)
    assert [group.column(i).has_dictionary_page for i in range(2)] == dictionaries


def test_columns_whose_values_repeat_have_a_dictionary() -> None:
    count = 5_000
    values = {
        "n": pa.array([i % 50 for i in range(count)], pa.int32()),
        "s": pa.array([f"all differ {i}" for i in range(count)]),
        "r": pa.array(["a", "b"] * (count // 2)),
        "m": pa.array(range(count), pa.int32()),
    }
    rows = pa.table(values)
    fields = [
        field(each.name, INT if each.type == pa.int32() else STRING, number=i)
        for i, each in enumerate(rows.schema)
    ]
    store, path = written(rows, fields, "parquet", settings=DataFileSettings())
    group = pq.read_metadata(pa.BufferReader(store.read(path))).row_group(0)
    has_dictionary = [group.column(i).has_dictionary_page for i in range(rows.num_columns)]
    assert has_dictionary == [True, False, True, False]


def test_sorted_columns_are_sampled_from_end_to_end() -> None:
    count = 200_000
    rows, fields = one_column(INT, [0] * (count // 10) + list(range(count * 9 // 10)))
    store, path = written(rows, fields, "parquet", settings=DataFileSettings())
    group = pq.read_metadata(pa.BufferReader(store.read(path))).row_group(0)
    assert not group.column(0).has_dictionary_page


def test_parquet_pages_have_the_size_asked_for() -> None:
    rows, fields = one_column(
        parse_type("BIGINT"), np.random.default_rng(1).integers(0, 2**60, 50_000).tolist()
    )
    sizes = []
    for page_bytes in (None, 1 << 12):
        settings = DataFileSettings(compression="none", page_bytes=page_bytes)
        store, path = written(rows, fields, "parquet", settings=settings)
        sizes.append(store.size(path))
    assert sizes[1] > sizes[0]
