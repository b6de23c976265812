"""The indexes of data files made anew, of files that stay as they are (format.md 14).

Indexes number the rows of the file itself: deleted rows and those of kind -D are among them. The
columns are read as the file's own schema has them, since that is how an index of it is understood.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from lakebed.errors import CorruptTableError, NotFoundError, StorageError
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.evolution import unchanged_fields
from lakebed.format.file_index.building import FileIndexes
from lakebed.format.file_index.container import container_in_file, embedded_container
from lakebed.format.paths import FILE_INDEX_SUFFIX, later_file_index_name
from lakebed.lsm.compaction.append import AppendPick
from lakebed.storage.file_io import FileIO
from lakebed.table.compaction.buckets import BucketFiles, StoredFile
from lakebed.table.reading.file_view import FileView
from lakebed.table.reading.read import SplitReader
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.file_summary import NO_INDEX, PlacedIndex, placed_index


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedIndexes:
    """Which indexes the files of a table should have.

    Attributes:
        indexes: Those of a file of the present schema; None for none.
        reader: Reads the table.
    """

    indexes: FileIndexes | None
    reader: SplitReader

    def of_schema(self, schema_id: int) -> FileIndexes | None:
        """Those that a file of some schema can have; None for none."""
        if self.indexes is None:
            return None
        file_schema = self.reader.file_schemas[schema_id]
        found = self.indexes.of_file(unchanged_fields(self.reader.table_schema, file_schema))
        return found if found.indexes else None

    def are_there(self, file: StoredFile) -> bool:
        """Whether a file has these and no others; one that cannot be read is as none.

        Raises:
            UnsupportedError: An index is of a newer version.
        """
        wanted = self.of_schema(file.meta.schema_id)
        held = _held(file, self.reader.file_io)
        return held == (frozenset() if wanted is None else wanted.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexRewrite:
    """The indexes of some files of one bucket.

    Attributes:
        stored: The bucket's files.
        directory: Its directory.
        pick: The files.
        wanted: The indexes that they get.
        uuid_source: Gives a fresh uuid at each call, in every process; can be pickled.
    """

    stored: BucketFiles
    directory: str
    pick: AppendPick
    wanted: WantedIndexes
    uuid_source: Callable[[], str]

    @property
    def output_level(self) -> int:
        """Files stay on their levels; of several, the greatest."""
        return max(meta.level for meta in self.pick.files)

    @property
    def rewritten_bytes(self) -> int:
        """What the files take, of which the indexed columns are read."""
        return self.pick.size_bytes

    def run(self) -> CommitMessage:
        """Makes the indexes; on an error, leaves no file.

        Raises:
            CorruptTableError: A file cannot be read.
            StorageError: An index cannot be written.
            UnsupportedError: The indexes of a file are larger than a container can be.
        """
        written: list[str] = []
        try:
            metas = tuple(
                self._indexed(self.stored.files[meta.file_name], written)
                for meta in self.pick.files
            )
        except Exception:
            for path in written:
                with contextlib.suppress(StorageError):
                    self.wanted.reader.file_io.delete(path)
            raise
        return CommitMessage(
            partition=self.stored.partition,
            bucket=self.stored.bucket,
            total_buckets=self.stored.total_buckets,
            new_files=metas,
            deleted_files=self.pick.files,
        )

    def _indexed(self, file: StoredFile, written: list[str]) -> DataFileMeta:
        """What is said of a file with its indexes."""
        indexes = self.wanted.of_schema(file.meta.schema_id)
        placed = NO_INDEX if indexes is None else self._placed(file, indexes, written)
        others = [name for name in file.meta.extra_files if not name.endswith(FILE_INDEX_SUFFIX)]
        return replace(
            file.meta,
            extra_files=(*others, *placed.extra_files),
            embedded_file_index=placed.embedded,
        )

    def _placed(self, file: StoredFile, indexes: FileIndexes, written: list[str]) -> PlacedIndex:
        reader, builder = self.wanted.reader, indexes.builder()
        file_schema = reader.file_schemas[file.meta.schema_id]
        columns = {column for column, _ in indexes.names}
        view = FileView(
            file_io=reader.file_io,
            file=file.split_file,
            file_schema=file_schema,
            fields=tuple(field for field in file_schema.fields if field.name in columns),
            use_threads=reader.use_threads,
            time_zone=reader.time_zone,
            options=reader.options,
        )
        for rows in view.read_values(None, budget_bytes=reader.merge_memory // 2):
            builder.add(rows)
        directory, _, name = file.split_file.path.rpartition("/")
        path = f"{directory}/{later_file_index_name(name, self.uuid_source())}"
        written.append(path)
        return placed_index(
            builder.finish(),
            path,
            file_io=reader.file_io,
            in_manifest_bytes_max=indexes.in_manifest_bytes_max,
        )


def _held(file: StoredFile, file_io: FileIO) -> frozenset[tuple[str, str]] | None:
    """The column and the type of each index of a file; None where they cannot be told."""
    meta, path = file.meta, file.split_file.path
    names = [name for name in meta.extra_files if name.endswith(FILE_INDEX_SUFFIX)]
    if meta.embedded_file_index is None and not names:
        return frozenset()
    if len(names) > 1:
        return None
    try:
        if meta.embedded_file_index is not None:
            container = embedded_container(meta.embedded_file_index, path)
        else:
            container = container_in_file(file_io, f"{path.rpartition('/')[0]}/{names[0]}")
    except (CorruptTableError, NotFoundError):
        return None
    return frozenset(
        (column, index_type) for column, types in container.places.items() for index_type in types
    )
