"""How are manifest lists, manifests and index manifests read from and written to a store?

Each file is written once, under a name that nobody else takes, before the snapshot that names it.
"""

from collections.abc import Collection, Iterable, Sequence

import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.avro.codec import RowChoice, read_columns, read_records, write_records
from lakebed.format.avro.write import AvroWriter
from lakebed.format.data_file_meta import ManifestEntry
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.index_manifest import INDEX_MANIFEST_FIELDS, index_columns, index_records
from lakebed.format.manifest import (
    MANIFEST_LIST_SCHEMA,
    MANIFEST_SCHEMA,
    ManifestFileMeta,
    entries_from_columns,
    entry_columns,
    entry_paths,
    entry_to_record,
    meta_from_record,
    meta_to_record,
)
from lakebed.storage.file_io import FileIO


def read_manifest(
    file_io: FileIO,
    path: str,
    *,
    size: int | None = None,
    columns: Collection[str] | None = None,
    choice: RowChoice | None = None,
) -> pa.Table:
    """The entries of a manifest, in its order, as `manifest.ENTRY_COLUMNS`.

    Args:
        file_io: The store.
        path: The manifest.
        size: Bytes that it must have; None where that is not known. Cut between two blocks, an Avro
            file is a whole one of fewer records.
        columns: Names of the columns to decode, all by default; nothing else is kept in memory.
        choice: Which entries, going by some of `ENTRY_COLUMNS`.

    Raises:
        CorruptTableError: The file is no manifest, or of another size.
        NotFoundError: It is not there.
        UnsupportedError: It is of another version.
    """
    wanted = None if columns is None else entry_paths(columns)
    by_path = None
    if choice is not None:
        names, keep = choice.columns, choice.keep
        by_path = RowChoice(
            entry_paths(names), lambda rows: keep(entry_columns(rows, path, names=names))
        )
    return read_columns(
        _read(file_io, path, size),
        path,
        wanted=wanted,
        choice=by_path,
        convert=lambda rows: entry_columns(rows, path, names=columns),
    )


def read_entries(file_io: FileIO, path: str) -> list[ManifestEntry]:
    """The entries of a manifest as objects; for small ones. Raises as `read_manifest`."""
    return entries_from_columns(read_manifest(file_io, path))


def write_manifest(
    file_io: FileIO,
    path: str,
    entries: Iterable[ManifestEntry],
    *,
    compression: str = "zstd",
    level: int = 1,
) -> int:
    """Writes a manifest and returns its size in bytes.

    Raises:
        AlreadyExistsError: The path is taken.
        UnsupportedError: The compression is unknown.
    """
    records = map(entry_to_record, entries)
    data = write_records(MANIFEST_SCHEMA, records, compression=compression, level=level)
    return _write(file_io, path, data)


def read_manifest_list(
    file_io: FileIO, path: str, *, size: int | None = None
) -> list[ManifestFileMeta]:
    """The manifests that a list names, in its order; else as `read_manifest`."""
    records = read_records(_read(file_io, path, size), path)
    return [meta_from_record(record, path) for record in records]


def write_manifest_list(
    file_io: FileIO,
    path: str,
    manifests: Sequence[ManifestFileMeta],
    *,
    compression: str = "zstd",
    level: int = 1,
) -> int:
    """Writes a manifest list and returns its size in bytes. Raises as `write_manifest`."""
    records = map(meta_to_record, manifests)
    data = write_records(MANIFEST_LIST_SCHEMA, records, compression=compression, level=level)
    return _write(file_io, path, data)


def read_index_manifest(file_io: FileIO, path: str) -> pa.Table:
    """The index files that an index manifest names, as `index_manifest.INDEX_COLUMNS`.

    Raises as `read_manifest`.
    """
    return index_columns(read_columns(file_io.read(path), path), path)


def write_index_manifest(
    file_io: FileIO,
    path: str,
    index_files: pa.Table,
    *,
    compression: str = "zstd",
    level: int = 1,
) -> int:
    """Writes an index manifest and returns its size in bytes. Raises as `write_manifest`.

    Args:
        file_io: The store.
        path: The index manifest.
        index_files: As `index_manifest.INDEX_COLUMNS`.
        compression: Of the file.
        level: Of zstd.
    """
    sink = pa.BufferOutputStream()
    settings = DataFileSettings(compression=compression, zstd_level=level)
    writer = AvroWriter(sink, INDEX_MANIFEST_FIELDS, settings)
    writer.write(index_records(index_files))
    writer.close()
    return _write(file_io, path, sink.getvalue().to_pybytes())


def _read(file_io: FileIO, path: str, size: int | None) -> bytes:
    data = file_io.read(path)
    if size is not None and len(data) != size:
        raise CorruptTableError(path, f"has {len(data)} bytes, {size} were written")
    return data


def _write(file_io: FileIO, path: str, data: bytes) -> int:
    with file_io.open_output(path) as output:
        output.write(data)
    return len(data)
