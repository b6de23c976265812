"""Which files' own indexes leave room for a row that a predicate matches (format.md 14)?

Only files that have an index are opened, and of these just the indexes of columns in the predicate
are read. As with the bounds of values, a file that is merged with others must not be left out: it
may hold the newer row of a key.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray, python_values
from lakebed.format.evolution import unchanged_fields
from lakebed.format.file_index.container import container_in_file, embedded_container
from lakebed.format.file_index.evaluation import FileIndex
from lakebed.format.paths import FILE_INDEX_SUFFIX
from lakebed.format.predicate.expressions import Expression, columns_of
from lakebed.format.schema import TableSchema
from lakebed.format.types import DataField
from lakebed.storage.file_io import FileIO

__all__ = ["FileIndexes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileIndexes:
    """Opens the indexes of data files of one table.

    Attributes:
        file_io: The store.
        table_schema: The schema that predicates are over.
        file_schemas: Every schema of the table, by id.
        bucket_directory: From a serialized partition row and a bucket to the directory.
        threads: How many files may be opened at once.
    """

    file_io: FileIO
    table_schema: TableSchema
    file_schemas: Mapping[int, TableSchema]
    bucket_directory: Callable[[bytes, int], str]
    threads: int = 1
    _fields: dict[int, dict[str, DataField]] = field(default_factory=dict, repr=False)

    def matches(self, entries: pa.Table, predicate: Expression | None) -> npt.NDArray[np.bool_]:
        """Which files may hold a row for which a predicate is true.

        Args:
            entries: As `format.manifest.ENTRY_COLUMNS`.
            predicate: Over columns of the table; None for every row.

        Returns:
            One flag an entry; True for a file without an index.

        Raises:
            CorruptTableError: An index is none, or a file has two.
            NotFoundError: An index file is missing.
            UnsupportedError: An index is of a newer version.
        """
        kept = np.ones(entries.num_rows, dtype=np.bool_)
        if predicate is None or not columns_of(predicate):
            return kept
        indexed = np.flatnonzero(_has_index(entries))
        if not len(indexed):
            return kept
        positions: ArrowArray = pa.array(indexed)
        opened = _indexed_files(entries.take(positions))

        def may_match(file: "_IndexedFile") -> bool:
            index = self._open(file, predicate)
            return index is None or index.may_match(predicate)

        with ThreadPoolExecutor(min(self.threads, len(opened))) as pool:
            kept[indexed] = list(pool.map(may_match, opened))
        return kept

    def _open(self, file: "_IndexedFile", predicate: Expression) -> FileIndex | None:
        """The index of a file, where it can say anything of the predicate's columns."""
        fields = self._fields_of(file.schema_id)
        wanted = {name: fields[name] for name in columns_of(predicate) if name in fields}
        if not wanted:
            return None
        directory = self.bucket_directory(file.partition, file.bucket)
        if file.external_path is not None:
            directory = file.external_path.rsplit("/", 1)[0]
        data_file = f"{directory}/{file.file_name}"
        if file.embedded is not None:
            container = embedded_container(file.embedded, data_file)
        elif len(file.index_names) > 1:
            problem = f"this data file has several indexes: {', '.join(file.index_names)}"
            raise CorruptTableError(data_file, problem)
        else:
            container = container_in_file(self.file_io, f"{directory}/{file.index_names[0]}")
        return FileIndex(container=container, row_count=file.row_count, fields=wanted)

    def _fields_of(self, schema_id: int) -> dict[str, DataField]:
        """By present name, the fields that files of a schema have with the present type."""
        if schema_id not in self._fields:
            file_schema = self.file_schemas[schema_id]
            self._fields[schema_id] = unchanged_fields(self.table_schema, file_schema)
        return self._fields[schema_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class _IndexedFile:
    partition: bytes
    bucket: int
    file_name: str
    external_path: str | None
    schema_id: int
    row_count: int
    embedded: bytes | None
    index_names: tuple[str, ...]


def _has_index(entries: pa.Table) -> npt.NDArray[np.bool_]:
    is_embedded = entries["embedded_file_index"].is_valid().to_numpy()
    extra = entries["extra_files"].combine_chunks()
    owners = pc.list_parent_indices(extra).to_numpy()
    is_index = pc.ends_with(pc.list_flatten(extra), FILE_INDEX_SUFFIX).to_numpy(
        zero_copy_only=False
    )
    found: npt.NDArray[np.bool_] = is_embedded | (
        np.bincount(owners[is_index], minlength=entries.num_rows) > 0
    )
    return found


def _indexed_files(entries: pa.Table) -> list[_IndexedFile]:
    names = (
        "partition",
        "bucket",
        "file_name",
        "external_path",
        "schema_id",
        "row_count",
        "embedded_file_index",
        "extra_files",
    )
    return [
        _IndexedFile(
            partition=partition,
            bucket=bucket,
            file_name=file_name,
            external_path=external_path,
            schema_id=schema_id,
            row_count=row_count,
            embedded=embedded,
            index_names=tuple(name for name in extra if name.endswith(FILE_INDEX_SUFFIX)),
        )
        for (
            partition,
            bucket,
            file_name,
            external_path,
            schema_id,
            row_count,
            embedded,
            extra,
        ) in zip(*(python_values(entries[name]) for name in names), strict=True)
    ]
