"""Which tags were made automatically, and for which time (options `tag.*`)?

The name of an automatic tag is its time, in a pattern that the options of the table choose.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from lakebed.options.tag_options import TagOptions

_DAY, _DAY_TIGHT = "%Y-%m-%d", "%Y%m%d"
_PATTERNS = {
    ("daily", "with_dashes"): _DAY,
    ("daily", "without_dashes"): _DAY_TIGHT,
    ("daily", "without_dashes_and_spaces"): _DAY_TIGHT,
    ("hourly", "with_dashes"): f"{_DAY} %H",
    ("hourly", "without_dashes"): f"{_DAY_TIGHT} %H",
    ("hourly", "without_dashes_and_spaces"): f"{_DAY_TIGHT}%H",
}
_TWO_HOURS = f"{_DAY} %H"
_MINUTE = f"{_DAY_TIGHT}%H%M"
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of local times


@dataclass(frozen=True, slots=True, kw_only=True)
class TagPeriods:
    """The periods of automatic tags; times are local, of no zone.

    Attributes:
        pattern: Of the names.
        length: How long a period is.
        is_daily: Whether a name may tell more than the day, which is passed over.
    """

    pattern: str
    length: timedelta
    is_daily: bool

    @classmethod
    def of(cls, options: TagOptions) -> "TagPeriods":
        """Those that the options of a table say."""
        name = options.period_name
        pattern = _MINUTE
        if name is not None:
            pattern = _PATTERNS.get((name, options.formatter), _TWO_HOURS)
        return cls(pattern=pattern, length=options.period, is_daily=name == "daily")

    def time_of(self, name: str) -> datetime | None:
        """When the period of an automatic tag began; None for a tag of another sort."""
        if self.is_daily:
            name = name.split(" ", maxsplit=1)[0]
        width = len(self.pattern) + self.pattern.count("%Y") * 2
        # The pattern of the standard library takes fewer digits than two, where the format does
        # not.
        if len(name) != width or not re.fullmatch(r"[0-9 -]+", name):
            return None
        try:
            return datetime.strptime(name, self.pattern)  # noqa: DTZ007
        except ValueError:
            return None

    def name_of(self, time: datetime) -> str:
        """The name of the tag of a period that begins at a time."""
        return time.strftime(self.pattern)

    def after(self, time: datetime) -> datetime:
        """When the period after that of a time begins."""
        return time + self.length

    def last_ended(self, time: datetime) -> datetime:
        """When the period began that ended last at a time."""
        return _EPOCH + ((time - _EPOCH) // self.length - 1) * self.length


def auto_tag_time(name: str, options: Mapping[str, str]) -> datetime | None:
    """The time that an automatic tag stands for; None for a tag of another sort.

    Args:
        name: The tag's.
        options: The table's.

    Raises:
        InvalidArgumentError: An option of tags cannot be.
    """
    return TagPeriods.of(TagOptions.parse(options)).time_of(name)
