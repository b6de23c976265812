import io
import json
import random
import zlib
from pathlib import Path

import fastavro
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from lakebed.errors import CorruptTableError, LakebedError, UnsupportedError
from lakebed.format.avro import codec as avro
from lakebed.format.avro.codec import RowChoice, read_columns, read_records, write_records
from lakebed.format.avro.container import encode_long
from lakebed.format.avro.schema import flatten_record
from lakebed.format.manifest import MANIFEST_SCHEMA

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "warehouse"
GOLDEN_FILES = sorted(GOLDEN.rglob("manifest/*manifest*"))

INNER: dict[str, object] = {
    "type": "record",
    "name": "inner",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["null", "bytes"]}],
}
SCHEMA: dict[str, object] = {
    "type": "record",
    "name": "record",
    "fields": [
        {"name": "a", "type": ["int", "null"]},
        {
            "name": "deep",
            "type": {
                "type": "record",
                "name": "deep",
                "fields": [
                    {"name": "s", "type": "string"},
                    {"name": "in", "type": INNER},
                ],
            },
        },
        {"name": "again", "type": "inner"},
        {"name": "maybe", "type": ["null", "inner"]},
        {"name": "many", "type": {"type": "array", "items": ["null", "inner"]}},
        {"name": "counts", "type": ["null", {"type": "array", "items": ["null", "long"]}]},
        {"name": "t", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
    ],
}
RECORDS: list[dict[str, object]] = [
    {
        "a": 1,
        "deep": {"s": "é", "in": {"x": -1, "y": b"\x00\xff"}},
        "again": {"x": 2, "y": None},
        "maybe": None,
        "many": [],
        "counts": None,
        "t": 1795254850200,
    },
    {
        "a": None,
        "deep": {"s": "", "in": {"x": 7, "y": b""}},
        "again": {"x": 2147483647, "y": b"\x80"},
        "maybe": {"x": 5, "y": b"z"},
        "many": [{"x": 1, "y": None}, None],
        "counts": [1, None, -9223372036854775808],
        "t": None,
    },
]


def foreign_file(
    schema: dict[str, object] | list[object],
    records: list[object],
    *,
    codec: str = "null",
    block_bytes: int = 16000,
) -> bytes:
    sink = io.BytesIO()
    fastavro.writer(sink, schema, records, codec=codec, sync_interval=block_bytes)
    return sink.getvalue()


def manifest(count: int, compression: str = "zstd") -> bytes:
    path = next(path for path in GOLDEN_FILES if path.name.startswith("manifest-0"))
    record = read_records(path.read_bytes(), str(path))[0]
    return write_records(MANIFEST_SCHEMA, [record] * count, compression=compression)


def test_both_readers_agree_on_every_golden_metadata_file() -> None:
    assert len(GOLDEN_FILES) == 687
    for path in GOLDEN_FILES:
        data = path.read_bytes()
        records = read_records(data, str(path))
        flat = [flatten_record(record) for record in records]
        assert read_columns(data, str(path)).to_pylist() == flat, path


def test_records_in_records_become_columns_named_by_path() -> None:
    columns = read_columns(write_records(SCHEMA, RECORDS), "x")
    assert columns.column_names == [
        "a",
        "deep.s",
        "deep.in.x",
        "deep.in.y",
        "again.x",
        "again.y",
        "maybe",
        "many",
        "counts",
        "t",
    ]
    assert columns["deep.in.y"].to_pylist() == [b"\x00\xff", b""]
    assert columns["maybe"].to_pylist() == [None, {"x": 5, "y": b"z"}]
    assert columns["many"].to_pylist() == [[], [{"x": 1, "y": None}, None]]
    assert columns["counts"].to_pylist() == [None, [1, None, -9223372036854775808]]


def test_logical_types_are_what_is_stored() -> None:
    data = write_records(SCHEMA, RECORDS)
    assert read_records(data, "x") == RECORDS
    assert read_columns(data, "x")["t"].to_pylist() == [1795254850200, None]


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "bzip2", "xz"])
def test_files_of_other_writers_are_read_in_every_codec(codec: str) -> None:
    records: list[object] = [{"x": index, "y": bytes([index % 256])} for index in range(1000)]
    data = foreign_file(INNER, records, codec=codec, block_bytes=100)
    assert read_records(data, "x") == records
    assert read_columns(data, "x").to_pylist() == records


def test_snappy_blocks_are_read() -> None:
    plain = write_records(INNER, [{"x": 1, "y": b"yy" * 100}], compression="null")
    records = plain[-16 - 204 : -16]
    checksum = zlib.crc32(records).to_bytes(4, "big")
    packed = pa.compress(records, codec="snappy", asbytes=True) + checksum
    head = plain[: -16 - 204 - 3].replace(b"\x08null", b"\x0csnappy")
    # A block is its count, its size and its bytes; sizes are zigzag varints.
    data = head + b"\x02" + bytes([len(packed) * 2]) + packed + plain[-16:]
    assert read_records(data, "x") == [{"x": 1, "y": b"yy" * 100}]
    with pytest.raises(CorruptTableError, match="its checksum differs"):
        read_records(data.replace(checksum, b"crc!"), "x")


def test_a_file_without_records_has_its_columns() -> None:
    data = write_records(SCHEMA, [])
    assert read_records(data, "x") == []
    columns = read_columns(data, "x")
    assert (columns.num_rows, columns.num_columns) == (0, 10)


def test_many_blocks_keep_their_order() -> None:
    records = [{"x": index, "y": b"y" * 100} for index in range(5000)]
    data = write_records(INNER, records)
    assert data.count(data[-16:]) > 5
    assert read_columns(data, "x")["x"].to_pylist() == list(range(5000))


def test_the_header_is_the_one_of_the_real_writer() -> None:
    path = next(path for path in GOLDEN_FILES if path.name.startswith("manifest-0"))
    real = path.read_bytes()
    records = read_records(real, str(path))
    ours = write_records(MANIFEST_SCHEMA, records)
    header = real.index(b"zstandard") + len(b"zstandard") + 1
    assert ours[:header] == real[:header]


@pytest.mark.parametrize("compression", ["zstd", "ZSTD", "zstandard", "deflate", "null"])
def test_other_readers_read_what_we_write(compression: str) -> None:
    data = write_records(INNER, [{"x": 1, "y": b"\xff"}], compression=compression)
    assert list(fastavro.reader(io.BytesIO(data))) == [{"x": 1, "y": b"\xff"}]


def test_an_unknown_compression_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="'none'"):
        write_records(INNER, [], compression="none")


def test_an_unknown_codec_is_refused() -> None:
    data = write_records(INNER, []).replace(b"zstandard", b"zstandarx")
    with pytest.raises(UnsupportedError, match="'zstandarx'"):
        read_columns(data, "x")


def test_schemas_that_columns_cannot_follow_are_read_all_the_same() -> None:
    wide: dict[str, object] = {
        "type": "record",
        "name": "r",
        "fields": [
            {"name": "m", "type": {"type": "map", "values": "int"}},
            {"name": "u", "type": ["int", "string"]},
            {"name": "f", "type": {"type": "fixed", "name": "f", "size": 2}},
        ],
    }
    data = foreign_file(wide, [{"m": {}, "u": 1, "f": b"ab"}])
    assert read_columns(data, "x").select(["u", "f"]).to_pylist() == [{"u": 1, "f": b"ab"}]


def test_a_union_on_top_is_read() -> None:
    data = foreign_file(["null", INNER], [{"x": 1, "y": None}])
    assert read_records(data, "x") == [{"x": 1, "y": None}]
    assert read_columns(data, "x").to_pylist() == [{"x": 1, "y": None}]


@pytest.mark.parametrize("length", [0, 3, 4, 40, 1500, -100, -17, -16, -1])
def test_a_truncated_file_is_corrupt(length: int) -> None:
    data = manifest(3)[:length]
    for read in (read_columns, read_records):
        with pytest.raises(CorruptTableError) as caught:
            read(data, "/t/manifest/m")
        assert caught.value.path == "/t/manifest/m"


def test_a_changed_sync_marker_is_corrupt() -> None:
    data = bytearray(manifest(3))
    data[-1] ^= 1
    with pytest.raises(CorruptTableError, match="sync marker"):
        read_columns(bytes(data), "x")


def test_a_block_that_is_no_zstd_is_corrupt() -> None:
    magic = b"\x28\xb5\x2f\xfd"
    data = manifest(3).replace(magic, bytes(4))
    with pytest.raises(CorruptTableError, match="zstandard"):
        read_columns(data, "x")


@pytest.mark.parametrize("claimed", [0, 1, 3, 100])
def test_a_block_with_another_count_than_it_claims_is_corrupt(claimed: int) -> None:
    data = write_records(INNER, [{"x": 9, "y": b"yyyy"}] * 2, compression="null")
    start = data.index(data[-16:]) + 16
    assert data[start] == 4
    changed = data[:start] + encode_long(claimed) + data[start + 1 :]
    for read in (read_columns, read_records):
        with pytest.raises(CorruptTableError):
            read(changed, "x")


def test_a_header_without_schema_is_corrupt() -> None:
    data = write_records(INNER, []).replace(b"avro.schema", b"avro.schemx")
    with pytest.raises(CorruptTableError, match="schema"):
        read_columns(data, "x")


@pytest.mark.parametrize("schema", [3, [], {}, {"type": "record"}, {"type": "foo"}, "int", "foo"])
def test_a_schema_that_is_none_is_corrupt(schema: object) -> None:
    good = json.dumps(INNER, separators=(",", ":"))
    bad = json.dumps(schema).ljust(len(good))
    data = write_records(INNER, [{"x": 1, "y": None}]).replace(good.encode(), bad.encode())
    for read in (read_columns, read_records):
        with pytest.raises(CorruptTableError):
            read(data, "x")


def test_garbage_never_ends_in_another_error() -> None:
    source = random.Random(7)
    whole = manifest(2, "null")
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(source.randint(1, 3)):
            at = source.randrange(len(data))
            if source.random() < 0.5:
                data[at] = source.randrange(256)
            else:
                data[at:at] = b"\xff" * source.randint(1, 9) + b"\x01"
        for read in (read_columns, read_records):
            try:
                read(bytes(data), "x")
            except LakebedError:
                continue


def many_records() -> bytes:
    inner = {"x": 0, "y": None}
    deep = [{"s": f"text {i}" * 9, "in": {"x": i % 7, "y": None}} for i in range(20_000)]
    rest: dict[str, object] = {"again": inner, "maybe": None, "many": [], "counts": None, "t": None}
    records = ({"a": i, "deep": each, **rest} for i, each in enumerate(deep))
    return write_records(SCHEMA, records)


def test_only_the_wanted_columns_are_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro, "_DECODED_BYTES", 1 << 16)
    data = many_records()
    whole = read_columns(data, "x")
    some = read_columns(data, "x", wanted={"deep.s", "no such column"})
    assert some.column_names == ["deep.s"]
    assert some.column("deep.s") == whole.column("deep.s")


def test_records_are_chosen_by_other_columns_than_the_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(avro, "_DECODED_BYTES", 1 << 16)
    data = many_records()
    seen: list[int] = []

    def keep(rows: pa.Table) -> npt.NDArray[np.bool_]:
        assert rows.column_names == ["a"]
        numbers = rows.column("a").to_numpy()
        seen.extend(numbers.tolist())
        return (numbers >= 9_000) & (numbers < 9_003)

    choice = RowChoice({"a"}, keep)
    rows = read_columns(data, "x", wanted={"a", "deep.in.x"}, choice=choice)
    assert rows.to_pydict() == {"a": [9_000, 9_001, 9_002], "deep.in.x": [5, 6, 0]}
    assert seen == list(range(20_000))
    none = read_columns(
        data, "x", wanted={"a"}, choice=RowChoice({"a"}, lambda rows: np.zeros(len(rows), np.bool_))
    )
    assert none.schema == rows.select(["a"]).schema
    assert none.num_rows == 0


def test_damage_in_columns_that_nobody_wants_is_found() -> None:
    data = bytearray(write_records(SCHEMA, RECORDS * 500, compression="null"))
    middle = len(data) // 2
    data[middle : middle + 40] = b"\xff" * 40
    with pytest.raises(CorruptTableError):
        read_columns(bytes(data), "x", wanted={"a"})
