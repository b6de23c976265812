"""Texts that name a time, by a pattern: as text, and against the calendar."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datadriven.script import check_script
from lakebed.errors import InvalidArgumentError
from lakebed.format.time_pattern import TimePattern

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def time(told: tuple[str, ...]) -> list[str]:
    _, _, pattern = told[0].partition(" ")
    try:
        reader = TimePattern.of(pattern or None)
    except InvalidArgumentError as error:
        return [str(error).split(";", maxsplit=1)[0]]
    found = [reader.millis(text) for text in told[1:]]
    return ["none" if each is None else str(np.datetime64(each, "ms")) for each in found]


def test_time_pattern(request: pytest.FixtureRequest) -> None:
    rewrite = bool(request.config.getoption("--rewrite"))
    check_script(Path(__file__).with_name("time_pattern.txt"), {"time": time}, rewrite=rewrite)


PATTERNS = {
    None: "%Y-%m-%d %H:%M:%S",
    "yyyyMMdd HHmmss": "%Y%m%d %H%M%S",
    "uuuu-MM-dd'T'HH:mm:ss": "%Y-%m-%dT%H:%M:%S",
    "d.M.y H:m:s": "%d.%m.%Y %H:%M:%S",
}


@pytest.mark.parametrize("pattern", PATTERNS)
@given(moment=st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)))  # noqa: DTZ001
def test_what_is_written_by_a_pattern_is_read_by_it(pattern: str | None, moment: datetime) -> None:
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    found = TimePattern.of(pattern).millis(moment.strftime(PATTERNS[pattern]))
    assert found == (moment - EPOCH) // timedelta(milliseconds=1)
