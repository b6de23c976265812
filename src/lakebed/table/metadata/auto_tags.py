"""Which tags were made automatically, and for which time (options `tag.*`)?

The name of an automatic tag is its time, in a pattern that the options of the table choose.
"""

import re
from collections.abc import Mapping
from datetime import datetime

_DAY, _DAY_TIGHT = "%Y-%m-%d", "%Y%m%d"
_PATTERNS = {
    ("daily", "with_dashes"): _DAY,
    ("daily", "without_dashes"): _DAY_TIGHT,
    ("daily", "without_dashes_and_spaces"): _DAY_TIGHT,
    ("hourly", "with_dashes"): f"{_DAY} %H",
    ("hourly", "without_dashes"): f"{_DAY_TIGHT} %H",
    ("hourly", "without_dashes_and_spaces"): f"{_DAY_TIGHT}%H",
    ("two-hours", "with_dashes"): f"{_DAY} %H",
    ("two-hours", "without_dashes"): f"{_DAY} %H",
    ("two-hours", "without_dashes_and_spaces"): f"{_DAY} %H",
}
_MINUTE = f"{_DAY_TIGHT}%H%M"


def auto_tag_time(name: str, options: Mapping[str, str]) -> datetime | None:
    """The time that an automatic tag stands for; None for a tag of another sort.

    Args:
        name: The tag's.
        options: The table's.
    """
    period = options.get("tag.creation-period", "daily").lower()
    formatter = options.get("tag.period-formatter", "with_dashes").lower()
    pattern = _PATTERNS.get((period, formatter))
    if "tag.creation-period-duration" in options:
        pattern = _MINUTE
    elif period == "daily":
        name = name.split(" ", maxsplit=1)[0]
    if pattern is None:
        return None
    width = len(pattern) + pattern.count("%Y") * 2
    # The pattern of the standard library takes fewer digits than two, where the format does not.
    if len(name) != width or not re.fullmatch(r"[0-9 -]+", name):
        return None
    try:
        return datetime.strptime(name, pattern)  # noqa: DTZ007
    except ValueError:
        return None
