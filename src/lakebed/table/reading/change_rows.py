"""How do rows with their kinds become rows of `$audit_log` and `$binlog`?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import ArrowChunks, rows_without_columns
from lakebed.format.fitted_rows import with_schema
from lakebed.format.key_value import VALUE_KIND
from lakebed.format.predicate.evaluation import filter_table
from lakebed.format.predicate.expressions import Expression
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import INSERT, UPDATE_BEFORE
from lakebed.table.planning.split import Split
from lakebed.table.reading.scan_plan import RowReader, ScanSource
from lakebed.table.reading.scan_source import ChangeSource, DiffSource, SnapshotSource

ROW_KIND_NAME = "rowkind"
_KINDS = pa.array(["+I", "-U", "+U", "-D"])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRows:
    """Rows with their kind as a text.

    Attributes:
        table_schema: The columns shown.
        columns: Those wanted, in order.
        predicate: Over the columns shown; None for all rows.
        kind_name: The column of the kinds.
    """

    table_schema: TableSchema
    columns: tuple[str, ...]
    predicate: Expression | None
    kind_name: str = ROW_KIND_NAME

    def __call__(self, reader: RowReader, source: ScanSource) -> "AuditReader":  # noqa: ARG002
        """What reads the rows of a source in this form."""
        return AuditReader(reader=reader, form=self)

    def shown(self, rows: pa.Table) -> pa.Table:
        """The rows and their kinds as a column; those of tables without a key are inserted ones."""
        if VALUE_KIND.name in rows.column_names:
            kinds = rows.column(VALUE_KIND.name)
        else:
            kinds = pa.chunked_array([pa.array(np.full(rows.num_rows, INSERT, np.int8))])
        return rows.append_column(self.kind_name, _KINDS.take(kinds.combine_chunks()))


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedRows(AuditRows):
    """The same for a stream, to which rows of a snapshot are new, whatever they were once."""

    def __call__(self, reader: RowReader, source: ScanSource) -> "AuditReader":
        """What reads the rows of a source in this form."""
        if isinstance(source, SnapshotSource):
            columns = tuple(name for name in reader.columns if name != VALUE_KIND.name)
            reader = replace(reader, columns=columns, keep_deletes=False)
        return AuditReader(reader=reader, form=self)


@dataclass(frozen=True, slots=True, kw_only=True)
class BinlogRows(AuditRows):
    """The same, with each column as an array, and updates as one row."""

    def __call__(self, reader: RowReader, source: ScanSource) -> "AuditReader":
        """What reads the rows of a source in this form.

        Raises:
            UnsupportedError: The rows are a difference, which knows no value before.
        """
        if isinstance(source, DiffSource):
            raise UnsupportedError(
                "$binlog of a comparison of snapshots is not supported; read $audit_log, or give "
                "incremental_mode='delta' or 'changelog'"
            )
        return BinlogReader(reader=reader, form=self, pairs=isinstance(source, ChangeSource))

    def packed(self, rows: pa.Table, starts: npt.NDArray[np.bool_]) -> pa.Table:
        """One row for each that is no second of a pair.

        Args:
            rows: In order, with their kinds; no pair is cut at the end.
            starts: Which rows are the first of a pair.
        """
        seconds = np.zeros(rows.num_rows, np.bool_)
        seconds[1:] = starts[:-1]
        firsts = np.flatnonzero(~seconds)
        offsets: pa.Int32Array = pa.array(np.append(firsts, rows.num_rows), pa.int32())
        lasts = np.append(firsts[1:], rows.num_rows) - 1
        shown = super(BinlogRows, self).shown(rows)
        columns: dict[str, ArrowChunks] = {}
        for name in shown.column_names:
            values = shown.column(name).combine_chunks()
            if name == ROW_KIND_NAME:
                columns[name] = pa.chunked_array([values.take(lasts)])
            elif name in self.columns and self.table_schema.field(name).id >= _SYSTEM_IDS:
                columns[name] = pa.chunked_array([values.take(firsts)])
            elif name != VALUE_KIND.name:
                columns[name] = pa.chunked_array([pa.ListArray.from_arrays(offsets, values)])
        return pa.table(columns)


_SYSTEM_IDS = VALUE_KIND.id


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReader:
    """Reads rows in another form.

    Attributes:
        reader: Reads the rows, with the column `_VALUE_KIND` where the table has a primary key.
        form: The form.
        use_threads: Whether one `read` may use more than the calling thread.
    """

    reader: RowReader
    form: AuditRows
    use_threads: bool = False

    @property
    def table_schema(self) -> TableSchema:
        """The columns shown."""
        return self.form.table_schema

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns out, in order."""
        return self.form.columns

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of every batch."""
        return to_arrow_schema([self.table_schema.field(name) for name in self.columns])

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        schema = self.schema
        for rows in self._tables(split):
            predicate = self.form.predicate
            found = rows if predicate is None else filter_table(rows, predicate)
            if not self.columns:
                yield rows_without_columns(found.num_rows)
            elif found.num_rows:
                yield from with_schema(found.select(list(self.columns)), schema).to_batches()

    def count(self, split: Split) -> int:
        """Number of rows of one split."""
        return sum(batch.num_rows for batch in self.read(split))

    def reads_as_stored(self, split: Split) -> bool:  # noqa: ARG002 - the protocol's signature
        """Never: no file holds the rows in this form."""
        return False

    def _tables(self, split: Split) -> Iterator[pa.Table]:
        for batch in self._inner().read(split):
            yield self.form.shown(pa.Table.from_batches([batch]))

    def _inner(self) -> RowReader:
        return replace(self.reader, use_threads=self.use_threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class BinlogReader(AuditReader):
    """Reads rows packed into arrays.

    Attributes:
        form: The form.
        pairs: Whether a -U row and the one after it are one change.
    """

    form: BinlogRows
    pairs: bool

    def _tables(self, split: Split) -> Iterator[pa.Table]:
        left: pa.Table | None = None
        for batch in self._inner().read(split):
            rows = pa.Table.from_batches([batch])
            if left is not None:
                rows = pa.concat_tables([left, rows])
            starts = self._pair_starts(rows)
            left = rows.slice(rows.num_rows - 1) if starts[-1] else None
            whole = rows.num_rows - int(starts[-1])
            if whole:
                yield self.form.packed(rows.slice(0, whole), starts[:whole])
        if left is not None:
            yield self.form.packed(left, np.zeros(1, np.bool_))

    def _pair_starts(self, rows: pa.Table) -> npt.NDArray[np.bool_]:
        """Which rows are the first of a pair: of a run of -U rows every other one."""
        if not self.pairs or VALUE_KIND.name not in rows.column_names:
            return np.zeros(rows.num_rows, np.bool_)
        is_before = pc.equal(rows.column(VALUE_KIND.name), UPDATE_BEFORE).to_numpy()
        places = np.arange(rows.num_rows)
        run_starts = np.maximum.accumulate(np.where(is_before, -1, places))
        starts: npt.NDArray[np.bool_] = is_before & ((places - run_starts) % 2 == 1)
        return starts
