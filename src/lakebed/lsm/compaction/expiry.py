"""Which rows are too old to be written again?

Where `record-level.expire-time` is set, a compaction reads its files as if rows past that age were
not there. So an expired row merges with no other, and no changelog tells that it went; until then
readers see it. The age is told by a column in seconds of the epoch, in milliseconds (a BIGINT from
10^12 on), or a timestamp, taken for UTC where it has no zone. A row without a time never expires.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import pyarrow as pa

from lakebed.errors import InvalidTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.lsm.section_plan import Mask
from lakebed.options.compaction_options import CompactionOptions

_TIME_ROOTS = (TypeRoot.INT, TypeRoot.BIGINT, TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
_MS_PER_SECOND = 1000
_MILLISECONDS_FROM = 10**12
_UNITS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordExpiry:
    """Which rows of a table have expired at some moment.

    Attributes:
        field: `record-level.time-field`.
        oldest_s: The oldest time that is kept, in seconds of the epoch.
    """

    field: DataField
    oldest_s: int

    @classmethod
    def of(
        cls, options: CompactionOptions, fields: Sequence[DataField], *, now_ms: int
    ) -> "RecordExpiry | None":
        """The expiry that the options ask for, if they do.

        Args:
            options: The options.
            fields: The table's columns.
            now_ms: The moment, in milliseconds of the epoch.

        Raises:
            InvalidTableError: There is no such column, or none that tells a time.
        """
        name = options.record_time_field
        if name is None:
            if options.record_expire_time is None:
                return None
            raise InvalidTableError(
                "record-level.expire-time needs record-level.time-field: the column that a row's "
                "age is counted from"
            )
        field = next((field for field in fields if field.name == name), None)
        if field is None:
            names = ", ".join(field.name for field in fields)
            raise InvalidTableError(f"record-level.time-field names {name!r}; there are {names}")
        if not isinstance(field.type, AtomicType) or field.type.root not in _TIME_ROOTS:
            raise InvalidTableError(
                f"record-level.time-field names {name!r}, whose type tells no time: it is one of "
                "INT, BIGINT, TIMESTAMP and TIMESTAMP_LTZ"
            )
        if options.record_expire_time is None:
            return None
        lifetime_s = options.record_expire_time // timedelta(seconds=1)
        return cls(field=field, oldest_s=now_ms // _MS_PER_SECOND - lifetime_s)

    def expired(self, times: ArrowColumn) -> Mask:
        """Which of some times are those of expired rows."""
        old = pc.less(_seconds(times), self.oldest_s)
        found: Mask = pc.fill_null(old, fill_value=False).to_numpy(zero_copy_only=False)
        return found

    def possible(self, least: ArrowColumn, greatest: ArrowColumn) -> Mask:
        """Whether there may be expired rows between bounds of times; nulls where none are known."""
        possible = pc.or_(pc.is_null(least), pa.array(self.expired(least)))
        if pa.types.is_int64(least.type):
            # Seconds and milliseconds in one column are in no order of time.
            mixed = pc.and_(
                pc.less(least, _MILLISECONDS_FROM), pc.greater_equal(greatest, _MILLISECONDS_FROM)
            )
            possible = pc.or_(possible, pc.fill_null(mixed, fill_value=True))
        found: Mask = possible.to_numpy(zero_copy_only=False)
        return found


def _seconds(times: ArrowColumn) -> ArrowColumn:
    """Times as seconds of the epoch."""
    seconds: ArrowColumn = pc.cast(times, pa.int64())
    if pa.types.is_timestamp(times.type):
        seconds = pc.divide(seconds, _UNITS_PER_SECOND[times.type.unit])
    elif pa.types.is_int64(times.type):
        is_ms = pc.greater_equal(seconds, _MILLISECONDS_FROM)
        seconds = pc.if_else(is_ms, pc.divide(seconds, _MS_PER_SECOND), seconds)
    return seconds
