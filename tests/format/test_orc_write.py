from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyarrow import orc

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.data_file import read_file
from lakebed.format.data_file_write import (
    DataFileSettings,
    check_writable,
)
from lakebed.format.orc.protobuf import messages_of, numbers_of
from lakebed.format.orc.tail import read_tail
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, RowType
from support.written_files import field, golden, one_column, written

INT, STRING = parse_type("INT"), parse_type("STRING")


@pytest.mark.parametrize("table", ["append_nested_orc", "append_types_orc"])
def test_orc_files_have_the_types_and_ids_of_real_ones(table: str) -> None:
    file, schema = golden(table, "orc")
    rows = to_arrow_schema(schema.fields).empty_table()
    store, path = written(rows, schema.fields, "orc")
    assert _orc_types(store.read(path)) == _orc_types(file.read_bytes())


def _orc_types(file: bytes) -> list[tuple[object, ...]]:
    tail = read_tail(pa.BufferReader(file), "")
    messages = messages_of(tail.footer, "", 4)
    return [
        (
            kind.kind,
            kind.children,
            kind.names,
            numbers_of(message, "").get(4, 0),
            messages_of(message, "", 7),
        )
        for kind, message in zip(tail.types, messages, strict=True)
    ]


def test_orc_slices_of_rows_are_written_as_they_are() -> None:
    kind = RowType(fields=(field("x", INT, number=1), field("y", ArrayType(element=INT), number=2)))
    values = [{"x": n, "y": [n, None]} if n % 3 else None for n in range(5000)]
    rows, fields = one_column(kind, values)
    part = rows.slice(7, 3001)
    store, path = written(part, fields, "orc")
    assert read_file(store, path, schema=part.schema).equals(part)
    assert orc.ORCFile(pa.BufferReader(store.read(path))).nrows == 3001


@pytest.mark.parametrize("kind", ["TIMESTAMP(6)", "TIMESTAMP(9) WITH LOCAL TIME ZONE"])
def test_orc_fractions_of_milliseconds_before_1970_are_refused(kind: str) -> None:
    fine, wrong = datetime(1969, 1, 1, 0, 0, 0, 1000), datetime(1969, 1, 1, 0, 0, 0, 1001)  # noqa: DTZ001
    later = datetime(2000, 1, 1, 0, 0, 0, 1)  # noqa: DTZ001 - zoneless
    nested = ArrayType(element=RowType(fields=(field("x", parse_type(kind), number=1),)))
    moments = [m.replace(tzinfo=UTC) if "ZONE" in kind else m for m in (fine, later, wrong)]
    assert written(*one_column(nested, [[{"x": m}] for m in moments[:2]]), "orc")
    with pytest.raises(UnsupportedError, match="'c' has a timestamp before 1970"):
        written(*one_column(nested, [None, [{"x": moments[2]}]]), "orc")


def test_orc_instants_are_refused_where_their_bytes_depend_on_the_zone() -> None:
    fields = [field("c", ArrayType(element=parse_type("TIMESTAMP(3) WITH LOCAL TIME ZONE")))]
    elsewhere = DataFileSettings(time_zone="Asia/Kathmandu")
    with pytest.raises(UnsupportedError, match=r"column 'c'.*Asia/Kathmandu"):
        check_writable(fields, "orc", elsewhere)
    check_writable(fields, "parquet", elsewhere)
    check_writable(fields, "orc", DataFileSettings(time_zone="Asia/Kathmandu", is_ltz_legacy=False))
    check_writable(fields, "orc", DataFileSettings(time_zone="UTC"))


def test_orc_has_two_levels_of_zstd() -> None:
    sizes = []
    text = pa.table({"c": pa.array([str(n * n) for n in range(20_000)])})
    for level in (1, 3):
        settings = DataFileSettings(zstd_level=level)
        store, path = written(text, [field("c", STRING)], "orc", settings=settings)
        sizes.append(store.size(path))
    assert sizes[0] != sizes[1]
    with pytest.raises(UnsupportedError, match="zstd-level=9"):
        written(text, [field("c", STRING)], "orc", settings=DataFileSettings(zstd_level=9))
