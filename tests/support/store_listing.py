"""What is in a store, seen past the code under test: bytes, data files, snapshots."""

import json
from collections.abc import Iterator

from lakebed.format.manifest import entries_from_columns
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table

HINTS = {"LATEST", "EARLIEST"}


def list_files(file_io: FileIO, root: str) -> Iterator[str]:
    """Every file below a directory."""
    for status in file_io.list(root):
        if status.is_directory:
            yield from list_files(file_io, status.path)
        else:
            yield status.path


def read_store(file_io: FileIO, root: str) -> dict[str, bytes]:
    """Path to bytes of every file below a directory, apart from hints."""
    return {
        path: file_io.read(path)
        for path in list_files(file_io, root)
        if path.rsplit("/", 1)[-1] not in HINTS
    }


def data_files(file_io: FileIO, root: str) -> set[str]:
    """Paths of all data files below a table's directory, referred to or not, drafts included."""
    return {path for path in list_files(file_io, root) if "/bucket-" in path}


def referenced_files(table: Table) -> set[str]:
    """Paths of the files that any snapshot of the table names: of data, indexes and changelogs."""
    read = {
        path
        for snapshot in table.snapshots()
        for split in table.scan(snapshot_id=snapshot.id).plan().splits
        for path in split.file_paths
    }
    return read | {path for snapshot in table.snapshots() for path in _other_files(table, snapshot)}


def _other_files(table: Table, snapshot: Snapshot) -> Iterator[str]:
    """Changelog files, and files that stand beside data files."""
    parts = table.parts()
    changelog = parts.manifests.entries(parts.manifests.changelog_files(snapshot))
    live = parts.manifests.live(snapshot, partitions=EveryPartition())
    for entry in entries_from_columns(changelog):
        directory = parts.split_files.bucket_directory(entry.partition, entry.bucket)
        yield f"{directory}/{entry.file.file_name}"
    for entry in entries_from_columns(live):
        directory = parts.split_files.bucket_directory(entry.partition, entry.bucket)
        yield from (f"{directory}/{name}" for name in entry.file.extra_files)


def orphans(table: Table, file_io: FileIO) -> set[str]:
    """Data files that no snapshot reads."""
    return data_files(file_io, table.location) - referenced_files(table)


def snapshot_ids(file_io: FileIO, location: str) -> list[int]:
    """Ids of the snapshot files, ascending."""
    names = (status.name for status in file_io.list(f"{location}/snapshot"))
    return sorted(int(name.removeprefix("snapshot-")) for name in names if name[-1].isdigit())


def read_snapshot(file_io: FileIO, location: str, snapshot_id: int) -> dict[str, object]:
    """A snapshot file as the JSON that it is."""
    found: dict[str, object] = json.loads(
        file_io.read(f"{location}/snapshot/snapshot-{snapshot_id}")
    )
    return found
