"""Partition names, legacy and plain, and escaping."""

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import CorruptTableError, InvalidArgumentError, UnsupportedError
from lakebed.format.paths import (
    escape_path_name,
    format_partition,
    parse_partition,
    unescape_path_name,
)
from lakebed.format.types import ArrayType, AtomicType, DataField, DataType, TypeRoot

NOON = dt.datetime.fromisoformat("2024-02-29T12:34:56.123456")
MIDNIGHT = dt.datetime.fromisoformat("2024-02-29T00:00:00")
KATHMANDU = ZoneInfo("Asia/Kathmandu")


def atomic(root: str, *, precision: int | None = None, scale: int | None = None) -> AtomicType:
    return AtomicType(root=TypeRoot[root], precision=precision, scale=scale)


def name_of(
    value: object, kind: DataType, *, legacy: bool, time_zone: dt.tzinfo = dt.UTC
) -> str | None:
    field = DataField(id=0, name="p", type=kind)
    path = format_partition([value], [field], legacy=legacy, time_zone=time_zone)
    return parse_partition(path)["p"]


@pytest.mark.parametrize(
    ("value", "kind", "legacy", "plain"),
    [
        (True, atomic("BOOLEAN"), "true", "true"),
        (-5, atomic("TINYINT"), "-5", "-5"),
        (2**63 - 1, atomic("BIGINT"), "9223372036854775807", "9223372036854775807"),
        (1.5, atomic("DOUBLE"), "1.5", "1.5"),
        (100.0, atomic("DOUBLE"), "100.0", "100.0"),
        (0.1, atomic("FLOAT"), "0.1", "0.1"),
        (1e7, atomic("DOUBLE"), "1.0E7", "1.0E7"),
        (-1.25e-5, atomic("DOUBLE"), "-1.25E-5", "-1.25E-5"),
        (float("nan"), atomic("FLOAT"), "NaN", "NaN"),
        (float("-inf"), atomic("DOUBLE"), "-Infinity", "-Infinity"),
        (Decimal("1.50"), atomic("DECIMAL", precision=10, scale=2), "1.50", "1.50"),
        (
            Decimal("1E+20"),
            atomic("DECIMAL", precision=30, scale=0),
            "1" + 20 * "0",
            "1" + 20 * "0",
        ),
        ("zażółć🦆", atomic("VARCHAR"), "zażółć🦆", "zażółć🦆"),
        (dt.date(2024, 1, 1), atomic("DATE"), "19723", "2024-01-01"),
        (dt.date(1969, 12, 31), atomic("DATE"), "-1", "1969-12-31"),
        (dt.time(1, 2, 3, 4000), atomic("TIME", precision=3), "3723004", "01:02:03.004"),
        (dt.time(1, 2, 3), atomic("TIME", precision=0), "3723000", "01:02:03"),
        (dt.time(1, 2, 3), atomic("TIME", precision=3), "3723000", "01:02:03.0"),
        (
            NOON,
            atomic("TIMESTAMP", precision=6),
            "2024-02-29T12:34:56.123456",
            "2024-02-29 12:34:56.123456",
        ),
        (
            MIDNIGHT,
            atomic("TIMESTAMP", precision=6),
            "2024-02-29T00:00",
            "2024-02-29 00:00:00.000000",
        ),
        (MIDNIGHT, atomic("TIMESTAMP", precision=0), "2024-02-29T00:00", "2024-02-29 00:00:00"),
        (
            NOON.replace(microsecond=120_000),
            atomic("TIMESTAMP", precision=3),
            "2024-02-29T12:34:56.120",
            "2024-02-29 12:34:56.120",
        ),
        (
            NOON.replace(microsecond=0),
            atomic("TIMESTAMP", precision=3),
            "2024-02-29T12:34:56",
            "2024-02-29 12:34:56.000",
        ),
        (
            np.datetime64("1969-12-31T23:59:59.000000001", "ns"),
            atomic("TIMESTAMP", precision=9),
            "1969-12-31T23:59:59.000000001",
            "1969-12-31 23:59:59.000000001",
        ),
        (
            MIDNIGHT.replace(tzinfo=dt.UTC),
            atomic("TIMESTAMP_LTZ", precision=3),
            "2024-02-29T00:00",
            "2024-02-29 00:00:00.000",
        ),
        (None, atomic("INT"), None, None),
    ],
)
def test_value_text_by_type(
    value: object, kind: AtomicType, *, legacy: str | None, plain: str | None
) -> None:
    assert name_of(value, kind, legacy=True) == legacy
    assert name_of(value, kind, legacy=False) == plain


def test_local_time_is_of_the_zone_in_plain_names_only() -> None:
    kind = atomic("TIMESTAMP_LTZ", precision=0)
    moment = MIDNIGHT.replace(tzinfo=dt.UTC)
    assert name_of(moment, kind, legacy=False, time_zone=KATHMANDU) == "2024-02-29 05:45:00"
    assert name_of(moment, kind, legacy=True, time_zone=KATHMANDU) == "2024-02-29T00:00"
    naive = atomic("TIMESTAMP", precision=0)
    assert name_of(MIDNIGHT, naive, legacy=False, time_zone=KATHMANDU) == "2024-02-29 00:00:00"


def test_bytes_have_a_plain_name_but_no_legacy_one() -> None:
    assert name_of(b"abc", atomic("VARBINARY"), legacy=False) == "abc"
    with pytest.raises(UnsupportedError, match="'p': VARBINARY has no name"):
        name_of(b"abc", atomic("VARBINARY"), legacy=True)
    with pytest.raises(InvalidArgumentError, match="no value of VARBINARY"):
        name_of(b"\xff", atomic("VARBINARY"), legacy=False)


def test_what_is_no_value_of_the_type_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="'x' is no value of DATE"):
        name_of("x", atomic("DATE"), legacy=True)
    with pytest.raises(UnsupportedError, match="nested"):
        name_of([1], ArrayType(element=atomic("INT")), legacy=True)
    with pytest.raises(UnsupportedError, match="VARIANT has no name"):
        name_of(b"", atomic("VARIANT"), legacy=False)


@pytest.mark.parametrize("blank", [None, "", "  ", "\t\n", "\u2003"])
def test_null_and_blank_share_the_default_directory(blank: str | None) -> None:
    fields = [DataField(id=0, name="p", type=atomic("VARCHAR"))]
    assert format_partition([blank], fields) == "p=__DEFAULT_PARTITION__"
    assert format_partition([blank], fields, default_name="none") == "p=none"
    assert parse_partition("p=none", default_name="none") == {"p": None}


def test_no_break_spaces_are_not_blank() -> None:
    assert name_of("\u00a0", atomic("VARCHAR"), legacy=True) == "\u00a0"


def test_keys_and_values_are_escaped_and_parsed_back() -> None:
    fields = [
        DataField(id=0, name="a=b", type=atomic("VARCHAR")),
        DataField(id=1, name="n", type=atomic("INT")),
    ]
    path = format_partition(["x/y%", 3], fields)
    assert path == "a%3Db=x%2Fy%25/n=3"
    assert parse_partition(path) == {"a=b": "x/y%", "n": "3"}
    assert format_partition([], []) == ""
    assert parse_partition("") == {}


@pytest.mark.parametrize("path", ["bucket-0", "a=1/b", "=1", "a="])
def test_path_that_is_no_partition_is_corrupt(path: str) -> None:
    with pytest.raises(CorruptTableError, match="not key=value"):
        parse_partition(path)


def test_each_character_that_needs_it_is_escaped_and_no_other() -> None:
    escaped = {chr(code) for code in range(0x250) if escape_path_name(chr(code)) != chr(code)}
    assert escaped == {chr(code) for code in range(0x20)} | set("\x7f\"#%'*/:=?\\{}[]^")
    assert escape_path_name("a\x01:~ .<>|") == "a%01%3A~ .<>|"


@given(st.text())
def test_escaped_names_come_back(name: str) -> None:
    assert unescape_path_name(escape_path_name(name)) == name


def test_stray_percent_signs_stand_for_themselves() -> None:
    assert unescape_path_name("5%") == "5%"
    assert unescape_path_name("%zz%4") == "%zz%4"
    assert unescape_path_name("%3d") == "="
