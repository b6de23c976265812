"""How does the text of an option become a value, and a value the text that Paimon stores?

Every parser takes the text and the key that it was given for, and raises `InvalidArgumentError`
naming both and what is allowed. Text that the format's other clients cannot parse is refused here
too: a table is shared, and a lenient parser would store what locks the others out.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TypeVar

from lakebed.errors import InvalidArgumentError

OptionValue = str | int | float | bool

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1

_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_QUANTITY = re.compile(r"\s*([0-9]{1,19})\s*([^0-9\s]*)\s*")

_BYTES_BY_UNIT: dict[str, int] = {
    **dict.fromkeys(("", "b", "bytes"), 1),
    **dict.fromkeys(("k", "kb", "kibibytes"), 1 << 10),
    **dict.fromkeys(("m", "mb", "mebibytes"), 1 << 20),
    **dict.fromkeys(("g", "gb", "gibibytes"), 1 << 30),
    **dict.fromkeys(("t", "tb", "tebibytes"), 1 << 40),
}

_NANOS = 1
_MICROS = 1000 * _NANOS
_MILLIS = 1000 * _MICROS
_SECONDS = 1000 * _MILLIS
_MINUTES = 60 * _SECONDS
_HOURS = 60 * _MINUTES
_NANOS_BY_UNIT = {
    **dict.fromkeys(("ns", "nano", "nanos", "nanosecond", "nanoseconds"), _NANOS),
    **dict.fromkeys(("\u00b5s", "micro", "micros", "microsecond", "microseconds"), _MICROS),
    **dict.fromkeys(("", "ms", "milli", "millis", "millisecond", "milliseconds"), _MILLIS),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), _SECONDS),
    **dict.fromkeys(("m", "min", "minute", "minutes"), _MINUTES),
    **dict.fromkeys(("h", "hour", "hours"), _HOURS),
    **dict.fromkeys(("d", "day", "days"), 24 * _HOURS),
}

EnumType = TypeVar("EnumType", bound=Enum)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueType:
    """What kind of value an option takes.

    Attributes:
        name: How the documentation calls it.
        parse: From (text, key) to the value; raises InvalidArgumentError.
    """

    name: str
    parse: Callable[[str, str], object]


def format_value(value: OptionValue) -> str:
    """The text that a table's schema stores for a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def parse_text(text: str, _key: str) -> str:
    """Any text, as it is."""
    return text


def parse_word_in_any_case(text: str, _key: str) -> str:
    """A word whose case says nothing, such as a codec's name: in lower case."""
    return text.lower()


def parse_boolean(text: str, key: str) -> bool:
    """`true` or `false` in any case."""
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    raise _wrong(text, key, "true or false")


def parse_integer(text: str, key: str) -> int:
    """A whole number of 32 bits."""
    return _parse_whole(text, key, bounds=(INT_MIN, INT_MAX))


def parse_long(text: str, key: str) -> int:
    """A whole number of 64 bits."""
    return _parse_whole(text, key, bounds=(LONG_MIN, LONG_MAX))


def parse_positive(text: str, key: str) -> int:
    """A whole number from 1 to the largest of 32 bits."""
    return _parse_whole(text, key, bounds=(1, INT_MAX))


def parse_positive_long(text: str, key: str) -> int:
    """A whole number from 1 to the largest of 64 bits."""
    return _parse_whole(text, key, bounds=(1, LONG_MAX))


def parse_bucket_count(text: str, key: str) -> int:
    """The option `bucket`: a count of buckets, or -1 or -2 for the modes without a fixed one."""
    if _INTEGER.fullmatch(text) and (int(text) in (-1, -2) or 0 < int(text) <= INT_MAX):
        return int(text)
    raise _wrong(text, key, "a number of buckets from 1 on, -1 (no fixed number) or -2 (postponed)")


def parse_number(text: str, key: str) -> float:
    """A decimal number."""
    if _NUMBER.fullmatch(text):
        return float(text)
    raise _wrong(text, key, "a number such as 0.2")


def parse_size(text: str, key: str) -> int:
    """A memory size in bytes, from text such as `128 mb`, `4kb` or `500 bytes`."""
    match = _QUANTITY.fullmatch(text)
    if match and (multiplier := _BYTES_BY_UNIT.get(match[2].lower())):
        size_bytes = int(match[1]) * multiplier
        if size_bytes <= LONG_MAX:
            return size_bytes
    raise _wrong(text, key, "a memory size such as 128 mb; units are b, kb, mb, gb, tb")


def parse_positive_size(text: str, key: str) -> int:
    """A memory size of at least one byte."""
    if (size_bytes := parse_size(text, key)) > 0:
        return size_bytes
    raise _wrong(text, key, "a memory size greater than zero, such as 128 mb")


def parse_duration(text: str, key: str) -> timedelta:
    """A duration, from text such as `1 h`, `30 d`, `10 s` or `1 min`; bare numbers are ms."""
    match = _QUANTITY.fullmatch(text)
    unit = _NANOS_BY_UNIT.get(match[2].lower()) if match else None
    if match and unit and int(match[1]) <= LONG_MAX:
        try:
            return timedelta(microseconds=int(match[1]) * unit // _MICROS)
        except OverflowError as error:
            raise _wrong(text, key, f"a duration of at most {timedelta.max.days} d") from error
    raise _wrong(text, key, "a duration such as 1 h; units are ms, s, min, h, d")


def parse_names(text: str, key: str) -> tuple[str, ...]:
    """Names separated by commas."""
    names = tuple(name.strip() for name in text.split(","))
    if "" in names:
        raise _wrong(text, key, "names separated by commas, such as a,b")
    if len(set(names)) < len(names):
        raise _wrong(text, key, "names separated by commas, each once")
    return names


def parse_exact_names(text: str, key: str) -> tuple[str, ...]:
    """Names separated by commas where a space belongs to the name, as in `bucket-key`."""
    if not text.strip():
        return ()
    names = tuple(text.split(","))
    if "" in names or len(set(names)) < len(names):
        raise _wrong(text, key, "names separated by commas, each once, without spaces around them")
    return names


def parse_map(text: str, key: str) -> dict[str, str]:
    """Pairs such as `0:avro,5:orc`."""
    pairs = [pair.split(":") for pair in text.split(",")] if text else []
    if any(len(pair) != 2 for pair in pairs):
        raise _wrong(text, key, "pairs such as 0:avro,5:orc")
    return {name.strip(): value.strip() for name, value in pairs}


def parse_member(text: str, key: str, *, of: type[EnumType]) -> EnumType:
    """A member of an enumeration by its value, in any case."""
    for member in of:
        if str(member.value).lower() == text.lower():
            return member
    raise _wrong(text, key, f"one of {', '.join(str(member.value) for member in of)}")


def parse_word(text: str, key: str, *, of: Sequence[str]) -> str:
    """One of some words, in any case; the result has the spelling of the list."""
    for word in of:
        if word.lower() == text.lower():
            return word
    raise _wrong(text, key, f"one of {', '.join(of)}")


def _parse_whole(text: str, key: str, *, bounds: tuple[int, int]) -> int:
    if _INTEGER.fullmatch(text) and bounds[0] <= int(text) <= bounds[1]:
        return int(text)
    raise _wrong(text, key, f"a whole number from {bounds[0]} to {bounds[1]}")


def _wrong(text: str, key: str, allowed: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"option {key!r} cannot be {text!r}: it takes {allowed}.")
