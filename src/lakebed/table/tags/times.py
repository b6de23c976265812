"""Which local time is an instant, for tags?"""

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from lakebed.format.time_zone import parse_time_zone

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def local_time(time_ms: int, zone: tzinfo) -> datetime | None:
    """What clocks in a zone show at epoch milliseconds; None outside of the years 1 to 9999."""
    try:
        instant = _EPOCH + timedelta(milliseconds=time_ms)
        return instant.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        return None


def named_zone(text: str) -> tzinfo:
    """The zone of a region such as `Europe/Paris`, or of an offset such as `GMT-08:00`.

    Raises:
        InvalidArgumentError: There is no such zone.
    """
    name = parse_time_zone(text)
    if name[0] not in "+-":
        return ZoneInfo(name)
    hours, minutes = map(int, name[1:].split(":"))
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if name[0] == "-" else offset)
