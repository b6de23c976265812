"""How do Parquet files that Spark's own writer wrote become the table's?

They are written into a staging directory inside the table, which nobody reads, and lie there until
the whole job has succeeded: what a failed or a speculative attempt wrote, Spark's output committer
never put beside them. Then their footers say what a manifest entry must say, and they are moved
to their buckets under names of the table. The commit alone makes them visible; the staging
directory is gone in every outcome.

The surprising thing: a partition's values come from the first row of a file, not from the names
of directories, where Spark writes an empty text and a null alike.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Self

from lakebed.errors import InvalidDataError, LakebedError, StorageError
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import python_values
from lakebed.format.binary_row.codec import EMPTY_ROW, encode_rows
from lakebed.format.data_file import read_file, stream_file
from lakebed.format.data_file_meta import EMPTY_STATS, DataFileMeta, FileSource
from lakebed.format.parquet.metadata import FileMetaData, read_metadata
from lakebed.format.paths import FileNames
from lakebed.format.statistics.stored import (
    FULL_STATS_MODE,
    footer_statistics,
    stats_modes,
    stats_row,
)
from lakebed.format.types import DataField, with_nullability
from lakebed.table.parts import TableParts
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.routing import UNAWARE_BUCKET


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that waits to be adopted.

    Attributes:
        path: Where it is.
        size_bytes: Its size.
    """

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Staging:
    """A directory for one write, gone when the `with` block ends.

    Attributes:
        parts: The table.
        directory: The directory.
    """

    parts: TableParts
    directory: str

    @classmethod
    def of(cls, parts: TableParts) -> "Staging":
        """A directory of a name that no other write has."""
        return cls(parts, parts.paths.staging(parts.session.effects.fresh_uuid()))

    def __enter__(self) -> Self:
        """Spark makes the directory."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Deletes the directory; what cannot be deleted nobody refers to."""
        with contextlib.suppress(StorageError):
            self.parts.file_io.delete_directory(self.directory)

    def groups(self, size_max: int) -> tuple[list[list[StagedFile]], list[str]]:
        """The files, those of one partition together, and the paths of those that are larger."""
        fitting: list[list[StagedFile]] = []
        oversized: list[str] = []
        for files in self._groups(self.directory, len(self.parts.schema.partition_keys)):
            oversized += [file.path for file in files if file.size_bytes > size_max]
            kept = [file for file in files if file.size_bytes <= size_max]
            if kept:
                fitting.append(kept)
        return fitting, oversized

    def _groups(self, directory: str, depth: int) -> Iterator[list[StagedFile]]:
        entries = self.parts.file_io.list(directory)
        if depth:
            for entry in entries:
                if entry.is_directory:
                    yield from self._groups(entry.path, depth - 1)
            return
        yield [
            StagedFile(entry.path, entry.size_bytes)
            for entry in sorted(entries, key=lambda each: each.name)
            if entry.name.endswith(".parquet") and not entry.name.startswith(".")
        ]


@dataclass(frozen=True, slots=True)
class _Move:
    source: str
    directory: str
    name: str


def adopt(parts: TableParts, groups: Sequence[Sequence[StagedFile]]) -> list[CommitMessage]:
    """Moves files to their buckets; one message a partition, nothing moved on an error.

    Args:
        parts: The table, an append table without buckets on a local disk.
        groups: The files of each partition.

    Raises:
        InvalidDataError: A null where the schema forbids one.
        StorageError: A file could not be moved.
    """
    names = FileNames(parts.session.effects.fresh_uuid, data_prefix=parts.options.data_file_prefix)
    messages: list[CommitMessage] = []
    moves: list[_Move] = []
    with ThreadPoolExecutor(max(parts.session.read_threads, 1)) as pool:
        for files in groups:
            partition, directory = _partition(parts, files[0].path)
            metas = list(pool.map(partial(_meta, parts), files))
            kept = [(file, meta) for file, meta in zip(files, metas, strict=True) if meta.row_count]
            named = [replace(meta, file_name=names.data_file()) for _, meta in kept]
            moves += [
                _Move(file.path, directory, meta.file_name)
                for (file, _), meta in zip(kept, named, strict=True)
            ]
            messages.append(
                CommitMessage(
                    partition=partition,
                    bucket=UNAWARE_BUCKET,
                    total_buckets=parts.options.bucket,
                    new_files=_numbered(named),
                )
            )
        _move_all(parts, moves, pool)
    return [message for message in messages if message.new_files]


def _meta(parts: TableParts, file: StagedFile) -> DataFileMeta:
    """What an entry says of a file, but for its name and sequence numbers."""
    schema, options = parts.schema, parts.options
    footer = read_metadata(parts.file_io, file.path)
    _check_instants(file, footer)
    _check_nulls(parts, file, footer)
    modes = stats_modes(
        schema.names,
        default=options.metadata_stats_mode,
        overrides=options.fields_stats_mode,
        keep_first=options.metadata_stats_keep_first_n_columns,
    )
    stats = footer_statistics(footer, schema.fields, modes)
    value_stats, columns = stats_row(stats, schema.fields, dense=options.metadata_stats_dense_store)
    return DataFileMeta(
        file_name="",
        file_size=file.size_bytes,
        row_count=footer.num_rows,
        min_key=EMPTY_ROW,
        max_key=EMPTY_ROW,
        key_stats=EMPTY_STATS,
        value_stats=value_stats,
        min_sequence_number=0,
        max_sequence_number=0,
        schema_id=schema.id,
        level=0,
        creation_time=parts.session.wall_clock_ms(),
        delete_row_count=0,
        file_source=FileSource.APPEND,
        value_stats_cols=columns,
    )


def _numbered(metas: Sequence[DataFileMeta]) -> tuple[DataFileMeta, ...]:
    """With the sequence numbers of a writer that wrote one file after another."""
    ends = accumulate((meta.row_count for meta in metas), initial=0)
    return tuple(
        replace(meta, min_sequence_number=first, max_sequence_number=first + meta.row_count - 1)
        for first, meta in zip(ends, metas, strict=False)
    )


def _check_instants(file: StagedFile, footer: FileMetaData) -> None:
    """Nothing but the session's setting says how Spark stores instants, and anyone can set it."""
    columns = (footer.schema.column(index) for index in range(len(footer.schema)))
    if any(column.physical_type == "INT96" for column in columns):
        raise LakebedError(
            f"{file.path}: spark.sql.parquet.outputTimestampType was changed while Spark wrote; "
            "nothing was committed, write again"
        )


def _check_nulls(parts: TableParts, file: StagedFile, footer: FileMetaData) -> None:
    required = [field for field in parts.schema.fields if not field.type.nullable]
    known = footer_statistics(footer, required, [FULL_STATS_MODE] * len(required))
    for field, stats in zip(required, known, strict=True):
        count = stats.null_count
        if count is None:
            count = _count_nulls(parts, file, field)
        if count:
            raise InvalidDataError(
                f"column {field.name!r} is NOT NULL, but {count} of the rows of a task have null "
                "there; nothing was written"
            )


def _count_nulls(parts: TableParts, file: StagedFile, field: DataField) -> int:
    """Nulls in a column of which the footer does not say it."""
    nullable = replace(field, type=with_nullability(field.type, nullable=True))
    schema = to_arrow_schema([nullable])
    return int(read_file(parts.file_io, file.path, schema=schema).column(0).null_count)


def _partition(parts: TableParts, path: str) -> tuple[bytes, str]:
    """The partition of a file's rows, and the directory of its bucket."""
    fields = parts.schema.partition_type.fields
    partition, values = EMPTY_ROW, ()
    if fields:
        schema = to_arrow_schema(fields)
        rows = next(stream_file(parts.file_io, path, schema=schema, batch_rows=1))
        first = rows.slice(0, 1)
        partition = python_values(encode_rows(first.columns, [each.type for each in fields]))[0]
        values = tuple(column[0].as_py() for column in first.columns)
    return partition, parts.paths.bucket(parts.split_files.partition_path(values), UNAWARE_BUCKET)


def _move_all(parts: TableParts, moves: Sequence[_Move], pool: ThreadPoolExecutor) -> None:
    for directory in {move.directory for move in moves}:
        parts.file_io.make_directory(directory)
    try:
        for _ in pool.map(partial(_move, parts), moves):
            pass
    except BaseException:
        # Waits for the moves that run, so that none comes after its file was deleted.
        pool.shutdown(cancel_futures=True)
        for move in moves:
            with contextlib.suppress(StorageError):
                parts.file_io.delete(f"{move.directory}/{move.name}")
        raise


def _move(parts: TableParts, move: _Move) -> None:
    """Gives a file its name, once its bytes are on the disk."""
    target = f"{move.directory}/{move.name}"
    local, local_target = parts.file_io.local_path(move.source), parts.file_io.local_path(target)
    if local is None or local_target is None:
        raise StorageError(move.source, "is on no local disk, so it cannot be moved")
    try:
        with Path(local).open("rb") as file:
            os.fsync(file.fileno())
        Path(local).rename(local_target)
    except OSError as error:
        raise StorageError(move.source, f"cannot be moved to {target}: {error}") from error
