"""Values of keys, bounds and partitions as system tables write them."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from lakebed.format.binary_row.codec import encode_row
from lakebed.format.schema_definition import schema
from lakebed.table.system.history import duration_text
from lakebed.table.system.value_text import list_text, map_text, row_texts, stored_text

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([-7, None], pa.int8()), ["-7", None]),
        (pa.array([0.0, -0.0, 1e10, float("nan")]), ["0.0", "-0.0", "1.0E10", "NaN"]),
        (pa.array([Decimal("-0.05")], pa.decimal128(20, 2)), ["-0.05"]),
        (pa.array(["a, b", ""]), ["a, b", ""]),
        (pa.array([b"\x00", None]), ["<binary>", None]),
        (pa.array([dt.date(1960, 1, 1)]), ["-3653"]),
        (pa.array([dt.time(23, 59, 59, 999_000)], pa.time32("ms")), ["86399999"]),
        (pa.nulls(2), [None, None]),
    ],
    ids=str,
)
def test_stored_values_are_written_as_the_format_holds_them(
    values: "pa.Array[pa.Scalar[pa.DataType]]", texts: list[str | None]
) -> None:
    assert stored_text(values).to_pylist() == texts


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "1970-01-01T00:00"),
        (60 * SECOND, "1970-01-01T00:01"),
        (10 * SECOND, "1970-01-01T00:00:10"),
        (500_000, "1970-01-01T00:00:00.500"),
        (1, "1970-01-01T00:00:00.000001"),
        (60 * SECOND + 120_000, "1970-01-01T00:01:00.120"),
        (-1, "1969-12-31T23:59:59.999999"),
        (-62135596800 * SECOND, "0001-01-01T00:00"),
    ],
)
def test_stored_timestamps_have_as_few_digits_as_do(micros: int, text: str) -> None:
    for zone in (None, "UTC"):
        assert stored_text(pa.array([micros], pa.timestamp("us", zone))).to_pylist() == [text]


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("s", 59, "1970-01-01T00:00:59"),
        ("ms", 59_000, "1970-01-01T00:00:59"),
        ("ms", 7, "1970-01-01T00:00:00.007"),
        ("ns", 7, "1970-01-01T00:00:00.000000007"),
        ("ns", 7_000, "1970-01-01T00:00:00.000007"),
        ("ns", 0, "1970-01-01T00:00"),
    ],
)
def test_stored_timestamps_of_every_unit(unit: str, value: int, text: str) -> None:
    assert stored_text(pa.array([value], pa.int64()).cast(f"timestamp[{unit}]")).to_pylist() == [
        text
    ]


def test_lists_and_maps_of_texts_show_null_as_a_word() -> None:
    one, two = pa.array(["1", None]), pa.array(["x", "y"])
    assert list_text([one, two]).to_pylist() == ["[1, x]", "[null, y]"]
    assert map_text([("a", one), ("b", two)]).to_pylist() == ["{a=1, b=x}", "{a=null, b=y}"]


def test_partitions_are_written_as_a_cast_to_text_does() -> None:
    fields = schema(
        [("d", "DATE"), ("t", "TIMESTAMP(3)"), ("s", "STRING"), ("l", "TIMESTAMP_LTZ(0)")]
    ).fields
    types = [field.type for field in fields]
    moment = dt.datetime.fromisoformat("2026-01-02T03:04:05.600")
    rows = [
        encode_row([dt.date(2026, 1, 2), moment, " ", moment.replace(microsecond=0)], types),
        encode_row([None, None, "", None], types),
    ]
    zone = dt.timezone(dt.timedelta(hours=5, minutes=45))
    texts = row_texts(pa.array([rows[0], rows[1], rows[0]]), fields, time_zone=zone)
    first = "{2026-01-02, 2026-01-02 03:04:05.600,  , 2026-01-02 08:49:05}"
    assert texts.to_pylist() == [first, "{null, null, , null}", first]
    assert row_texts(pa.array([encode_row([], [])]), (), time_zone=zone).to_pylist() == ["{}"]


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (dt.timedelta(0), "PT0S"),
        (dt.timedelta(days=1), "PT24H"),
        (dt.timedelta(minutes=90), "PT1H30M"),
        (dt.timedelta(seconds=61, microseconds=500_000), "PT1M1.5S"),
        (dt.timedelta(hours=2, microseconds=1), "PT2H0.000001S"),
    ],
)
def test_durations_are_written_in_hours_minutes_and_seconds(
    duration: dt.timedelta, text: str
) -> None:
    assert duration_text(duration) == text
