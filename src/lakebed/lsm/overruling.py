"""Do new rows come out of a merge with stored ones as they went in?

Where not the newest row of a key wins as it is, what is written need not be what is read:

    stored                new                  merged
    (a, v 1, seq 7)       (a, v 2, seq 5)      (a, v 1, seq 7)       `sequence.field`
    (a, v 1)              (a, v null)          (a, v 1)              `partial-update`
"""

from dataclasses import dataclass, replace

import pyarrow as pa

from lakebed.lsm.engines import Folding, Picking
from lakebed.lsm.merge import deduplicate
from lakebed.lsm.same_rows import same_rows
from lakebed.lsm.write_buffer import WriteBuffer


@dataclass(frozen=True, slots=True, kw_only=True)
class Overruled:
    """A new value that a merge does not keep.

    Attributes:
        column: The column.
        key: Values of the key columns.
        new: The value.
        merged: What the merge makes of it.
    """

    column: str
    key: dict[str, object]
    new: object
    merged: object


def keeps_newest(merging: Picking | Folding) -> bool:
    """Whether the newest row of a key wins as it is."""
    return isinstance(merging, Picking) and not merging.order.sequence_fields


def find_overruled(stored: pa.Table, new: pa.Table, merging: Picking | Folding) -> Overruled | None:
    """The first value of new rows that a merge with stored ones does not keep, if there is one.

    Args:
        stored: Rows as they are read, each of another key.
        new: Rows of the same keys, in the same columns.
        merging: How the rows of a key become one, `deduplicate` or a merge that makes rows.

    Raises:
        InvalidDataError: Rows that the merge engine forbids.
    """
    order = merging.order
    as_written = Picking(order=replace(order, sequence_fields=()), pick=deduplicate)
    wanted = _merged([new], as_written)
    merged = _merged([stored, new], merging)
    for name in new.column_names:
        same = same_rows(merged, wanted, [name])
        if not same.all():
            row = int(same.argmin())
            return Overruled(
                column=name,
                key={each: wanted[each][row].as_py() for each in order.key_names},
                new=wanted[name][row].as_py(),
                merged=merged[name][row].as_py(),
            )
    return None


def _merged(tables: list[pa.Table], merging: Picking | Folding) -> pa.Table:
    buffer = WriteBuffer(tables[0].column_names, merging=merging, first_sequence=0)
    for rows in tables:
        buffer.add(rows)
    flushed = buffer.flush()
    return pa.concat_tables(flushed.run) if flushed else tables[0]
