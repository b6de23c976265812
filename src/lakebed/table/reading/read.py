"""How a split becomes Arrow batches: merged, filtered, projected.

A reader is a value: it holds no open file and no thread, travels to Spark's workers, and reads any
number of splits.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

import numpy as np
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import ArrowChunks, rows_without_columns
from lakebed.format.deletion_vector import read_deletion_vector
from lakebed.format.evolution import file_columns
from lakebed.format.fitted_rows import with_schema
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.predicate.evaluation import filter_table
from lakebed.format.predicate.expressions import Expression, columns_of, split_by_columns
from lakebed.format.schema import TableSchema
from lakebed.format.types import DataField
from lakebed.lsm.engines import Folding, Picking, merging_of
from lakebed.lsm.folding import folded_rows
from lakebed.lsm.section_plan import Mask, SectionFile
from lakebed.lsm.winners import winner_masks
from lakebed.storage.file_io import FileIO
from lakebed.table.planning.split import Split, SplitFile, SplitSection
from lakebed.table.reading.file_view import FileView
from lakebed.table.reading.known_winners import OF_PROCESS


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitReader:
    """Reads splits of one scan.

    Attributes:
        file_io: The store.
        table_schema: The schema that is read.
        file_schemas: Every schema that some file was written with, by id.
        options: Options of the table, those of the scan laid over them.
        columns: Columns out, in order; on a table with a primary key `_SEQUENCE_NUMBER` and
            `_VALUE_KIND` may be among them.
        predicate: Rows out are those for which it is true; None for all.
        merge_memory: Budget in bytes of one `read` (`lakebed.merge.memory`).
        time_zone: Where local times become instants, and back, where a column's type changed
            (`lakebed.time-zone`).
        use_threads: Whether one `read` may use more than the calling thread.
        keep_deletes: Whether -U and -D rows come out, too.
        keeps_winners: Whether the process that reads keeps which rows of files survive a merge;
            the names of the files must be given but once.
    """

    file_io: FileIO
    table_schema: TableSchema
    file_schemas: Mapping[int, TableSchema]
    options: Mapping[str, str]
    columns: tuple[str, ...]
    predicate: Expression | None
    merge_memory: int
    time_zone: tzinfo
    use_threads: bool = False
    keep_deletes: bool = False
    keeps_winners: bool = False

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of every batch."""
        return to_arrow_schema([self.field(name) for name in self.columns])

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        schema = self.schema
        for table in self._read_tables(split):
            if not self.columns:
                yield rows_without_columns(table.num_rows)
                continue
            _check_nulls(table, schema, split)
            yield from with_schema(table.select(self.columns), schema).to_batches()

    def reads_as_stored(self, split: Split) -> bool:
        """Whether a reader of Parquet that knows columns by name alone gets this split right.

        That takes raw Parquet files, and every wanted column in each of them under the name and
        type of today: a file of an older schema may have it under another name, or another column
        under that name. Rows that deletion vectors mark are the reader's to leave out.
        """
        if self.keep_deletes or not split.is_raw:
            return False
        files = split.files
        if any(not file.path.endswith(".parquet") for file in files):
            return False
        fields = self._wanted_fields()
        return all(
            column.as_stored
            for schema_id in {file.schema_id for file in files}
            for column in file_columns(fields, self.file_schemas[schema_id])
        )

    def count(self, split: Split) -> int:
        """Number of rows of one split, decoding no more than it takes."""
        if self.predicate is not None and not self._is_of_partitions(self.predicate):
            return sum(table.num_rows for table in self._read_tables(split))
        sections, merging = self._sections(split)
        return sum(self._count_section(section, merging) for section in sections)

    def _is_of_partitions(self, predicate: Expression) -> bool:
        """Whether a predicate is of partition columns alone, so that planning applied it."""
        return split_by_columns(predicate, set(self.table_schema.partition_keys))[1] is None

    def _sections(self, split: Split) -> tuple[tuple[SplitSection, ...], Picking | Folding | None]:
        """The sections of a split, and how they merge; None where none needs to."""
        sections = tuple(split.sections)
        if not any(section.needs_merge for section in sections):
            return sections, None
        return sections, merging_of(self.table_schema, self.options)

    def _count_section(self, section: SplitSection, merging: Picking | Folding | None) -> int:
        match merging if section.needs_merge else None:
            case None:
                return sum(self._live_count(file) for file in section.files)
            case Picking() as picking:
                masks = self._masks(section, picking)
                return sum(int(np.count_nonzero(mask)) for mask in masks)
            case Folding() as folding:
                return sum(table.num_rows for table in self._folded(section, folding, ()))

    def _live_count(self, file: SplitFile) -> int:
        vector = file.deletion_vector
        if vector is None:
            return file.row_count
        if vector.cardinality is not None:
            return file.row_count - vector.cardinality
        removed = self.removed(file)
        return file.row_count - (0 if removed is None else int(np.count_nonzero(removed)))

    def _read_tables(self, split: Split) -> Iterator[pa.Table]:
        wanted = self._wanted_fields()
        sections, merging = self._sections(split)
        for section in sections:
            match merging if section.needs_merge else None:
                case None:
                    for file in section.files:
                        removed = self.removed(file)
                        keep = None if removed is None else ~removed
                        yield from self._read_file(self._view(file, wanted), keep)
                case Folding() as folding:
                    names = [field.name for field in wanted]
                    for table in self._folded(section, folding, names):
                        yield from self._matching(table)
                case Picking() as picking:
                    masks = self._masks(section, picking)
                    for file, mask in zip(section.files, masks, strict=True):
                        if mask.any():
                            yield from self._read_file(self._view(file, wanted), mask)

    def _read_file(self, view: FileView, keep: Mask | None) -> Iterator[pa.Table]:
        for rows in view.read_values(keep, budget_bytes=self.merge_memory // 2):
            yield from self._matching(rows)

    def _matching(self, rows: pa.Table) -> Iterator[pa.Table]:
        table = rows if self.predicate is None else filter_table(rows, self.predicate)
        if table.num_rows:
            yield table

    def _masks(self, section: SplitSection, picking: Picking) -> list[Mask]:
        def find() -> list[Mask]:
            return winner_masks(
                self.section_files(section),
                order=picking.order,
                pick=picking.pick,
                budget_bytes=self.merge_memory,
                keep_deletes=self.keep_deletes,
            )

        if not self.keeps_winners:
            return find()
        return OF_PROCESS.masks(self._merge_of(section), find)

    def _merge_of(self, section: SplitSection) -> Hashable:
        """All that determines which rows of a section survive: its files and the rules.

        Where a file stands among others matters, its number among those of the scan does not.
        """
        ranks = {
            ordinal: rank for rank, ordinal in enumerate(sorted(f.ordinal for f in section.files))
        }
        return (
            tuple(
                tuple(replace(file, ordinal=ranks[file.ordinal]) for file in run)
                for run in section.runs
            ),
            self.table_schema.primary_keys,
            self.table_schema.fields,
            tuple(sorted(self.options.items())),
            str(self.time_zone),
            self.keep_deletes,
        )

    def _folded(
        self, section: SplitSection, folding: Folding, wanted: Sequence[str]
    ) -> Iterator[pa.Table]:
        return folded_rows(
            self.section_files(section),
            order=folding.order,
            engine=folding.engine,
            wanted=wanted,
            budget_bytes=self.merge_memory,
            with_lookup=folding.with_lookup,
            keep_deletes=self.keep_deletes,
        )

    def section_files(
        self, section: SplitSection, *, hidden: Mapping[str, Mask] | None = None
    ) -> Sequence[SectionFile]:
        """The files of a section as the merge kernel sees them.

        Args:
            section: The section.
            hidden: Rows that are left out besides those that were deleted, by the file's path.
        """
        hidden = hidden or {}
        return [
            _SectionFile(
                view=self._view(file, ()),
                run=run,
                reader=self,
                removed_rows=_either(self.removed(file), hidden.get(file.path)),
            )
            for run, members in enumerate(section.runs)
            for file in members
        ]

    def column(self, file: SplitFile, name: str) -> Iterator[ArrowChunks]:
        """A column of a file in file order, deleted rows and all, in parts."""
        view = self._view(file, (self.field(name),))
        for rows in view.read_values(None, budget_bytes=self.merge_memory // 2):
            yield rows.column(name)

    def removed(self, file: SplitFile) -> Mask | None:
        """Rows that the deletion vector of a file took out; None without one."""
        if file.deletion_vector is None:
            return None
        return read_deletion_vector(
            self.file_io, file.deletion_vector, data_file=file.path, row_count=file.row_count
        )

    def _view(self, file: SplitFile, fields: tuple[DataField, ...]) -> FileView:
        return FileView(
            file_io=self.file_io,
            file=file,
            file_schema=self.file_schemas[file.schema_id],
            fields=fields,
            use_threads=self.use_threads,
            time_zone=self.time_zone,
            options=self.options,
        )

    def field(self, name: str) -> DataField:
        """A column of the table or a system column, by name."""
        return _SYSTEM_FIELDS[name] if name in _SYSTEM_FIELDS else self.table_schema.field(name)

    def _wanted_fields(self) -> tuple[DataField, ...]:
        names = set(self.columns)
        if self.predicate is not None:
            names |= columns_of(self.predicate)
        system = tuple(f for name, f in _SYSTEM_FIELDS.items() if name in names)
        return system + tuple(f for f in self.table_schema.fields if f.name in names)


def _check_nulls(table: pa.Table, schema: pa.Schema, split: Split) -> None:
    for field in schema:
        if not field.nullable and table.column(field.name).null_count:
            paths = split.file_paths
            where = paths[0] if len(paths) == 1 else paths[0].rpartition("/")[0]
            problem = f"its rows have nulls in column {field.name!r}, which is NOT NULL"
            raise CorruptTableError(where, problem)


def _either(rows: Mask | None, others: Mask | None) -> Mask | None:
    """Rows of a file that one of two masks marks; None for none."""
    if rows is None or others is None:
        return others if rows is None else rows
    return rows | others


_SYSTEM_FIELDS = {field.name: field for field in (SEQUENCE_NUMBER, VALUE_KIND)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _SectionFile:
    """A file as the merge kernel sees it (`windows.SectionFile`)."""

    view: FileView
    run: int
    reader: SplitReader
    removed_rows: Mask | None

    @property
    def row_count(self) -> int:
        return self.view.file.row_count

    @property
    def ordinal(self) -> int:
        return self.view.file.ordinal

    @property
    def level(self) -> int:
        return self.view.file.level

    @property
    def min_sequence_number(self) -> int:
        return self.view.file.min_sequence_number

    @property
    def max_sequence_number(self) -> int:
        return self.view.file.max_sequence_number

    @property
    def has_deletes(self) -> bool:
        return self.view.file.may_hold_deletes

    def removed(self) -> Mask | None:
        return self.removed_rows

    def decoded_bytes(self, names: Sequence[str]) -> int:
        return self._with(names).decoded_bytes()

    def read_columns(self, names: Sequence[str], keep: Mask | None = None) -> pa.Table:
        return self._with(names).read_whole(keep)

    def stream_columns(self, names: Sequence[str], *, batch_rows: int) -> Iterator[pa.Table]:
        return self._with(names).stream(batch_rows=batch_rows)

    def _with(self, names: Sequence[str]) -> FileView:
        return replace(self.view, fields=tuple(self.reader.field(name) for name in names))
