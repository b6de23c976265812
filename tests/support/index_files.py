"""Writes that bring index files, changelog files and file indexes; and what no snapshot names."""

import json
from collections.abc import Sequence
from dataclasses import replace

from lakebed.format.avro.write_schema import avro_schema_text
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.index_manifest import (
    DELETION_VECTORS,
    INDEX_MANIFEST_FIELDS,
    DeletionVectorRange,
    IndexManifestEntry,
    index_entries_to_columns,
    index_records,
)
from lakebed.format.manifest_file import read_entries
from lakebed.format.paths import FileNames
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.storage.file_io import FileIO
from lakebed.table.committing import commit, delete_written
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.routers import rows_writer
from lakebed.table.row_changes import append_changes
from lakebed.table.table import Table
from lakebed.table.writing.commit_message import CommitMessage
from support.store_listing import list_files

INDEX_MANIFEST_SCHEMA = json.loads(avro_schema_text(INDEX_MANIFEST_FIELDS))
"""For Avro files of records that Lakebed itself would not write."""


def index_record(entry: IndexManifestEntry) -> dict[str, object]:
    """The Avro record of an entry."""
    record: dict[str, object] = index_records(index_entries_to_columns([entry])).to_pylist()[0]
    return record


def index_entry(
    name: str,
    *,
    partition: bytes = b"",
    bucket: int = 0,
    index_type: str = "HASH",
    data_files: Sequence[str] = (),
) -> IndexManifestEntry:
    """An entry of an index manifest."""
    ranges = tuple(
        DeletionVectorRange(data_file_name=each, offset=1, length=22) for each in data_files
    )
    return IndexManifestEntry(
        partition=partition,
        bucket=bucket,
        index_type=index_type,
        file_name=name,
        file_size=4,
        row_count=1,
        deletion_vectors_ranges=ranges if index_type == DELETION_VECTORS else None,
    )


def write_with_indexes(
    table: Table, data: object, *, changelog: bool = True, base: WriteBase | None = None
) -> Snapshot | None:
    """Appends rows; each bucket brings a hash index, a changelog file and a file index."""
    parts = table.parts()
    base = parts.write_base() if base is None else base
    names = FileNames(parts.session.effects.fresh_uuid)
    messages: list[CommitMessage] = []
    with rows_writer(parts, base) as rows:
        rows.add(data)
        for message in rows.finish():
            messages.append(_planned(message, names, changelog=changelog))
            try:
                _write_extras(parts, messages[-1])
            except Exception:
                delete_written(parts, messages)
                raise
    changes = append_changes(parts, messages, base=base, operation=Operation.WRITE)
    return commit(parts, changes, messages)


def _planned(message: CommitMessage, names: FileNames, *, changelog: bool) -> CommitMessage:
    def with_index(file: DataFileMeta) -> DataFileMeta:
        return replace(file, extra_files=(f"{file.file_name}.index",))

    entry = index_entry(names.index(), partition=message.partition, bucket=message.bucket)
    return replace(
        message,
        new_files=tuple(map(with_index, message.new_files)),
        changelog_files=tuple(
            replace(file, file_name=names.changelog_file()) for file in message.new_files
        )
        if changelog
        else (),
        new_index_files=(entry,),
    )


def _write_extras(parts: TableParts, message: CommitMessage) -> None:
    directory = parts.split_files.bucket_directory(message.partition, message.bucket)
    for file in message.new_files:
        _write(parts.file_io, f"{directory}/{file.file_name}.index")
    for file in message.changelog_files:
        _write(parts.file_io, f"{directory}/{file.file_name}")
    for entry in message.new_index_files:
        _write(parts.file_io, parts.paths.index(entry.file_name))


def _write(file_io: FileIO, path: str) -> None:
    with file_io.open_output(path) as output:
        output.write(b"made")


def unnamed_files(table: Table, file_io: FileIO) -> set[str]:
    """Names of the files of a table, metadata included, that no snapshot of it needs."""
    parts = table.parts()
    named: set[str] = set()
    for snapshot in table.snapshots():
        lists = (
            snapshot.base_manifest_list,
            snapshot.delta_manifest_list,
            snapshot.changelog_manifest_list,
            snapshot.index_manifest,
        )
        named.update(each for each in lists if each is not None)
        named.update(entry.file_name for entry in parts.manifests.index_files(snapshot))
        metas = [*parts.manifests.files(snapshot), *parts.manifests.changelog_files(snapshot)]
        for meta in metas:
            named.add(meta.file_name)
            for entry in read_entries(file_io, parts.paths.manifest(meta.file_name)):
                named.update((entry.file.file_name, *entry.file.extra_files))
    found = {
        path.rsplit("/", 1)[-1]
        for path in list_files(file_io, table.location)
        if not any(f"/{each}/" in path for each in ("schema", "snapshot"))
    }
    return found - named
