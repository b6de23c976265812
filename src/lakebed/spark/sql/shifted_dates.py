"""Which date is a date and an interval, as `DATE '1994-01-01' + INTERVAL '3' MONTH`?"""

import calendar
import re
from datetime import date, timedelta

from sqlglot import exp

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_COUNT = re.compile(r"-?\d{1,6}")
_MONTHS = {"MONTH": 1, "MONTHS": 1, "YEAR": 12, "YEARS": 12}
_DAYS = {"DAY": 1, "DAYS": 1}


def shifted_date(day: str, interval: exp.Interval, *, sign: int) -> date | None:
    """The date that is meant; None where only Spark can say.

    Args:
        day: The text of a date.
        interval: What is added to it.
        sign: 1, or -1 where it is taken away.
    """
    count, unit = interval.this, interval.args.get("unit")
    if not isinstance(count, exp.Literal) or not isinstance(unit, exp.Var):
        return None
    if not _DAY.fullmatch(day) or not _COUNT.fullmatch(count.this):
        return None
    word, steps = unit.name.upper(), sign * int(count.this)
    try:
        start = date.fromisoformat(day)
        if word in _DAYS:
            return start + timedelta(days=steps)
        return _months_later(start, steps * _MONTHS[word]) if word in _MONTHS else None
    except (ValueError, OverflowError):
        return None


def _months_later(start: date, months: int) -> date:
    """The same day of another month, or the last day of one that is shorter."""
    years, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    last = calendar.monthrange(years, month + 1)[1]
    return start.replace(year=years, month=month + 1, day=min(start.day, last))
