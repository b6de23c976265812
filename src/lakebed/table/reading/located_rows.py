"""Where does a row stand: in which partition and bucket, in which file, at which place there?

These are columns that a table has beside its own and that are read only when they are named
(`__paimon_…`), and in tables that track rows the id and age of each. A row that is merged from
several stands in no file.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema, to_arrow_type
from lakebed.format.arrow.typing import ArrowArray, repeated
from lakebed.format.fitted_rows import with_schema
from lakebed.format.predicate.evaluation import filter_table
from lakebed.format.predicate.expressions import Expression, columns_of
from lakebed.format.row_tracking import TRACKING_FIELDS
from lakebed.format.schema import TableSchema
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.table.planning.plan import Planner
from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.row_tracking import RowTrackingReader, TrackedRows, TrackedSource
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_plan import RowReader, ScanPlan, ScanSource
from lakebed.table.reading.scan_source import SnapshotSource

FILE_PATH, ROW_INDEX = "__paimon_file_path", "__paimon_row_index"
PARTITION, BUCKET = "__paimon_partition", "__paimon_bucket"
PLACE_COLUMNS = (ROW_INDEX, FILE_PATH, PARTITION, BUCKET)
TRACKING_COLUMNS = tuple(field.name for field in TRACKING_FIELDS)

_IN_FILES = frozenset({FILE_PATH, ROW_INDEX, *TRACKING_COLUMNS})
_TEXT = AtomicType(root=TypeRoot.VARCHAR, length=2147483647)


def located(scan: Scan, names: Sequence[str]) -> Scan:
    """The same rows with columns that say where each stands, behind the others.

    Args:
        scan: A scan of the table's own columns.
        names: Of `PLACE_COLUMNS` and `TRACKING_COLUMNS`.

    Raises:
        UnsupportedError: Rows of changes have no id.
    """
    source = scan.source
    reader = scan.reader
    needed = {*reader.columns, *(columns_of(reader.predicate) if reader.predicate else ())}
    if any(name in TRACKING_COLUMNS for name in names):
        if not isinstance(source, SnapshotSource):
            raise UnsupportedError(
                f"{' and '.join(TRACKING_COLUMNS)} of changes are not supported; read a snapshot"
            )
        columns = [name for name in reader.table_schema.names if name in needed]
        tracked = TrackedRows(columns=(*columns, *TRACKING_COLUMNS), predicate=None)
        source = TrackedSource(source=source, form=tracked)
    form = LocatedRows(columns=(*reader.columns, *names), predicate=reader.predicate)
    has_places = not _IN_FILES.isdisjoint(names)
    return replace(scan, source=LocatedSource(source=source, has_places=has_places), form=form)


def located_schema(schema: TableSchema) -> TableSchema:
    """A schema with the columns that say where a row stands at its end."""
    own = {name.lower() for name in schema.names}
    fields = (
        DataField(id=2147483547, name=ROW_INDEX, type=AtomicType(root=TypeRoot.BIGINT)),
        DataField(id=2147483546, name=FILE_PATH, type=_TEXT),
        DataField(id=2147483545, name=PARTITION, type=schema.partition_type),
        DataField(id=2147483544, name=BUCKET, type=AtomicType(root=TypeRoot.INT)),
        *TRACKING_FIELDS,
    )
    added = (field for field in fields if field.name.lower() not in own)
    return replace(schema, fields=(*schema.fields, *added))


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedRows:
    """Rows with their places.

    Attributes:
        columns: Columns out, in order.
        predicate: Over the table's own columns; None for all rows.
    """

    columns: tuple[str, ...]
    predicate: Expression | None

    def __call__(self, reader: RowReader, source: ScanSource) -> RowReader:  # noqa: ARG002
        """What reads the rows in this form."""
        return LocatedReader(reader=reader, columns=self.columns, predicate=self.predicate)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedSource:
    """A source whose rows are read with their places.

    Attributes:
        source: Where the rows come from.
        has_places: Whether it is asked where in a file a row stands.
    """

    source: ScanSource
    has_places: bool

    def plan(self, planner: Planner, reader: SplitReader) -> ScanPlan:
        """The splits of the source.

        Raises:
            UnsupportedError: Its rows stand in no file.
        """
        plan = self.source.plan(planner, reader)
        if not isinstance(plan.reader, SplitReader | RowTrackingReader):
            raise UnsupportedError(
                "columns that say where a row stands are not supported of a comparison of"
                " snapshots and of two branches; read a snapshot, or incremental_mode='delta'"
            )
        if self.has_places and not all(split.is_raw for split in plan.splits):
            raise UnsupportedError(
                f"{FILE_PATH} and {ROW_INDEX} are of rows as they are stored, and these are merged"
                " when they are read. Leave the columns out, compact the table fully, or set"
                " deletion-vectors.enabled"
            )
        return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedReader:
    """Reads rows with their places; travels to tasks.

    Attributes:
        reader: Reads the rows.
        columns: Columns out, in order.
        predicate: Rows out are those for which it is true; None for all.
        use_threads: Whether one `read` may use more than the calling thread.
    """

    reader: RowReader
    columns: tuple[str, ...]
    predicate: Expression | None
    use_threads: bool = False

    @property
    def table_schema(self) -> TableSchema:
        """The columns of the table and those that say where a row stands."""
        return located_schema(self.reader.table_schema)

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of every batch."""
        return to_arrow_schema([self.table_schema.field(name) for name in self.columns])

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        schema = self.schema
        for rows in self._read_tables(split):
            found = rows if self.predicate is None else filter_table(rows, self.predicate)
            if found.num_rows:
                yield from with_schema(found.select(list(self.columns)), schema).to_batches()

    def count(self, split: Split) -> int:
        """Number of rows of one split."""
        return sum(batch.num_rows for batch in self.read(split))

    def reads_as_stored(self, split: Split) -> bool:  # noqa: ARG002 - the protocol's signature
        """Never: no file has these columns."""
        return False

    def _read_tables(self, split: Split) -> Iterator[pa.Table]:
        reader = self._unfiltered()
        if _IN_FILES.isdisjoint(self.columns):
            for rows in reader.read(split):
                yield self._with(rows, self._constants(split, rows.num_rows))
            return
        for file in split.files:
            start, places = 0, self._places(file)
            for rows in reader.read(Split.of_file(file)):
                end = start + rows.num_rows
                found = self._constants(split, rows.num_rows)
                found[FILE_PATH] = repeated(pa.scalar(path_text(file.path)), rows.num_rows)
                found[ROW_INDEX] = pa.array(places[start:end])
                yield self._with(rows, found)
                start = end

    def _unfiltered(self) -> RowReader:
        """What reads all rows, so that none is taken out before it has been counted."""
        if not isinstance(self.reader, SplitReader):
            return replace(self.reader, use_threads=self.use_threads)
        wanted = {*self.columns, *(columns_of(self.predicate) if self.predicate else ())}
        names = tuple(name for name in self.reader.table_schema.names if name in wanted)
        return replace(self.reader, columns=names, predicate=None, use_threads=self.use_threads)

    def _places(self, file: SplitFile) -> npt.NDArray[np.int64]:
        """Where in a file its live rows stand."""
        reader = self.reader if isinstance(self.reader, SplitReader) else None
        if isinstance(self.reader, RowTrackingReader):
            reader = self.reader.reader
        removed = None if reader is None else reader.removed(file)
        places = np.arange(file.row_count, dtype=np.int64)
        return places if removed is None else places[~removed]

    def _constants(self, split: Split, count: int) -> dict[str, ArrowArray]:
        """What is the same for all rows of a split."""
        names = self.reader.table_schema.partition_keys
        values = dict(zip(names, split.partition, strict=True))
        kind = to_arrow_type(self.table_schema.field(PARTITION).type)
        return {
            PARTITION: repeated(pa.scalar(values, kind), count),
            BUCKET: repeated(pa.scalar(split.bucket, pa.int32()), count),
        }

    def _with(self, rows: pa.RecordBatch, others: Mapping[str, ArrowArray]) -> pa.Table:
        # A column of the table's own goes first, should it have such a name.
        return pa.table({**others, **dict(zip(rows.schema.names, rows.columns, strict=True))})


def path_text(path: str) -> str:
    """A path as Paimon prints it: without an authority, there are no slashes for one."""
    return f"file:{path.removeprefix('file://')}" if path.startswith("file:///") else path
