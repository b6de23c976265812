"""How are rows of a table changed by what Spark computes: an UPDATE, a DELETE, a MERGE?

The table is read as it was when the statement began. In a table with a primary key changed rows are
written as rows of their keys. In one without, rows are known by their places, a file and a row in
it; the places of those that go are brought here, which is two numbers a row. Where the table has
deletion vectors, they are marked there; else their files are written anew without them, by Spark.
All of it is one commit, which is refused where others changed the same files meanwhile.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from lakebed.format.predicate.expressions import Expression
from lakebed.format.row_tracking import ROW_ID, TRACKING_FIELDS, tracked_schema
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.lsm.section_plan import Mask
from lakebed.spark.conditions import spark_errors
from lakebed.spark.lake import NOW, Lake, Travel
from lakebed.spark.lengths import length_errors
from lakebed.spark.reader import split_frame
from lakebed.spark.types import to_spark_schema
from lakebed.spark.writer import tells_twins, write_changed, write_unique
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.split import Split, SplitFile
from lakebed.table.reading.placed_rows import FILE_NUMBER, ROW_NUMBER, PlacedReader
from lakebed.table.reading.row_tracking import RowTrackingReader, TrackedRows, tracked_files
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.row_marks import mark_rows
from lakebed.table.row_rewrites import removal
from lakebed.table.table import Table
from lakebed.table.writing.commit_message import CommitMessage

_PLACE = (
    StructField(FILE_NUMBER, IntegerType(), nullable=False),
    StructField(ROW_NUMBER, LongType(), nullable=False),
)
Places = Mapping[int, npt.NDArray[np.int64]]


@dataclass(frozen=True)
class ChangedTable:
    """A table that a statement changes.

    Attributes:
        lake: The session.
        table: The table.
        parts: The same, opened.
        base: Its state when the statement began.
        where: Rows for which it is not true need not be read; None for all.
    """

    lake: Lake
    table: Table
    parts: TableParts
    base: WriteBase
    where: Expression | None = None

    @classmethod
    def of(cls, lake: Lake, table: Table, where: Expression | None = None) -> "ChangedTable":
        """A table as it is now.

        Args:
            lake: The session.
            table: The table.
            where: Which of its rows the statement may be about; None for all.
        """
        parts = table.parts()
        return cls(lake, table, parts, parts.write_base(), where)

    @property
    def identity(self) -> list[str]:
        """The columns by which a row is known."""
        return list(self.table.primary_keys) or [FILE_NUMBER, ROW_NUMBER]

    @property
    def is_tracked(self) -> bool:
        """Whether rows have ids, which they keep."""
        return not self.table.primary_keys and self.parts.options.row_tracking_enabled

    @property
    def brought(self) -> list[str]:
        """The columns that a changed row brings along beside its own: its id, where it has one.

        What it lacks then is the number of the snapshot that changes it.
        """
        return [ROW_ID.name] if self.is_tracked else []

    @property
    def written(self) -> Table:
        """The table with all columns of changed rows."""
        if not self.is_tracked:
            return self.table
        return replace(self.table, schema=tracked_schema(self.table.schema))

    @property
    def reads_rows_once(self) -> bool:
        """Whether rows that are written are computed once, so that they need not be kept."""
        has_buckets = bool(self.table.primary_keys) and self.parts.options.bucket > 0
        return has_buckets and tells_twins(self.parts)

    def frame(self, columns: Sequence[str]) -> DataFrame:
        """Rows of the table, with their places, and ids, where it has no primary key.

        Args:
            columns: Which columns, those of the primary key among them.
        """
        if self.table.primary_keys:
            return self._keyed_frame(columns)
        return self._placed_frame(list(self._files.values()), columns)

    def commit(
        self,
        rows: DataFrame | None,
        gone: Sequence[DataFrame] = (),
        *,
        tracked: DataFrame | None = None,
        operation: Operation,
    ) -> Snapshot | None:
        """Writes rows, and takes others away.

        Args:
            rows: The rows, aligned; with a primary key, those that go are among them as -D.
            gone: Places of the rows that go, without a primary key. Several frames are not brought
                together by Spark: over Spark Connect it fails where they are of one join.
            tracked: Changed rows that bring their ids along, as rows of `written`.
            operation: What the user asked for.
        """
        with spark_errors(), length_errors():
            removing: list[CommitMessage] = []
            snapshot = self.base.snapshot
            places = _places(gone) if gone and snapshot is not None else {}
            if snapshot is not None and places:
                if self.parts.options.deletion_vectors_enabled:
                    removing = self._marked(snapshot, places)
                else:
                    removing = removal(self.parts, snapshot, set(self._paths(places)))
                    kept = self._kept(places)
                    if self.is_tracked:
                        tracked = _both(tracked, kept)
                    else:
                        rows = _both(rows, kept)
            return write_changed(
                rows,
                self.parts,
                self.lake.registry,
                self.lake.spark,
                base=self.base,
                tracked=tracked,
                removing=removing,
                operation=operation,
            )

    def commit_unique(self, rows: DataFrame, *, operation: Operation) -> bool:
        """Puts rows of which no two have the same key.

        Args:
            rows: The rows, aligned, of a table with a primary key.
            operation: What the user asked for.

        Returns:
            Whether they were committed; if not, some had the same key, and nothing was written.
        """
        with spark_errors(), length_errors():
            registry = self.lake.registry
            return write_unique(rows, self.parts, registry, base=self.base, operation=operation)

    def _keyed_frame(self, columns: Sequence[str]) -> DataFrame:
        snapshot = self.base.snapshot
        if snapshot is None:
            schema = to_spark_schema([self.table.schema.field(name) for name in columns])
            return self.lake.spark.createDataFrame([], schema)
        is_whole = snapshot.schema_id == self.table.schema.id
        travel = Travel(snapshot_id=snapshot.id) if is_whole else NOW
        return self.lake.read(self.table, columns=columns, where=self.where, travel=travel)

    @cached_property
    def _files(self) -> dict[str, SplitFile]:
        """The live files that may hold rows that are meant, by path; their order numbers them."""
        if self.base.snapshot is None:
            return {}
        scan = self.parts.scan(SnapshotSource(snapshot=self.base.snapshot), where=self.where)
        files = [file for split in scan.plan().splits for file in split.files]
        return {file.path: file for file in files}

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {path: number for number, path in enumerate(self._files)}

    def _placed_frame(self, files: Sequence[SplitFile], columns: Sequence[str]) -> DataFrame:
        own = [self.table.schema.field(name) for name in columns]
        fields = to_spark_schema([*own, *(TRACKING_FIELDS if self.is_tracked else ())]).fields
        schema = StructType([*fields, *_PLACE])
        if not files:
            return self.lake.spark.createDataFrame([], schema)
        scan = self.parts.scan(SnapshotSource(snapshot=self.base.snapshot), columns=columns)
        rows = self._tracked(scan) if self.is_tracked else scan.reader
        reader = PlacedReader(reader=rows, numbers=self._numbers)
        splits = [Split.of_file(file) for file in files]
        return split_frame(
            self.lake.spark, self.lake.registry, splits, reader=reader, schema=schema
        )

    def _tracked(self, scan: Scan) -> RowTrackingReader:
        """What reads the rows of a scan with their ids."""
        columns = (*scan.reader.columns, *(field.name for field in TRACKING_FIELDS))
        form = TrackedRows(columns=columns, predicate=None)
        snapshot = self.base.snapshot
        files = {} if snapshot is None else tracked_files(scan.planner, snapshot)
        return form.reader(scan.reader, files)

    def _paths(self, places: Places) -> list[str]:
        paths = list(self._files)
        return [paths[number] for number in places]

    def _marked(self, snapshot: Snapshot, places: Places) -> list[CommitMessage]:
        """Marks rows in deletion vectors."""

        def rows_of(file: SplitFile) -> Mask:
            mask = np.zeros(file.row_count, np.bool_)
            mask[places[self._numbers[file.path]]] = True
            return mask

        return mark_rows(self.parts, snapshot, self._paths(places), rows_of=rows_of)

    def _kept(self, places: Places) -> DataFrame:
        """The rows of such files that stay."""
        files = [self._files[path] for path in self._paths(places)]
        frame = self._placed_frame(files, self.table.schema.names)
        marks = F.broadcast(self.lake.spark.createDataFrame(_table_of(places)))
        kept = frame.join(marks, [FILE_NUMBER, ROW_NUMBER], "left_anti")
        return kept.drop(FILE_NUMBER, ROW_NUMBER)


def _both(rows: DataFrame | None, kept: DataFrame) -> DataFrame:
    return kept if rows is None else rows.unionByName(kept)


def _places(gone: Sequence[DataFrame]) -> dict[int, npt.NDArray[np.int64]]:
    """The rows of each file, by its number."""
    found = pa.concat_tables([each.select(FILE_NUMBER, ROW_NUMBER).toArrow() for each in gone])
    numbers = found.column(FILE_NUMBER).to_numpy()
    rows = found.column(ROW_NUMBER).to_numpy()
    order = np.lexsort((rows, numbers))
    numbers, rows = numbers[order], rows[order]
    files, starts = np.unique(numbers, return_index=True)
    pieces = np.split(rows, starts[1:]) if len(files) else []
    return {int(file): np.unique(piece) for file, piece in zip(files, pieces, strict=True)}


def _table_of(places: Places) -> pa.Table:
    counts = [len(rows) for rows in places.values()]
    numbers = np.repeat(np.fromiter(places, np.int32), counts)
    return pa.table({FILE_NUMBER: numbers, ROW_NUMBER: np.concatenate(list(places.values()))})
