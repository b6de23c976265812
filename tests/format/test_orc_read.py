from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import orc

from lakebed.errors import CorruptTableError, NotFoundError, UnsupportedError
from lakebed.format.orc.read import orc_shape, read_orc, stream_orc
from lakebed.format.orc.run_lengths import Extent, decode_unsigned, extent_of_unsigned
from lakebed.format.orc.tail import StreamKind, read_stream, read_stripe_footer, read_tail
from lakebed.format.orc.timestamps import LtzStorage
from lakebed.storage.local import LocalFileIO
from lakebed.storage.memory import MemoryFileIO
from support.columns import array_of
from support.golden_manifests import DATABASE

PATH = "memory:/t/bucket-0/data-1.orc"
Codec = Literal["UNCOMPRESSED", "ZLIB", "SNAPPY", "LZ4", "ZSTD"]
CODECS: list[Codec] = ["UNCOMPRESSED", "ZLIB", "SNAPPY", "LZ4", "ZSTD"]
NANOS = pa.timestamp("ns")
NANOS_UTC = pa.timestamp("ns", "UTC")
MICROS = pa.timestamp("us")
YEAR_9999 = datetime(9999, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001 - zoneless


def written(table: pa.Table, codec: Codec = "UNCOMPRESSED", stripe_bytes: int = 1 << 26) -> bytes:
    sink = pa.BufferOutputStream()
    orc.write_table(table, sink, compression=codec, stripe_size=stripe_bytes, batch_size=1024)
    return sink.getvalue().to_pybytes()


def stored(file: bytes) -> MemoryFileIO:
    store = MemoryFileIO()
    store.write(PATH, file)
    return store


def nested_type(leaf: pa.DataType) -> pa.DataType:
    return pa.list_(pa.struct([("x", leaf), ("m", pa.map_(pa.string(), leaf))]))


def nested_values(*leaves: object) -> list[object]:
    first, second, third = leaves
    return [
        [{"x": first, "m": [("a", second), ("b", None)]}, None],
        None,
        [{"x": third, "m": None}],
    ]


COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "flag": (pa.bool_(), [True, None, False]),
    "tiny": (pa.int8(), [-128, 127, None]),
    "small": (pa.int16(), [-(2**15), None, 1]),
    "i": (pa.int32(), [-(2**31), 2**31 - 1, 0]),
    "big": (pa.int64(), [-(2**63), 2**63 - 1, None]),
    "f": (pa.float32(), [0.5, float("-inf"), None]),
    "d": (pa.float64(), [1e300, -0.0, None]),
    "dec": (pa.decimal128(9, 2), [Decimal("-1.25"), None, Decimal("9999999.99")]),
    "wide": (pa.decimal128(38, 0), [Decimal("-" + "9" * 38), None, Decimal(0)]),
    "s": (pa.string(), ["", "a\0b 𝄞", None]),
    "b": (pa.binary(), [b"", b"\x00\xff", None]),
    "day": (pa.date32(), [datetime(1, 1, 1).date(), datetime(9999, 12, 31).date(), None]),  # noqa: DTZ001 - zoneless
    "t": (NANOS, [0, -1, 2**62]),
    "l": (NANOS_UTC, [1, None, -(2**62)]),
    "nested": (nested_type(pa.int32()), nested_values(1, 2, 3)),
    "times": (nested_type(NANOS), nested_values(10**9, -1, 5)),
}
TABLE = pa.table({name: array_of(cells, kind) for name, (kind, cells) in COLUMNS.items()})


@pytest.mark.parametrize("codec", CODECS)
def test_every_type_is_read_with_every_codec(codec: Codec) -> None:
    table = read_orc(stored(written(TABLE, codec)), PATH, schema=TABLE.schema, row_count=3)
    table.validate(full=True)
    assert table.equals(TABLE)


def test_time_is_an_int_in_the_file() -> None:
    store = stored(written(pa.table({"t": pa.array([86399999, None], pa.int32())})))
    table = read_orc(store, PATH, schema=pa.schema([("t", pa.time32("ms"))]))
    assert table.column("t").cast(pa.int32()).to_pylist() == [86399999, None]


def test_columns_come_in_the_order_asked_and_rows_by_mask() -> None:
    wanted = pa.schema([TABLE.schema.field("t"), TABLE.schema.field("i")])
    keep = np.array([True, False, True])
    table = read_orc(stored(written(TABLE)), PATH, schema=wanted, keep=keep)
    assert table.equals(TABLE.select(["t", "i"]).filter(pa.array(keep)))


@pytest.mark.parametrize("names", [["k"], ["k", "t"]])
def test_a_stream_reads_stripe_by_stripe_and_cuts_them(names: list[str]) -> None:
    count = 30_000
    rows = pa.table({"k": pa.array(range(count)), "t": pa.array(range(count), NANOS)})
    store = stored(written(rows, stripe_bytes=1 << 12))
    schema = rows.select(names).schema
    batches = list(stream_orc(store, PATH, schema=schema, row_count=count, batch_rows=999))
    assert max(batch.num_rows for batch in batches) <= 999
    assert pa.concat_tables(batches).equals(rows.select(names))
    assert orc.ORCFile(pa.BufferReader(store.read(PATH))).nstripes > 1


def test_a_file_without_rows_has_columns() -> None:
    store = stored(written(TABLE.slice(0, 0)))
    assert read_orc(store, PATH, schema=TABLE.schema, row_count=0).num_rows == 0
    assert list(stream_orc(store, PATH, schema=TABLE.schema, batch_rows=5)) == []


def test_the_shape_is_the_rows_and_a_share_of_the_size() -> None:
    store = stored(written(TABLE))
    few, all_columns = (orc_shape(store, PATH, columns=c) for c in (["i"], TABLE.column_names))
    assert few.row_count == all_columns.row_count == 3
    assert 0 < few.uncompressed_bytes < all_columns.uncompressed_bytes


def test_the_real_engine_s_last_timestamp_is_read() -> None:
    found = []
    for path in DATABASE.glob("append_types_orc/bucket-0/*.orc"):
        table = read_orc(LocalFileIO(), str(path), schema=pa.schema([("tn", MICROS)]))
        found += table.column("tn").drop_null().to_pylist()
    assert YEAR_9999 in found


def test_a_timestamp_beyond_nanoseconds_is_an_error_where_those_are_asked_for() -> None:
    refused = []
    for path in map(str, DATABASE.glob("append_types_orc/bucket-0/*.orc")):
        last = read_orc(LocalFileIO(), path, schema=pa.schema([("tn", MICROS)])).column("tn")
        if YEAR_9999 in last.to_pylist():
            refused.append(path)
    (path,) = refused
    with pytest.raises(UnsupportedError, match="outside of what 64 bits of ns hold"):
        read_orc(LocalFileIO(), path, schema=pa.schema([("tn", NANOS)]))


def test_a_timestamp_finer_than_asked_for_is_an_error() -> None:
    store = stored(written(pa.table({"t": pa.array([1], NANOS)})))
    with pytest.raises(UnsupportedError, match="finer than us"):
        read_orc(store, PATH, schema=pa.schema([("t", MICROS)]))


def written_in_china(table: pa.Table) -> bytes:
    """A file whose writer's clock showed the time of China, eight hours before UTC's."""
    file = written(table)
    assert file.count(b"GMT") == 1
    return file.replace(b"GMT", b"PRC")


def test_a_timestamp_is_what_the_writer_s_clock_showed() -> None:
    times = pa.table(
        {"t": pa.array([1_700_000_000_123, None, 1_000_000_000_000], pa.timestamp("ms"))}
    )
    store = stored(written_in_china(times))
    assert read_orc(store, PATH, schema=times.schema).equals(times)


def test_the_second_lost_before_1970_is_that_of_utc() -> None:
    # In UTC the moment is before 1970, so the writer rounded its seconds up; in China it is not.
    shown = datetime(1970, 1, 1, 4, 0, 0, 500_000)  # noqa: DTZ001 - zoneless
    times = pa.table({"t": array_of([shown + timedelta(seconds=1)], MICROS)})
    store = stored(written_in_china(times))
    table = read_orc(store, PATH, schema=times.schema)
    assert table.column("t").to_pylist() == [shown]


@pytest.mark.parametrize(
    ("ltz", "hours"),
    [
        (LtzStorage(), 8),
        (LtzStorage(local_zone="Asia/Kathmandu"), 8),
        (LtzStorage(is_legacy=False), 0),
    ],
)
def test_an_instant_is_the_writer_s_clock_unless_told_otherwise(
    ltz: LtzStorage, hours: int
) -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    rows = pa.table({"l": array_of([moment], NANOS_UTC), "t": pa.array([0], NANOS)})
    table = read_orc(
        stored(written_in_china(rows)), PATH, schema=rows.select(["l"]).schema, ltz=ltz
    )
    assert table.column("l").cast(pa.timestamp("us", "UTC")).to_pylist() == [
        moment + timedelta(hours=hours)
    ]


def test_an_instant_of_an_unknown_writer_is_the_reader_s_clock() -> None:
    # Ten bytes of protocol: field 3 of the stripe's footer, of three letters, and its length.
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    rows = pa.table({"l": array_of([moment], NANOS_UTC)})
    # The field for the zone becomes one that nobody knows, as where it was never written.
    file = written(rows).replace(b"\x1a\x03GMT", b"\x7a\x03GMT")
    for zone, shift in (("Asia/Kathmandu", timedelta(hours=5, minutes=45)), ("UTC", timedelta())):
        table = read_orc(stored(file), PATH, schema=rows.schema, ltz=LtzStorage(local_zone=zone))
        shown = table.column("l").cast(pa.timestamp("us", "UTC")).to_pylist()
        assert shown == [moment + shift]


def test_an_unknown_zone_is_refused_by_name() -> None:
    file = written(pa.table({"t": pa.array([0], NANOS)})).replace(b"GMT", b"QQQ")
    with pytest.raises(UnsupportedError, match="'QQQ'"):
        read_orc(stored(file), PATH, schema=pa.schema([("t", NANOS)]))


# Nanoseconds that need the widths, patches, repeats and runs of every encoding.
moments = st.lists(
    st.none()
    | st.integers(-(2**62), 2**62)
    | st.integers(0, 1000)
    | st.integers(0, 100).map(lambda n: n * 10**9)
    | st.integers(0, 1000).map(lambda n: n * 10**6),
    max_size=60,
)


@settings(max_examples=100, deadline=None)
@given(values=moments, repeats=st.integers(1, 20), step=st.integers(0, 5000))
def test_timestamps_of_any_pattern_are_what_was_written(
    values: list[int | None], repeats: int, step: int
) -> None:
    cells = [v for v in values for _ in range(repeats)] + [i * step for i in range(600)]
    # A second before 1970 with less than a millisecond is forgotten by every writer.
    kept = [v for v in cells if v is None or v >= 0 or v % 10**9 > 999_999]
    table = pa.table({"t": pa.array(kept, NANOS)})
    assert read_orc(stored(written(table)), PATH, schema=table.schema).equals(table)


# The examples of the specification of ORC.
RUNS: dict[str, tuple[str, list[int]]] = {
    "short repeat": ("0a2710", [10000] * 5),
    "direct": ("5e035ca1ab1edeadbeef", [23713, 43806, 57005, 48879]),
    "patched base": (
        "8e132b2107d01e00147028323c46505a646e78828c96a0aab4befce8",
        [2030, 2000, 2020, 1000000, *range(2040, 2200, 10)],
    ),
    "delta": ("c609020222424246", [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]),
}


@pytest.mark.parametrize("name", RUNS)
def test_runs_of_the_specification_are_decoded(name: str) -> None:
    encoded, values = RUNS[name]
    stream = bytes.fromhex(encoded)
    assert decode_unsigned(stream, len(values), PATH).tolist() == values
    with pytest.raises(CorruptTableError, match="ends within a run"):
        decode_unsigned(stream[:-1], len(values), PATH)
    with pytest.raises(CorruptTableError, match="integers and not"):
        decode_unsigned(stream, len(values) + 1, PATH)


def test_what_the_file_lacks_is_named() -> None:
    store = stored(written(TABLE))
    with pytest.raises(CorruptTableError, match="has no column 'gone'"):
        read_orc(store, PATH, schema=pa.schema([("gone", pa.int32())]))
    with pytest.raises(CorruptTableError, match="holds 3 rows where the manifest says 4"):
        read_orc(store, PATH, schema=TABLE.schema, row_count=4)
    with pytest.raises(CorruptTableError, match="column 's' is"):
        read_orc(store, PATH, schema=pa.schema([("s", pa.int32())]))
    with pytest.raises(NotFoundError):
        read_orc(store, f"{PATH}.orc", schema=TABLE.schema)


# Ten texts of 3, 4, 5 ... bytes: one run of lengths, of base 3 and difference 1.
LENGTHS = bytes.fromhex("c0090302")
LISTS = pa.table(
    {
        "text": ["x" * count for count in range(3, 13)],
        "list": pa.array([[1] * count for count in range(3, 13)], pa.list_(pa.int8())),
        "in": pa.array(
            [[["x"] * count] for count in range(3, 13)], pa.list_(pa.list_(pa.string()))
        ),
    }
)


@pytest.mark.parametrize("name", LISTS.column_names)
@pytest.mark.parametrize(
    ("damaged", "problem"),
    [
        ("c0090307", "has a length of -33"),
        ("17ffffff", "has lengths for more than the .* it can hold"),
    ],
)
def test_lengths_that_would_end_the_process_are_corrupt(
    name: str, damaged: str, problem: str
) -> None:
    table = LISTS.select([name])
    file = written(table)
    assert file.count(LENGTHS) == 1
    assert read_orc(stored(file), PATH, schema=table.schema).equals(table)
    broken = stored(file.replace(LENGTHS, bytes.fromhex(damaged)))
    with pytest.raises(CorruptTableError, match=problem):
        read_orc(broken, PATH, schema=table.schema)


def test_a_dictionary_of_another_size_than_its_lengths_is_corrupt() -> None:
    table = LISTS.select(["text"])
    sink = pa.BufferOutputStream()
    orc.write_table(pa.concat_tables([table] * 4), sink, dictionary_key_size_threshold=1.0)
    file = sink.getvalue().to_pybytes()
    assert file.count(LENGTHS) == 1
    with pytest.raises(CorruptTableError, match="has 9 lengths for 10 texts"):
        read_orc(
            stored(file.replace(LENGTHS, bytes.fromhex("c0080302"))), PATH, schema=table.schema
        )


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3"])
def test_text_that_is_no_utf8_is_corrupt(bad: bytes) -> None:
    table = pa.table({"s": ["qzq"] * 3})
    file = written(table).replace(b"qzq", b"qq" + bad)
    with pytest.raises(CorruptTableError, match="UTF8"):
        read_orc(stored(file), PATH, schema=table.schema)


@pytest.mark.parametrize("lengths", [[0], [5] * 2000, [7, 1, 900] * 500, [2**20, 3, 4], [9, 1] * 9])
def test_extent_of_lengths_is_that_of_the_decoded_ones(lengths: list[int]) -> None:
    table = pa.table({"b": [b"x" * length for length in lengths]})
    source = pa.BufferReader(written(table))
    tail = read_tail(source, PATH)
    footer = read_stripe_footer(source, tail, tail.stripes[0])
    stream = read_stream(source, tail, footer.streams[1, StreamKind.LENGTH])
    exact = extent_of_unsigned(stream, PATH, exactly=True)
    assert exact == Extent(len(lengths), 0, sum(lengths))
    loose = extent_of_unsigned(stream, PATH, exactly=False)
    assert (loose.count, loose.least) == (exact.count, 0)
    assert loose.total >= exact.total
