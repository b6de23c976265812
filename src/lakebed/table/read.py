"""How a split becomes Arrow batches: merged, filtered, projected.

A reader is a value: it holds no open file and no thread, travels to Spark's workers, and reads any
number of splits.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakebed.format.arrow_types import to_arrow_schema
from lakebed.format.arrow_typing import rows_without_columns
from lakebed.format.evaluation import filter_table
from lakebed.format.evolution import file_columns
from lakebed.format.predicate import Expression, columns_of
from lakebed.format.schema import KEY_FIELD_PREFIX, TableSchema
from lakebed.format.types import DataField
from lakebed.lsm.merge import deduplicate
from lakebed.lsm.winners import Mask, winner_masks
from lakebed.storage.file_io import FileIO
from lakebed.table.file_view import FileView
from lakebed.table.split import Split, SplitFile, SplitSection


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReader:
    """Reads splits of one scan.

    Attributes:
        file_io: The store.
        table_schema: The schema that is read.
        file_schemas: Every schema that some file was written with, by id.
        columns: Columns out, in order.
        predicate: Rows out are those for which it is true; None for all.
        merge_memory: Budget in bytes of one `read` (`lakebed.merge.memory`).
        use_threads: Whether one `read` may use more than the calling thread.
    """

    file_io: FileIO
    table_schema: TableSchema
    file_schemas: Mapping[int, TableSchema]
    columns: tuple[str, ...]
    predicate: Expression | None
    merge_memory: int
    use_threads: bool = False

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of every batch."""
        return to_arrow_schema([self.table_schema.field(name) for name in self.columns])

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        schema = self.schema
        for table in self._read_tables(split):
            if not self.columns:
                yield rows_without_columns(table.num_rows)
                continue
            yield from table.select(self.columns).cast(schema).to_batches()

    def reads_as_stored(self, split: Split) -> bool:
        """Whether a reader that knows columns by name alone gets this split right.

        That takes raw files, and every wanted column in each of them under the name of today: a
        file of an older schema may have it under another name, or another column under that name.

        Raises:
            UnsupportedError: The type of a column has changed since a file was written.
        """
        fields = self._wanted_fields()
        schemas = {file.schema_id for file in split.files}
        return split.is_raw and all(
            column.name_in_file == column.field.name
            for schema_id in schemas
            for column in file_columns(fields, self.file_schemas[schema_id])
        )

    def count(self, split: Split) -> int:
        """Number of rows of one split, decoding no more than it takes."""
        if self.predicate is not None:
            return sum(table.num_rows for table in self._read_tables(split))
        return sum(
            sum(int(np.count_nonzero(mask)) for mask in self._masks(section))
            if section.needs_merge
            else sum(file.row_count for file in section.files)
            for section in split.sections
        )

    def _read_tables(self, split: Split) -> Iterator[pa.Table]:
        wanted = self._wanted_fields()
        for section in split.sections:
            masks = self._masks(section) if section.needs_merge else [None] * len(section.files)
            for file, mask in zip(section.files, masks, strict=True):
                if mask is None or mask.any():
                    yield from self._read_file(self._view(file, wanted), mask)

    def _read_file(self, view: FileView, keep: Mask | None) -> Iterator[pa.Table]:
        for rows in view.read_values(keep, budget_bytes=self.merge_memory // 2):
            table = rows if self.predicate is None else filter_table(rows, self.predicate)
            if table.num_rows:
                yield table

    def _masks(self, section: SplitSection) -> list[Mask]:
        files = [
            _SectionFile.of(self._view(file, ()), run=run)
            for run, members in enumerate(section.runs)
            for file in members
        ]
        return winner_masks(files, pick=deduplicate, budget_bytes=self.merge_memory)

    def _view(self, file: SplitFile, fields: tuple[DataField, ...]) -> FileView:
        return FileView(
            file_io=self.file_io,
            file=file,
            file_schema=self.file_schemas[file.schema_id],
            fields=fields,
            key_fields=tuple(map(self.table_schema.field, self.table_schema.trimmed_primary_keys)),
            use_threads=self.use_threads,
        )

    def _wanted_fields(self) -> tuple[DataField, ...]:
        names = set(self.columns)
        if self.predicate is not None:
            names |= columns_of(self.predicate)
        return tuple(f for f in self.table_schema.fields if f.name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SectionFile:
    """A file as the merge kernel sees it (`winners.KeyFile`)."""

    view: FileView
    row_count: int
    key_bytes: int
    run: int
    ordinal: int
    min_sequence_number: int
    max_sequence_number: int
    has_deletes: bool
    key_names: tuple[str, ...]

    @classmethod
    def of(cls, view: FileView, *, run: int) -> "_SectionFile":
        return cls(
            view=view,
            row_count=view.file.row_count,
            key_bytes=view.key_bytes(),
            run=run,
            ordinal=view.file.ordinal,
            min_sequence_number=view.file.min_sequence_number,
            max_sequence_number=view.file.max_sequence_number,
            has_deletes=view.file.may_hold_deletes,
            key_names=tuple(KEY_FIELD_PREFIX + f.name for f in view.key_fields),
        )

    def read_columns(self, names: Sequence[str]) -> pa.Table:
        return self.view.read_columns(names)

    def stream_columns(self, names: Sequence[str], *, batch_rows: int) -> Iterator[pa.Table]:
        return self.view.stream_columns(names, batch_rows=batch_rows)


def read_all(
    reader: SplitReader, splits: tuple[Split, ...], *, threads: int
) -> list[pa.RecordBatch]:
    """The rows of all splits, read by several threads, in the order of the splits."""
    if len(splits) < 2 or threads < 2:
        return [batch for split in splits for batch in reader.read(split)]
    with ThreadPoolExecutor(min(threads, len(splits))) as pool:
        parts = pool.map(lambda split: list(reader.read(split)), splits)
        return [batch for part in parts for batch in part]
