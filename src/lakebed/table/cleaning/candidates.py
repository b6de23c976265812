"""Which files of a table may be orphans, going by their places, names and ages alone?

Looked at are the directories in which writers of the format put files, and no others:

    manifest, index, statistics       files and drafts
    PARTITION/bucket-B                the same, of every place for data that a schema names
    PARTITION, the table              drafts
    snapshot, schema, tag, ...        drafts, of each branch
    .lakebed-staging-X                all, once everything in it is old: it is of one write
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from lakebed.errors import NotFoundError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.manifest import ArrowField
from lakebed.format.own_names import OwnNames
from lakebed.format.paths import (
    MAIN_BRANCH,
    TablePaths,
    bucket_of,
    escape_path_name,
    is_staging,
)
from lakebed.format.schema import TableSchema
from lakebed.storage.file_io import FileIO, FileStatus
from lakebed.table.metadata.branches import Branches
from lakebed.table.metadata.schemas import Schemas
from lakebed.table.parts import TableParts
from lakebed.table.spreading import Spread

_FIELDS: list[ArrowField] = [
    pa.field("path", pa.string()),
    pa.field("file_size", pa.int64()),
    pa.field("modification_time", pa.timestamp("ms", "UTC")),
]
FILE_COLUMNS = pa.schema(_FIELDS)
"""What is told of a file."""

_PREFIXES = ("data-file.prefix", "changelog-file.prefix")
_DATA_DIRECTORY = "data-file.path-directory"
_EXTERNAL = "data-file.external-paths"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Files that are old enough and of the format's own names.

    Attributes:
        files: Those that may be needed, as `FILE_COLUMNS`.
        staged: Those that no snapshot can name, for they lie in directories of single writes.
        staging: These directories.
    """

    files: pa.Table
    staged: pa.Table
    staging: Sequence[str]


def find_candidates(parts: TableParts, older_than_ms: int, spread: Spread) -> Candidates:
    """The files of a table that were written before some time and may be orphans.

    Args:
        parts: The table, or one of its branches.
        older_than_ms: Epoch milliseconds.
        spread: For many directories; what it calls can be pickled.

    Raises:
        CorruptTableError: A schema cannot be read, which may say where files lie.
        StorageError: A directory cannot be listed.
    """
    names = (MAIN_BRANCH, *Branches(parts.file_io, parts.paths).list_names())
    paths = [parts.paths.of_branch(each) for each in names]
    schemas = [schema for each in paths for schema in _schemas(parts.file_io, each)]
    looking = _Looking(
        file_io=parts.file_io, older_than_ms=older_than_ms, names=_own_names(schemas)
    )
    roots = _data_roots(parts.paths, schemas)
    looks = [
        *_look_at_data(looking, spread, roots, keys=parts.schema.partition_keys),
        *spread(looking.files, _directories_of_files(parts.paths)),
        *spread(looking.drafts, [each for one in paths for each in _directories_of_keepers(one)]),
    ]
    staging = [
        each.path
        for each in parts.file_io.list(parts.paths.location)
        if is_staging(each.name) and looking.is_old(each)
    ]
    staged = [each for each in spread(looking.staged, sorted(staging)) if each is not None]
    return Candidates(
        files=_joined(each.files for each in looks),
        staged=_joined(each.files for each in staged),
        staging=[each.directory for each in staged],
    )


def file_names(files: pa.Table) -> ArrowColumn:
    """The names of files, of `FILE_COLUMNS`."""
    names: ArrowColumn = pc.replace_substring_regex(files["path"], pattern="^.*/", replacement="")
    return names


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """What was found in a directory.

    Attributes:
        directory: The directory.
        files: Old files in it with names of the format's own, as `FILE_COLUMNS`.
        directories: Paths of the directories in it.
    """

    directory: str
    files: pa.Table
    directories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Looking:
    """Looks into directories; picklable.

    Attributes:
        file_io: The store.
        older_than_ms: Epoch milliseconds before which a file was written that is old.
        names: The format's own.
    """

    file_io: FileIO
    older_than_ms: int
    names: OwnNames

    def files(self, directory: str) -> _Look:
        """Files and drafts."""
        files, _ = self._listed(directory)
        own = self.names.are_files(file_names(files))
        return _Look(directory=directory, files=self._old(files.filter(pa.array(own))))

    def drafts(self, directory: str) -> _Look:
        """Drafts, and which directories there are."""
        files, directories = self._listed(directory)
        own = self.names.are_drafts(file_names(files))
        return _Look(
            directory=directory,
            files=self._old(files.filter(pa.array(own))),
            directories=tuple(each.path for each in directories),
        )

    def staged(self, directory: str) -> _Look | None:
        """Every file below the directory of a write, by any name; None while one is not old."""
        left, found = [directory], []
        while left:
            files, directories = self._listed(left.pop())
            found.append(files)
            left += [each.path for each in directories]
            if not all(map(self.is_old, directories)) or self._old(files) != files:
                return None
        return _Look(directory=directory, files=_joined(found))

    def is_old(self, status: FileStatus) -> bool:
        """Whether nothing was written to a directory since."""
        return status.is_directory and status.modification_time_ms < self.older_than_ms

    def _listed(self, directory: str) -> tuple[pa.Table, list[FileStatus]]:
        listed = self.file_io.list(directory)
        files = [each for each in listed if not each.is_directory]
        columns: dict[str, Any] = {
            "path": [each.path for each in files],
            "file_size": [each.size_bytes for each in files],
            "modification_time": [each.modification_time_ms for each in files],
        }
        table = pa.Table.from_pydict(columns, schema=FILE_COLUMNS)
        return table, [each for each in listed if each.is_directory]

    def _old(self, files: pa.Table) -> pa.Table:
        limit = pa.scalar(self.older_than_ms, FILE_COLUMNS.field("modification_time").type)
        return files.filter(pc.less(files["modification_time"], limit))


def _schemas(file_io: FileIO, paths: TablePaths) -> Iterator[TableSchema]:
    schemas = Schemas(file_io, paths)
    for schema_id in schemas.list_ids():
        # One that is gone went with its branch.
        with suppress(NotFoundError):
            yield schemas.load(schema_id)


def _own_names(schemas: Iterable[TableSchema]) -> OwnNames:
    given = (schema.options.get(key) for schema in schemas for key in _PREFIXES)
    return OwnNames.with_prefixes(prefix for prefix in given if prefix is not None)


def _data_roots(paths: TablePaths, schemas: Iterable[TableSchema]) -> list[str]:
    """The directories below which partitions and buckets lie, or lay once."""
    roots = {paths.location}
    for schema in schemas:
        roots.add(replace(paths, data_directory=schema.options.get(_DATA_DIRECTORY)).partition(""))
        external = schema.options.get(_EXTERNAL, "").split(",")
        roots.update(each.strip().rstrip("/") for each in external if each.strip())
    return sorted(roots)


def _look_at_data(
    looking: _Looking, spread: Spread, roots: Sequence[str], *, keys: Sequence[str]
) -> Iterator[_Look]:
    """What lies in partitions and buckets."""
    directories = list(roots)
    for depth in range(len(keys) + 1):
        looks = list(spread(looking.drafts, directories))
        yield from looks
        below = [path for each in looks for path in each.directories]
        if depth < len(keys):
            start = f"{escape_path_name(keys[depth])}="
            directories = [path for path in below if _name_of(path).startswith(start)]
        else:
            directories = [path for path in below if bucket_of(_name_of(path)) is not None]
    yield from spread(looking.files, directories)


def _directories_of_files(paths: TablePaths) -> list[str]:
    return [paths.manifest_directory, paths.index_directory, paths.statistics_directory]


def _directories_of_keepers(paths: TablePaths) -> list[str]:
    return [
        paths.schema_directory,
        paths.snapshot_directory,
        paths.tag_directory,
        paths.changelog_directory,
        paths.consumer_directory,
    ]


def _joined(tables: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables([FILE_COLUMNS.empty_table(), *tables])


def _name_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
