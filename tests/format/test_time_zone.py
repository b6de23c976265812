"""Local times and instants of a zone, in all years."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.arrow.typing import scalar_of
from lakebed.format.time_zone import instants_of, local_times_in

ZONES = ["America/New_York", "Australia/Lord_Howe", "Europe/Dublin", "Africa/Casablanca"]
# From 1970 to 9892.
LOCAL_TIMES = st.integers(0, 250_000_000_000).map(
    lambda second: datetime.fromtimestamp(second, UTC).replace(tzinfo=None)
)


@pytest.mark.parametrize("zone", ZONES)
@given(moments=st.lists(LOCAL_TIMES, min_size=1, max_size=8))
def test_offsets_are_those_of_python_in_early_and_late_years(
    zone: str, moments: list[datetime]
) -> None:
    region = ZoneInfo(zone)
    instants = pa.array([m.replace(tzinfo=UTC) for m in moments], pa.timestamp("us", "UTC"))
    shown = [m.replace(tzinfo=UTC).astimezone(region).replace(tzinfo=None) for m in moments]
    assert local_times_in(instants, zone).to_pylist() == shown
    # Python reads a skipped time with the offset before the gap, too, and a repeated one first.
    local_times = pa.array([*moments, None], pa.timestamp("us"))
    expected = [m.replace(tzinfo=region).astimezone(UTC) for m in moments]
    assert instants_of(local_times, zone).to_pylist() == [*expected, None]


@pytest.mark.parametrize("year", [2024, 2045, 2099, 5000])
def test_skipped_and_repeated_hours_have_the_offset_before_the_change(year: int) -> None:
    # New York changes at two o'clock on the second Sunday of March and the first of November.
    march, november = (
        next(day for n in range(7) if (day := first + timedelta(days=n)).weekday() == 6)
        for first in (
            datetime(year, 3, 8, 2, 30, tzinfo=UTC),
            datetime(year, 11, 1, 1, 30, tzinfo=UTC),
        )
    )
    for local_time, hours in ((march, 5), (november, 4)):
        instant = instants_of(
            scalar_of(local_time.replace(tzinfo=None), pa.timestamp("us")), "America/New_York"
        )
        assert instant.as_py() == local_time + timedelta(hours=hours)
