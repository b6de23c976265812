"""`merge_map` and `merge_map_with_keytime`: the entries of all maps in one map.

`merge_map` keeps the value that a key was last given; to take a map back is to remove its keys. A
late row gives a key a value only where it has none.

`merge_map_with_keytime` has rows as values, and one of their fields is a time, as text. A key keeps
the row of the greatest time, the older one of equals; a row without a time changes nothing; a null
removes the key. The oldest map of a segment is taken as it is, nulls and missing times included,
because it may be the result of an earlier merge.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.layout import buffer_of, byte_positions, numbers_in
from lakebed.format.type_text import format_type
from lakebed.format.types import AtomicType, DataField, MapType, RowType, TypeRoot
from lakebed.lsm.functions.containers import kept_containers
from lakebed.lsm.functions.groups import Aggregate, FieldOptions, Mask, Segments
from lakebed.lsm.functions.histories import Histories, events_of, histories_of
from lakebed.lsm.functions.identities import identities, valid_mask
from lakebed.lsm.sort_keys import SortWords, sort_words

# Java compares text by UTF-16 units, where U+E000..U+FFFF come after all that need two units. In
# UTF-8 they begin with one of these bytes; moved above 0xF4, they sort as in UTF-16.
_FIRST_MOVED_LEAD = 0xEE
_LAST_MOVED_LEAD = 0xEF
_LEAD_SHIFT = 0x10


def make_merge_map(field: DataField, options: FieldOptions) -> Aggregate:
    """The function `merge_map` of a column.

    Raises:
        InvalidTableError: The column is no MAP.
    """
    del options
    _map_type(field, "merge_map")
    return _merge_map


def make_merge_map_with_keytime(field: DataField, options: FieldOptions) -> Aggregate:
    """The function `merge_map_with_keytime` of a column.

    Raises:
        InvalidTableError: The column is no MAP to a ROW of two fields at least with the time among
            them, as text.
    """
    name = "merge_map_with_keytime"
    row = _map_type(field, name).value
    if not isinstance(row, RowType) or len(row.fields) < 2:
        raise InvalidTableError(
            f"column {field.name!r}: {name} takes a MAP to ROW of two fields at least, "
            f"not {format_type(field.type)}"
        )
    time = row.fields[-1] if options.ts_field is None else row.field(options.ts_field)
    if time is None:
        raise InvalidTableError(
            f"column {field.name!r}: {name} has ts-field {options.ts_field!r}, "
            f"but the ROW has {', '.join(row.names)}"
        )
    kind = time.type
    if not isinstance(kind, AtomicType) or kind.root not in {TypeRoot.VARCHAR, TypeRoot.CHAR}:
        raise InvalidTableError(
            f"column {field.name!r}: {name} compares times as text, "
            f"but {time.name!r} is {format_type(kind)}"
        )
    return _MergeByTime(row.names.index(time.name))


def _map_type(field: DataField, name: str) -> MapType:
    if not isinstance(field.type, MapType):
        raise InvalidTableError(
            f"column {field.name!r}: {name} takes a MAP, not {format_type(field.type)}"
        )
    return field.type


def _merge_map(values: ArrowArray, segments: Segments) -> ArrowArray:
    events = events_of(values, segments)
    histories = histories_of(events.segment, identities(events.parts[0]))
    there = histories.after_last(events.retract[histories.order])
    if segments.late is None:
        kept = histories.last(there)
    else:
        late = segments.late[events.row][histories.order]
        given, spare = histories.last(there & ~late), histories.first(there & late)
        kept = np.where(given >= 0, given, np.where(spare < len(late), spare, -1))
    return kept_containers(
        events.parts,
        histories.order[kept[kept >= 0]],
        events.segment,
        begun=events.begun,
        kind=values.type,
    )


@dataclass(frozen=True, slots=True)
class _MergeByTime:
    """The greatest time of each key.

    Attributes:
        time_index: Which field of the row is the time.
    """

    time_index: int

    def __call__(self, values: ArrowArray, segments: Segments) -> ArrowArray:
        events = events_of(values, segments)
        histories = histories_of(events.segment, identities(events.parts[0]))
        given = valid_mask(events.parts[1])[histories.order]
        of_oldest = (events.row == events.oldest[events.segment])[histories.order]
        there = histories.after_last(~given & ~of_oldest)
        time = cast("pa.StructArray", events.parts[1]).field(self.time_index)
        timed = there & given & valid_mask(time)[histories.order]
        newest = _newest(histories, timed, _text_words(time))
        untimed = histories.last(there & of_oldest)
        kept = np.where(newest >= 0, newest, untimed)
        return kept_containers(
            events.parts,
            histories.order[kept[kept >= 0]],
            events.segment,
            begun=events.begun,
            kind=values.type,
        )


def _newest(histories: Histories, timed: Mask, words: SortWords) -> npt.NDArray[np.intp]:
    """Index into `order` of the first event of the greatest time; -1 where none has a time."""
    places = np.arange(len(histories.order))
    in_order = tuple(word[histories.order] for word in words)
    by_time = np.lexsort((-places, *in_order[::-1], timed, histories.of_event))
    ends = histories.starts + histories.lengths - 1
    newest: npt.NDArray[np.intp] = by_time[ends]
    return np.where(timed[newest], newest, -1)


def _text_words(text: ArrowArray) -> SortWords:
    """Words that sort as Java compares strings."""
    filled = pc.fill_null(text, "").cast(pa.large_binary())
    offsets, data = byte_positions(filled)
    units = numbers_in(data, np.uint8)
    moved = (units >= _FIRST_MOVED_LEAD) & (units <= _LAST_MOVED_LEAD)
    if moved.any():
        shifted = np.where(moved, units + _LEAD_SHIFT, units).astype(np.uint8)
        buffers = [None, buffer_of(offsets), buffer_of(shifted)]
        filled = pa.Array.from_buffers(pa.large_binary(), len(filled), buffers)
    return sort_words([pa.chunked_array([filled])])
