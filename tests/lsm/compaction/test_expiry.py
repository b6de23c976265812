"""Which times are past `record-level.expire-time`, and what bounds of them say."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from lakebed.format.schema_definition import schema
from lakebed.lsm.compaction.expiry import RecordExpiry
from lakebed.options.compaction_options import CompactionOptions

NOW_S = 1_767_225_600
HOUR_S = 3600
OLDEST_S = NOW_S - HOUR_S
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def expiry(time_type: str = "BIGINT", lifetime: str = "1 h") -> RecordExpiry:
    options = {"record-level.expire-time": lifetime, "record-level.time-field": "t"}
    fields = schema([("id", "INT NOT NULL"), ("t", time_type)]).fields
    found = RecordExpiry.of(CompactionOptions.parse(options), fields, now_ms=NOW_S * 1000 + 999)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("time_type", "kind", "per_second"),
    [
        ("INT", pa.int32(), 1),
        ("BIGINT", pa.int64(), 1),
        ("BIGINT", pa.int64(), 1000),
        *(("TIMESTAMP(9)", pa.timestamp(unit), count) for unit, count in UNITS.items()),
        *(
            ("TIMESTAMP(3) WITH LOCAL TIME ZONE", pa.timestamp(unit, "UTC"), count)
            for unit, count in UNITS.items()
        ),
    ],
)
def test_a_row_lives_for_so_many_whole_seconds_and_for_ever_without_a_time(
    time_type: str, kind: pa.DataType, per_second: int
) -> None:
    last = OLDEST_S * per_second
    times = pa.array([last - 1, last, last + 1, None, 0], pa.int64()).cast(kind)
    assert expiry(time_type).expired(times).tolist() == [True, False, False, False, True]


def test_a_part_of_a_second_of_the_lifetime_does_not_count() -> None:
    assert expiry(lifetime="3600999 ms").oldest_s == OLDEST_S


def test_a_date_far_ahead_is_young() -> None:
    far = pa.array([datetime(9999, 12, 31, tzinfo=UTC)], pa.timestamp("ms", "UTC"))
    assert not expiry("TIMESTAMP(3) WITH LOCAL TIME ZONE").expired(far).any()


@pytest.mark.parametrize(
    ("least", "greatest", "is_possible"),
    [
        (OLDEST_S, NOW_S, False),
        (OLDEST_S - 1, NOW_S, True),
        (None, None, True),
        (OLDEST_S * 1000, NOW_S * 1000, False),
        # A millisecond of 2001 is greater than a second of today.
        (OLDEST_S, 10**12, True),
        (OLDEST_S, 10**12 - 1, False),
        (OLDEST_S, None, True),
    ],
)
def test_bounds_say_whether_a_file_may_have_expired_rows(
    least: int | None, greatest: int | None, *, is_possible: bool
) -> None:
    found = expiry().possible(pa.array([least], pa.int64()), pa.array([greatest], pa.int64()))
    assert found.tolist() == [is_possible]
