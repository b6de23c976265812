"""How does a table with row tracking show the id and the age of each row (format.md 11)?

A file's rows are numbered from the id that its entry gives, in their order. Files that rewrote rows
have the ids and the sequence numbers of old rows in columns of their own, null where a row was
changed: then the entry's are used, which for the sequence number is the snapshot of the rewriting.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.fitted_rows import with_schema
from lakebed.format.predicate.evaluation import filter_table
from lakebed.format.predicate.expressions import Expression, columns_of
from lakebed.format.row_tracking import (
    ROW_ID,
    ROW_SEQUENCE_NUMBER,
    TRACKING_FIELDS,
    tracked_schema,
)
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.lsm.section_plan import Mask
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.planning.plan import Planner
from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.file_view import FileView
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan_plan import RowReader, ScanPlan, ScanSource
from lakebed.table.reading.scan_source import SnapshotSource

Positions = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class FileTracking:
    """What an entry says of the rows of its file.

    Attributes:
        first_row_id: Id of the first row; None where the file has all ids itself.
        has_columns: Whether the file has ids and sequence numbers of its own.
    """

    first_row_id: int | None
    has_columns: bool

    @classmethod
    def of(cls, first_row_id: int | None, write_cols: Sequence[str] | None) -> "FileTracking":
        """What `_FIRST_ROW_ID` and `_WRITE_COLS` say."""
        return cls(first_row_id, ROW_ID.name in (write_cols or ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedRows:
    """Rows with their ids.

    Attributes:
        columns: Columns out, in order; those of `TRACKING_FIELDS` may be among them.
        predicate: Over all of them; None for all rows.
    """

    columns: tuple[str, ...]
    predicate: Expression | None

    def __call__(self, reader: RowReader, source: ScanSource) -> RowReader:  # noqa: ARG002
        """What reads the rows in this form; before planning, only its columns are known."""
        return self.reader(reader, {}) if isinstance(reader, SplitReader) else reader

    def reader(self, reader: SplitReader, files: Mapping[str, FileTracking]) -> "RowTrackingReader":
        """What reads the rows of some files in this form."""
        return RowTrackingReader(
            reader=reader, files=files, columns=self.columns, predicate=self.predicate
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedSource:
    """A snapshot whose rows are read with their ids.

    Attributes:
        source: The snapshot.
        form: The columns and rows wanted.
    """

    source: SnapshotSource
    form: TrackedRows

    def plan(self, planner: Planner, reader: SplitReader) -> ScanPlan:
        """The splits of the snapshot."""
        plan = self.source.plan(planner, reader)
        if self.source.snapshot is None:
            return plan
        files = tracked_files(planner, self.source.snapshot)
        return replace(plan, reader=self.form.reader(reader, files))


def tracked_files(planner: Planner, snapshot: Snapshot) -> dict[str, FileTracking]:
    """What the entries of a snapshot say of the rows of their files, by file name."""
    live = planner.manifests.live(snapshot, partitions=EveryPartition())
    rows = zip(
        *(python_values(live.column(n)) for n in ("file_name", "first_row_id", "write_cols")),
        strict=True,
    )
    return {name: FileTracking.of(first, columns) for name, first, columns in rows}


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTrackingReader:
    """Reads append files with the ids of their rows.

    Attributes:
        reader: Knows the store and the schemas.
        files: What the entries say, by file name.
        columns: Columns out, in order.
        predicate: Rows out are those for which it is true; None for all.
        use_threads: Whether one `read` may use more than the calling thread.
    """

    reader: SplitReader
    files: Mapping[str, FileTracking]
    columns: tuple[str, ...]
    predicate: Expression | None
    use_threads: bool = False

    @classmethod
    def of(cls, reader: SplitReader, metas: Iterable[DataFileMeta]) -> "RowTrackingReader":
        """What reads all rows of some files, in the columns of a reader and those of the tracking.

        Args:
            reader: Reads the table's columns.
            metas: What the manifests say of the files.
        """
        return cls(
            reader=reader,
            files={
                meta.file_name: FileTracking.of(meta.first_row_id, meta.write_cols)
                for meta in metas
            },
            columns=(*reader.columns, *(field.name for field in TRACKING_FIELDS)),
            predicate=None,
        )

    @property
    def table_schema(self) -> TableSchema:
        """The columns of the table and those of the tracking."""
        return tracked_schema(self.reader.table_schema)

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of every batch."""
        return to_arrow_schema([self.table_schema.field(name) for name in self.columns])

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        schema = self.schema
        for file in split.files:
            for rows in self._read_file(file):
                found = rows if self.predicate is None else filter_table(rows, self.predicate)
                if found.num_rows:
                    yield from with_schema(found.select(list(self.columns)), schema).to_batches()

    def count(self, split: Split) -> int:
        """Number of rows of one split."""
        return sum(batch.num_rows for batch in self.read(split))

    def removed(self, file: SplitFile) -> Mask | None:
        """Which rows of a file its deletion vector marks; None for none."""
        return self.reader.removed(file)

    def reads_as_stored(self, split: Split) -> bool:  # noqa: ARG002 - the protocol's signature
        """Never: ids are made from positions."""
        return False

    def _read_file(self, file: SplitFile) -> Iterator[pa.Table]:
        known = self.files[file.path.rsplit("/", 1)[-1]]
        wanted = {*self.columns, *(columns_of(self.predicate) if self.predicate else ())}
        file_schema = self.reader.file_schemas[file.schema_id]
        view = FileView(
            file_io=self.reader.file_io,
            file=file,
            file_schema=tracked_schema(file_schema) if known.has_columns else file_schema,
            fields=(
                *(field for field in self.reader.table_schema.fields if field.name in wanted),
                *TRACKING_FIELDS,
            ),
            use_threads=self.use_threads,
            time_zone=self.reader.time_zone,
        )
        removed = self.reader.removed(file)
        places = np.arange(file.row_count) if removed is None else np.flatnonzero(~removed)
        keep = None if removed is None else ~removed
        start = 0
        for rows in view.read_values(keep, budget_bytes=self.reader.merge_memory // 2):
            part = places[start : start + rows.num_rows]
            start += rows.num_rows
            yield _tracked(rows, part, file=file, first_row_id=known.first_row_id)


def _tracked(
    rows: pa.Table, places: Positions, *, file: SplitFile, first_row_id: int | None
) -> pa.Table:
    ids = rows.column(ROW_ID.name)
    if first_row_id is not None:
        ids = pc.coalesce(ids, pa.chunked_array([pa.array(places + first_row_id, pa.int64())]))
    if ids.null_count:
        raise CorruptTableError(file.path, "a row has no id, and the manifest gives none")
    numbers = pc.fill_null(rows.column(ROW_SEQUENCE_NUMBER.name), file.max_sequence_number)
    others = rows.drop_columns([field.name for field in TRACKING_FIELDS])
    return others.append_column(ROW_ID.name, ids).append_column(ROW_SEQUENCE_NUMBER.name, numbers)
