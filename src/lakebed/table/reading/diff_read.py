"""What does a snapshot have that an older one lacks?

Both sides of a section are merged for themselves, and then compared by key:

    before   (a, 1) (b, 2) (c, 3)
    after    (a, 1) (b, 5)        (d, 4)
    out             (b, 5)        (d, 4)      and, where deletes are kept, (c, 3) as -D

The surprising thing: a row that the table still has may come out as new, when the file that holds
it is on one side and its rival on neither; and no file that both snapshots have is ever read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.typing import rows_without_columns
from lakebed.format.fitted_rows import with_schema
from lakebed.format.key_value import VALUE_KIND
from lakebed.format.predicate.evaluation import filter_table
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import DELETE, are_adds
from lakebed.lsm.same_rows import same_rows
from lakebed.lsm.sort_keys import sort_words
from lakebed.table.planning.split import Split, SplitSection
from lakebed.table.reading.read import SplitReader

Positions = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffReader:
    """Reads sections of two snapshots at once.

    Attributes:
        reader: Reads either side. Its columns and predicate are those of the rows out, and where
            it keeps deletes, rows that went come out as -D.
        before_count: Files of ordinals below this are of the older snapshot.
        use_threads: Whether one `read` may use more than the calling thread.
    """

    reader: SplitReader
    before_count: int
    use_threads: bool = False

    @property
    def table_schema(self) -> TableSchema:
        """The schema that is read."""
        return self.reader.table_schema

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns out, in order."""
        return self.reader.columns

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of every batch."""
        return self.reader.schema

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split; each section is held in memory as a whole."""
        schema = self.schema
        for table in self._read_tables(split):
            if not self.columns:
                yield rows_without_columns(table.num_rows)
                continue
            yield from with_schema(table.select(self.columns), schema).to_batches()

    def count(self, split: Split) -> int:
        """Number of rows of one split."""
        return sum(batch.num_rows for batch in self.read(split))

    def reads_as_stored(self, split: Split) -> bool:  # noqa: ARG002
        """Never: rows are compared."""
        return False

    def _read_tables(self, split: Split) -> Iterator[pa.Table]:
        for section in split.sections:
            rows = self._difference(
                self._side(split, section, is_before=True),
                self._side(split, section, is_before=False),
            )
            predicate = self.reader.predicate
            table = rows if predicate is None else filter_table(rows, predicate)
            if table.num_rows:
                yield table

    def _side(self, split: Split, section: SplitSection, *, is_before: bool) -> pa.Table:
        runs = (
            tuple(file for file in run if (file.ordinal < self.before_count) is is_before)
            for run in section.runs
        )
        names = self.table_schema.names
        system = [name for name in self.columns if name not in names]
        if self.reader.keep_deletes and VALUE_KIND.name not in system:
            system.append(VALUE_KIND.name)
        reader = replace(
            self.reader,
            columns=(*names, *system),
            predicate=None,
            use_threads=self.use_threads,
        )
        kept = tuple(run for run in runs if run)
        side = replace(split, sections=(SplitSection(kept),) if kept else ())
        return pa.Table.from_batches(list(reader.read(side)), reader.schema)

    def _difference(self, before: pa.Table, after: pa.Table) -> pa.Table:
        in_before, in_after = _pairs(before, after, self.table_schema.trimmed_primary_keys)
        is_same = same_rows(
            before.take(in_before),
            after.take(in_after),
            self.table_schema.names,
        )
        if self.reader.keep_deletes:
            is_same &= _adds(before)[in_before] == _adds(after)[in_after]
        keep = np.ones(after.num_rows, np.bool_)
        keep[in_after[is_same]] = False
        found = after.filter(pa.array(keep))
        if not self.reader.keep_deletes:
            return found
        gone = _adds(before)
        gone[in_before] = False
        deleted = before.filter(pa.array(gone))
        kinds = pa.array(np.full(deleted.num_rows, DELETE, np.int8))
        index = deleted.schema.get_field_index(VALUE_KIND.name)
        return pa.concat_tables(
            [found, deleted.set_column(index, deleted.schema.field(index), kinds)]
        )


def _adds(rows: pa.Table) -> npt.NDArray[np.bool_]:
    return are_adds(rows.column(VALUE_KIND.name).to_numpy().astype(np.int8))


def _pairs(before: pa.Table, after: pa.Table, keys: tuple[str, ...]) -> tuple[Positions, Positions]:
    """Positions of the rows of keys that both sides have; either side has a key once."""
    columns = [
        pa.chunked_array(
            [*before.column(key).chunks, *after.column(key).chunks], before.column(key).type
        )
        for key in keys
    ]
    words = sort_words(columns)
    order = np.lexsort(words[::-1])
    equal = np.ones(max(len(order) - 1, 0), np.bool_)
    for word in words:
        in_order = word[order]
        equal &= in_order[1:] == in_order[:-1]
    # The sort is stable, so the older side comes first.
    first = np.flatnonzero(equal)
    return order[first], order[first + 1] - before.num_rows
