"""What becomes of a DATE, TIME or TIMESTAMP as another of them, or as a count of seconds?

An instant and a local time become each other in a time zone. Three things surprise, and are what
Java does: digits that a precision of 3 or less lacks are cut towards 1970, while finer ones are cut
towards the past; seconds are cut towards 1970 too; and a number of seconds becomes the instant at
which clocks in UTC show what clocks of the zone show at that second.
"""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.atoms import timestamp_unit, unit_digits
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.casts.columns import numpy_values, with_nulls_of
from lakebed.format.time_zone import instants_of, local_times_in
from lakebed.format.types import AtomicType, TypeRoot

__all__ = [
    "dates_of_timestamps",
    "integers_of_timestamps",
    "times_of_timestamps",
    "timestamps_of_dates",
    "timestamps_of_integers",
    "timestamps_of_times",
    "timestamps_of_timestamps",
]

_MILLIS_A_DAY = 86_400_000
_MILLIS_DIGITS = 3
_UTC = "UTC"


def timestamps_of_timestamps(
    values: Values, source: AtomicType, target: AtomicType, *, zone: str
) -> Values:
    """The same time at another precision, or on the clocks of the zone."""
    if source.root is not target.root:
        is_local = source.root is TypeRoot.TIMESTAMP
        values = instants_of(values, zone) if is_local else local_times_in(values, zone)
    digits = target.precision or 0
    if (source.precision or 0) > digits:
        values = _truncated(values, digits)
    return _in_unit_of(values, target)


def dates_of_timestamps(values: Values, source: AtomicType, *, zone: str) -> Values:
    """The day of a local time, or of an instant on the clocks of the zone."""
    millis = numpy_values(_epoch_millis(_local(values, source, zone)), fill=0)
    return with_nulls_of(values, (millis // _MILLIS_A_DAY).astype(np.int32)).cast(pa.date32())


def times_of_timestamps(values: Values, source: AtomicType, *, zone: str) -> Values:
    """The time of the day of a local time, or of an instant on the clocks of the zone."""
    millis = numpy_values(_epoch_millis(_local(values, source, zone)), fill=0)
    return with_nulls_of(values, (millis % _MILLIS_A_DAY).astype(np.int32)).cast(pa.time32("ms"))


def integers_of_timestamps(values: Values, target: AtomicType) -> Values:
    """Seconds since 1970, of which an INT keeps the low bits."""
    millis = _epoch_millis(values)
    seconds = pc.divide(millis, 1000)  # towards zero
    return pc.cast(
        seconds, pa.int64() if target.root is TypeRoot.BIGINT else pa.int32(), safe=False
    )


def timestamps_of_dates(values: Values, target: AtomicType, *, zone: str) -> Values:
    """Midnight."""
    local_times = pc.cast(values, pa.timestamp(timestamp_unit(target)))
    return local_times if target.root is TypeRoot.TIMESTAMP else instants_of(local_times, zone)


def timestamps_of_times(values: Values, target: AtomicType) -> Values:
    """That time of 1970-01-01, in UTC whatever the zone."""
    millis = pc.cast(pc.cast(values, pa.int32()), pa.int64())
    return _in_unit_of(pc.cast(millis, pa.timestamp("ms", _zone_of(target))), target)


def timestamps_of_integers(values: Values, target: AtomicType, *, zone: str) -> Values:
    """That many seconds after 1970."""
    # Java counts in milliseconds, which wrap around as NumPy's integers do.
    millis = numpy_values(values, fill=0).astype(np.int64) * 1000
    instants = pc.cast(with_nulls_of(values, millis), pa.timestamp("ms", _UTC))
    if target.root is TypeRoot.TIMESTAMP:
        zone = _UTC
    local_times = local_times_in(instants, zone)
    return _in_unit_of(local_times.view(pa.timestamp("ms", _zone_of(target))), target)


def _zone_of(target: AtomicType) -> str | None:
    return None if target.root is TypeRoot.TIMESTAMP else _UTC


def _local(values: Values, source: AtomicType, zone: str) -> Values:
    return values if source.root is TypeRoot.TIMESTAMP else local_times_in(values, zone)


def _epoch_millis(values: Values) -> Values:
    """Whole milliseconds since 1970, down to the past."""
    digits = unit_digits(values.type.unit)
    counts = numpy_values(pc.cast(values, pa.int64()), fill=0)
    if digits > _MILLIS_DIGITS:
        counts = counts // 10 ** (digits - _MILLIS_DIGITS)
    else:
        counts = counts * 10 ** (_MILLIS_DIGITS - digits)
    return with_nulls_of(values, counts)


def _truncated(values: Values, digits: int) -> Values:
    """Timestamps of the same type without the digits of a second beyond some."""
    present = unit_digits(values.type.unit)
    counts = numpy_values(pc.cast(values, pa.int64()), fill=0)
    if digits < _MILLIS_DIGITS:
        step, millisecond = 10 ** (present - digits), 10 ** (present - _MILLIS_DIGITS)
        counts = np.where(
            counts % step == 0,
            counts,
            _towards_zero(counts // millisecond * millisecond, step),
        )
    else:
        step = 10 ** (present - digits)
        counts = counts // step * step
    return pc.cast(with_nulls_of(values, counts), values.type)


def _towards_zero(counts: npt.NDArray[np.int64], step: int) -> npt.NDArray[np.int64]:
    rounded: npt.NDArray[np.int64] = counts - np.fmod(counts, step)
    return rounded


def _in_unit_of(values: Values, target: AtomicType) -> Values:
    """Timestamps in the unit of the target, which holds all their digits.

    Raises:
        pyarrow.ArrowInvalid: A time beyond the years that the unit can count.
    """
    return pc.cast(values, pa.timestamp(timestamp_unit(target), values.type.tz))
