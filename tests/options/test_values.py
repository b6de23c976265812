from datetime import timedelta

import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.options import values
from lakebed.options.choices import BucketFunction, StatsKind, StatsMode
from lakebed.options.values import OptionValue


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), (4, "4"), (0.05, "0.05"), ("zstd", "zstd")],
)
def test_a_value_is_stored_in_the_formats_spelling(value: OptionValue, text: str) -> None:
    assert values.format_value(value) == text


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("128 mb", 128 << 20),
        ("4kb", 4096),
        ("500 bytes", 500),
        ("500", 500),
        (" 1 GB ", 1 << 30),
        ("3 t", 3 << 40),
        ("2mebibytes", 2 << 20),
        ("9223372036854775807 b", 2**63 - 1),
    ],
)
def test_a_memory_size_is_read_in_every_unit(text: str, size_bytes: int) -> None:
    assert values.parse_size(text, "k") == size_bytes


@pytest.mark.parametrize(
    "text", ["", "mb", "-1 mb", "1.5 mb", "1 mib", "1 mb 2", "8388608 tb", "9" * 5000]
)
def test_a_bad_memory_size_names_key_value_and_units(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        values.parse_size(text, "target-file-size")

    assert "'target-file-size'" in str(caught.value)
    assert repr(text) in str(caught.value)
    assert "128 mb" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("1 h", timedelta(hours=1)),
        ("30 d", timedelta(days=30)),
        ("10 s", timedelta(seconds=10)),
        ("1 min", timedelta(minutes=1)),
        ("5m", timedelta(minutes=5)),
        ("10 ms", timedelta(milliseconds=10)),
        ("250", timedelta(milliseconds=250)),
        ("7 micros", timedelta(microseconds=7)),
        ("2000 ns", timedelta(microseconds=2)),
        ("2 DAYS", timedelta(days=2)),
    ],
)
def test_a_duration_is_read_in_every_unit(text: str, duration: timedelta) -> None:
    assert values.parse_duration(text, "k") == duration


@pytest.mark.parametrize("text", ["", "h", "-1 h", "1.5 h", "1 week", "9223372036854775807 d"])
def test_a_bad_duration_is_rejected(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"commit\.timeout"):
        values.parse_duration(text, "commit.timeout")


@pytest.mark.parametrize("text", ["yes", "1", "", " true"])
def test_a_boolean_is_true_or_false_and_nothing_else(text: str) -> None:
    assert values.parse_boolean("TRUE", "k")
    assert not values.parse_boolean("False", "k")
    with pytest.raises(InvalidArgumentError, match="true or false"):
        values.parse_boolean(text, "write-only")


@pytest.mark.parametrize("text", ["", "1_000", " 1", "1.0", "2147483648", "\u0661", "9" * 5000])
def test_an_integer_that_other_clients_cannot_read_is_rejected(text: str) -> None:
    assert values.parse_integer("-12", "k") == -12
    with pytest.raises(InvalidArgumentError, match="whole number"):
        values.parse_integer(text, "k")


@pytest.mark.parametrize("text", ["0", "-3", "x", "2147483648"])
def test_a_bucket_count_is_positive_or_a_mode(text: str) -> None:
    assert [values.parse_bucket_count(each, "bucket") for each in ("-2", "-1", "7")] == [-2, -1, 7]
    with pytest.raises(InvalidArgumentError, match="'bucket'"):
        values.parse_bucket_count(text, "bucket")


@pytest.mark.parametrize("text", ["nan", "inf", "", "0,2"])
def test_a_number_is_decimal(text: str) -> None:
    assert values.parse_number("0.2", "k") == 0.2
    with pytest.raises(InvalidArgumentError):
        values.parse_number(text, "k")


def test_names_are_split_at_commas_each_once() -> None:
    assert values.parse_names("a, b", "sequence.field") == ("a", "b")
    for text in ("a,,b", "", "a,a"):
        with pytest.raises(InvalidArgumentError, match=r"sequence\.field"):
            values.parse_names(text, "sequence.field")


def test_a_bucket_key_keeps_its_spaces_because_other_clients_do() -> None:
    assert values.parse_exact_names("a, b", "bucket-key") == ("a", " b")
    assert values.parse_exact_names("", "bucket-key") == ()
    with pytest.raises(InvalidArgumentError):
        values.parse_exact_names("a,", "bucket-key")


def test_pairs_are_split_at_colons() -> None:
    assert values.parse_map("0:avro,5:orc", "k") == {"0": "avro", "5": "orc"}
    assert values.parse_map("", "k") == {}
    with pytest.raises(InvalidArgumentError, match="0:avro"):
        values.parse_map("avro", "k")


def test_a_choice_is_read_in_any_case_and_lists_what_there_is() -> None:
    read = values.parse_member("MOD", "bucket-function.type", of=BucketFunction)
    assert read is BucketFunction.MOD
    with pytest.raises(InvalidArgumentError, match="default, mod, hive"):
        values.parse_member("murmur", "bucket-function.type", of=BucketFunction)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("none", StatsMode(kind=StatsKind.NONE)),
        ("COUNTS", StatsMode(kind=StatsKind.COUNTS)),
        ("truncate(16)", StatsMode(kind=StatsKind.TRUNCATE, length=16)),
        ("full", StatsMode(kind=StatsKind.FULL)),
    ],
)
def test_a_statistics_mode_is_read_and_spelled_back(text: str, mode: StatsMode) -> None:
    assert StatsMode.parse(text, "metadata.stats-mode") == mode
    assert str(mode) == text.lower()


@pytest.mark.parametrize("text", ["truncate", "truncate(0)", "truncate(-1)", "all", ""])
def test_a_bad_statistics_mode_is_rejected(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="truncate"):
        StatsMode.parse(text, "metadata.stats-mode")
