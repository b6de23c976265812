import json
import struct
import uuid
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.format.variant import variant_to_json
from support.golden_manifests import DATABASE

NO_NAMES = b"\x01\x00\x00"
NAMES = b"\x01\x02\x00\x01\x03" + "aüb"[:2].encode()  # two names: "a" and "ü"


def head(kind: int) -> bytes:
    return bytes([kind << 2])


PRIMITIVES: dict[str, tuple[bytes, str]] = {
    "null": (head(0), "null"),
    "true": (head(1), "true"),
    "false": (head(2), "false"),
    "int1": (head(3) + b"\x80", "-128"),
    "int2": (head(4) + struct.pack("<h", -300), "-300"),
    "int4": (head(5) + struct.pack("<i", 2**31 - 1), "2147483647"),
    "int8": (head(6) + struct.pack("<q", -(2**63)), "-9223372036854775808"),
    "double": (head(7) + struct.pack("<d", 0.1), "0.1"),
    "nan": (head(7) + struct.pack("<d", float("nan")), '"NaN"'),
    "infinity": (head(7) + struct.pack("<d", float("-inf")), '"-Infinity"'),
    "decimal4": (head(8) + b"\x02" + struct.pack("<i", -5), "-0.05"),
    "decimal8": (head(9) + b"\x00" + struct.pack("<q", 10**17), "100000000000000000"),
    "decimal16": (
        head(10) + b"\x26" + (10**38 - 1).to_bytes(16, "little", signed=True),
        "0." + "9" * 38,
    ),
    "date": (head(11) + struct.pack("<i", -1), '"1969-12-31"'),
    "timestamp": (head(12) + struct.pack("<q", 1), '"1970-01-01 00:00:00.000001+00:00"'),
    "timestamp_ntz": (head(13) + struct.pack("<q", -(10**6)), '"1969-12-31 23:59:59"'),
    "float": (head(14) + struct.pack("<f", 0.1), "0.1"),
    "binary": (head(15) + struct.pack("<I", 2) + b"\x00\xff", '"AP8="'),
    "long string": (head(16) + struct.pack("<I", 3) + b'a"b', '"a\\"b"'),
    "uuid": (head(20) + uuid.UUID(int=1).bytes, '"00000000-0000-0000-0000-000000000001"'),
    "short string": (bytes([2 << 2 | 1]) + "ü".encode(), '"ü"'),
}


@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_primitive_is_its_json(name: str) -> None:
    value, text = PRIMITIVES[name]
    assert variant_to_json(value, NO_NAMES) == text
    json.loads(text)


@pytest.mark.parametrize(
    "name", [name for name, (value, _) in PRIMITIVES.items() if len(value) > 1]
)
def test_a_truncated_primitive_is_an_error(name: str) -> None:
    value, _ = PRIMITIVES[name]
    with pytest.raises(InvalidArgumentError, match="no variant"):
        variant_to_json(value[:-1], NO_NAMES)


def test_an_object_has_its_names_from_the_metadata() -> None:
    # Two fields, ids and offsets of one byte: "ü" is null, "a" is [true].
    array = bytes([3, 1, 0, 1]) + head(1)
    value = bytes([2, 2, 1, 0, 0, 1, 6]) + head(0) + array
    assert variant_to_json(value, NAMES) == '{"ü":null,"a":[true]}'


def test_wide_counts_ids_and_offsets_are_read() -> None:
    wide_object = bytes([(16 | 1 << 2 | 3) << 2 | 2]) + struct.pack("<IHII", 1, 1, 0, 1) + head(2)
    assert variant_to_json(wide_object, NAMES) == '{"ü":false}'
    wide_array = (
        bytes([(4 | 2) << 2 | 3]) + struct.pack("<I", 1) + bytes([0, 0, 0, 1, 0, 0]) + head(1)
    )
    assert variant_to_json(wide_array, NAMES) == "[true]"


def test_instants_are_told_in_the_zone_asked_for() -> None:
    value = head(12) + struct.pack("<q", 0)
    shown = variant_to_json(value, NO_NAMES, time_zone=ZoneInfo("Asia/Kathmandu"))
    assert shown == '"1970-01-01 05:30:00+05:30"'


BROKEN: dict[str, tuple[bytes, bytes]] = {
    "nothing": (b"", NO_NAMES),
    "no metadata": (head(0), b""),
    "a newer version": (head(0), b"\x02\x00\x00"),
    "an unknown type": (head(33), NO_NAMES),
    "a name that is not there": (bytes([2, 1, 5, 0, 1]) + head(0), NAMES),
    "an offset beyond the end": (bytes([3, 1, 200, 201]), NO_NAMES),
    "values that share bytes": (bytes([3, 2, 0, 0, 1]) * 6 + head(0), NO_NAMES),
    "a count beyond the end": (bytes([4 << 2 | 3]) + struct.pack("<I", 2**31), NO_NAMES),
    "text that is no UTF-8": (bytes([1 << 2 | 1, 0xFF]), NO_NAMES),
    "a date after the last year": (head(11) + struct.pack("<i", 2**31 - 1), NO_NAMES),
    "endless nesting": (bytes([3, 1, 0, 1]) * 5000 + head(0), NO_NAMES),
}


@pytest.mark.parametrize("name", BROKEN)
def test_bytes_that_are_no_variant_are_an_error(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match="no variant"):
        variant_to_json(*BROKEN[name])


def test_variants_of_the_real_engine_are_what_it_says() -> None:
    found = {}
    for path in DATABASE.glob("variant/bucket-0/*.parquet"):
        for row in pq.read_table(path).to_pylist():
            parts = row["v"]
            found[row["id"]] = parts and json.loads(
                variant_to_json(parts["value"], parts["metadata"])
            )
    assert found == {
        1: {"a": 1, "b": [True, None, "x"], "c": {"d": 1.5}},
        2: None,
        3: "s",
        4: [],
        5: 12345678901234567890,
    }
