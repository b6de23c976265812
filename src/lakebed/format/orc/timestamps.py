"""How are the timestamps of an ORC file read exactly, in any zone and any year?

A timestamp is two streams: seconds since 2015, and nanoseconds with their trailing zeros counted.
pyarrow decodes the file under a footer that calls timestamps LONG, so it finds nulls, nesting and
seconds; the nanoseconds are decoded here, and both are put together in the unit wanted.

Two things are as the format's writers have it, and not as one would think:

1. Seconds before 1970 are rounded towards it, yet nanoseconds count upwards. So a second is taken
   off again, but only from values with at least a millisecond, for the writers forget it below.
2. The second of 2015 is that of the writer's zone, and the clock shown there is the TIMESTAMP.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import orc

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.arrow.nested import (
    entries_of,
    part_of,
    values_of,
    with_entries,
    with_parts,
    with_values,
)
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.orc.lengths import check_lengths
from lakebed.format.orc.run_lengths import decode_unsigned
from lakebed.format.orc.tail import (
    OrcTail,
    OrcType,
    StreamKind,
    StripeFooter,
    TypeKind,
    read_stream,
    read_stripe_footer,
    tail_with_numbers,
)
from lakebed.format.patched_file import open_patched
from lakebed.format.time_zone import instants_of, local_times_in, parse_time_zone

Seconds = npt.NDArray[np.int64]

_EPOCH_OF_ORC = datetime(2015, 1, 1)  # noqa: DTZ001 - of any zone
_DIRECT_V2 = 2
_FORGOTTEN_NANOS_MAX = 999_999
_UNITS_A_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@dataclass(frozen=True, slots=True, kw_only=True)
class LtzStorage:
    """How TIMESTAMP_LTZ values are stored.

    Attributes:
        is_legacy: Value of `orc.timestamp-ltz.legacy.type`: whether the clock of UTC is stored as
            if it were that of the writer's zone.
        local_zone: The reader's zone, for files that do not say their writer's.
    """

    is_legacy: bool = True
    local_zone: str = "UTC"


def _zone_of(footer: StripeFooter, path: str) -> str | None:
    """The zone in which a stripe was written, as Arrow knows it; None where it does not say.

    Raises:
        UnsupportedError: There is no such zone here.
    """
    if not footer.zone:
        return None
    try:
        return parse_time_zone(footer.zone)
    except InvalidArgumentError as error:
        raise UnsupportedError(f"{path}: its writer's zone {footer.zone!r} is unknown") from error


def read_stripes_exactly(
    source: pa.NativeFile, tail: OrcTail, *, schema: pa.Schema, ltz: LtzStorage
) -> Iterator[pa.Table]:
    """The columns named by `schema`, stripe by stripe; timestamps in the units of the schema.

    Raises:
        CorruptTableError: The bytes are no such file.
        UnsupportedError: A timestamp is outside of what its Arrow type holds, an old encoding, or
            a zone that is unknown here.
    """
    numbers = orc.ORCFile(open_patched(source, tail.footer_start, tail_with_numbers(tail)))
    ids = dict(zip(tail.types[0].names, tail.types[0].children, strict=True))
    for index, stripe in enumerate(tail.stripes):
        check_lengths(source, tail, stripe, names=schema.names)
        batch = numbers.read_stripe(index, columns=schema.names)
        reading = _StripeReading(
            source=source, tail=tail, footer=read_stripe_footer(source, tail, stripe), ltz=ltz
        )
        columns = [
            reading.restore(batch.column(field.name), ids[field.name], field.type)
            for field in schema
        ]
        yield pa.table(columns, names=schema.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _StripeReading:
    """What it takes to restore the columns of one stripe."""

    source: pa.NativeFile
    tail: OrcTail
    footer: StripeFooter
    ltz: LtzStorage

    def restore(self, array: ArrowArray, column_id: int, target: pa.DataType) -> ArrowArray:
        """An array as decoded under the other footer, with its timestamps restored."""
        kind = self.tail.types[column_id]
        match kind.kind:
            case TypeKind.TIMESTAMP | TypeKind.TIMESTAMP_INSTANT:
                return self._timestamps(array, column_id, target)
            case TypeKind.LIST if isinstance(target, pa.ListType):
                values = self.restore(values_of(array), kind.children[0], target.value_type)
                return with_values(array, values)
            case TypeKind.MAP if isinstance(target, pa.MapType):
                keys, items = entries_of(array)
                entries = (
                    self.restore(keys, kind.children[0], target.key_type),
                    self.restore(items, kind.children[1], target.item_type),
                )
                return with_entries(array, entries)
            case TypeKind.STRUCT if isinstance(target, pa.StructType):
                return self._struct(array, kind, target)
        return array

    def _struct(self, array: ArrowArray, kind: OrcType, target: pa.StructType) -> ArrowArray:
        types = {field.name: field.type for field in target}
        parts = {
            name: self.restore(part_of(array, name), child, types[name])
            for name, child in zip(kind.names, kind.children, strict=True)
            if name in types
        }
        return with_parts(array, parts)

    def _timestamps(self, array: ArrowArray, column_id: int, target: pa.DataType) -> ArrowArray:
        if not isinstance(target, pa.TimestampType):
            raise pa.ArrowInvalid("holds timestamps")
        is_valid = array.is_valid().to_numpy(zero_copy_only=False)
        stored = array.drop_null().to_numpy().astype(np.int64, copy=False)
        nanos = self._nanos(column_id, len(stored))
        seconds = self._clock(stored, nanos, column_id)
        values = np.zeros(len(array), np.int64)
        values[is_valid] = self._in_unit(seconds, nanos, target.unit)
        return pa.array(values, mask=~is_valid).view(target)

    def _nanos(self, column_id: int, count: int) -> Seconds:
        span = self.footer.streams.get((column_id, StreamKind.SECONDARY), (0, 0))
        if self.footer.encodings[column_id] != _DIRECT_V2 and count:
            raise UnsupportedError(
                f"{self.tail.path}: its timestamps have the encoding of ORC 0.11"
            )
        coded = decode_unsigned(read_stream(self.source, self.tail, span), count, self.tail.path)
        zeros = coded & 7
        return (coded >> 3) * np.where(zeros > 0, 10 ** (zeros + 1), 1)

    def _clock(self, stored: Seconds, nanos: Seconds, column_id: int) -> Seconds:
        """Seconds since 1970 of the clock that a TIMESTAMP shows, or of UTC for an instant."""
        zone = _zone_of(self.footer, self.tail.path)
        is_instant = self.tail.types[column_id].kind == TypeKind.TIMESTAMP_INSTANT
        base_zone = "UTC" if is_instant or zone is None else zone
        instants = stored + _seconds_of_epoch(base_zone)
        instants -= (instants < 0) & (nanos > _FORGOTTEN_NANOS_MAX)
        if not is_instant:
            return _clock_in(instants, base_zone)
        if not self.ltz.is_legacy:
            return instants
        return _clock_in(instants, zone or self.ltz.local_zone)

    def _in_unit(self, seconds: Seconds, nanos: Seconds, unit: str) -> Seconds:
        units = _UNITS_A_SECOND[unit]
        parts, lost = np.divmod(nanos, 10**9 // units)
        limit = np.iinfo(np.int64).max // units
        if lost.any() or (seconds >= limit).any() or (seconds <= -limit).any():
            raise UnsupportedError(
                f"{self.tail.path}: a timestamp is finer than {unit}, or outside of what 64 bits "
                f"of {unit} hold; read it as another precision"
            )
        restored: Seconds = seconds * units + parts
        return restored


def _seconds_of_epoch(zone: str) -> int:
    epoch = instants_of(pa.array([_EPOCH_OF_ORC], pa.timestamp("s")), zone)
    seconds: int = epoch.cast(pa.int64())[0].as_py()
    return seconds


def _clock_in(instants: Seconds, zone: str) -> Seconds:
    times = local_times_in(pa.array(instants).view(pa.timestamp("s", "UTC")), zone)
    seconds: Seconds = times.view(pa.int64()).to_numpy()
    return seconds
