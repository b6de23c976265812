"""Which files do the snapshots, tags and branches of a table need? Told entry by entry."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lakebed.errors import NotFoundError
from lakebed.format.data_file_meta import FileKind, FileSource, ManifestEntry
from lakebed.format.manifest import ManifestFileMeta
from lakebed.format.manifest_file import read_entries
from lakebed.format.snapshot import Snapshot
from lakebed.options.choices import ChangelogProducer
from lakebed.options.expiry_options import ExpiryOptions
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts
from lakebed.table.table import Table
from support.store_listing import list_files

_CONTROL = {"schema", "snapshot", "tag", "branch", "consumer", "changelog"}


def put_tag(table: Table, name: str, snapshot_id: int) -> None:
    """Makes a tag of a snapshot."""
    parts = table.parts()
    parts.file_io.write(parts.paths.tag(name), parts.snapshots.load(snapshot_id).to_json())


def put_branch(table: Table, name: str, tag: str) -> None:
    """Makes a branch of a tag."""
    parts = table.parts()
    snapshot = Tags(parts.file_io, parts.paths).load(tag).snapshot
    branch = parts.paths.of_branch(name)
    for path in (branch.tag(tag), branch.snapshot(snapshot.id)):
        parts.file_io.write(path, snapshot.to_json())
    for schema_id in parts.schemas.list_ids():
        data = parts.file_io.read(parts.paths.schema(schema_id))
        parts.file_io.write(branch.schema(schema_id), data)


def lacking_and_unneeded(table: Table, branches: Sequence[str] = ()) -> tuple[set[str], set[str]]:
    """The files that are needed and not there, and those that are there and not needed."""
    parts = table.parts()
    needed = {path for name in ("main", *branches) for path in _needed(parts, name)}
    root = f"{parts.paths.location}/"
    there = {
        path
        for path in list_files(parts.file_io, parts.paths.location)
        if path.removeprefix(root).split("/")[0] not in _CONTROL
    }
    return needed - there, there - needed


def _needed(parts: TableParts, branch: str) -> Iterator[str]:
    paths = parts.paths.of_branch(branch)
    stored, tags = Snapshots(parts.file_io, paths), Tags(parts.file_io, paths)
    for snapshot_id in stored.list_ids():
        snapshot = stored.load(snapshot_id)
        yield from _of_snapshot(parts, snapshot)
        yield from _of_changelog(parts, snapshot)
    for name in tags.list_names():
        yield from _of_snapshot(parts, tags.load(name).snapshot)
    changelogs = Changelogs(parts.file_io, paths)
    kept = [changelogs.find(snapshot_id) for snapshot_id in changelogs.list_ids()]
    for changelog in kept:
        assert changelog is not None
        yield from _of_changelog(parts, changelog)
    keeps = ExpiryOptions.parse(parts.texts).keeps_changelogs
    if (kept or keeps) and parts.options.changelog_producer is ChangelogProducer.NONE:
        end = stored.load(stored.list_ids()[0])
        for changelog in (*kept, end):
            assert changelog is not None
            yield from _of_changes(parts, changelog)


def _of_snapshot(parts: TableParts, snapshot: Snapshot) -> Iterator[str]:
    paths = parts.paths
    yield paths.manifest(snapshot.base_manifest_list)
    yield paths.manifest(snapshot.delta_manifest_list)
    if snapshot.statistics is not None:
        yield paths.statistics(snapshot.statistics)
    metas = parts.manifests.files(snapshot)
    yield from (paths.manifest(meta.file_name) for meta in metas)
    counts: Counter[tuple[bytes, int, int, str]] = Counter()
    found = {}
    for entry in _entries(parts.file_io, parts, metas):
        identity = (entry.partition, entry.bucket, entry.file.level, entry.file.file_name)
        counts[identity] += 1 if entry.kind is FileKind.ADD else -1
        if entry.kind is FileKind.ADD:
            found[identity] = entry
    for identity, entry in found.items():
        if counts[identity]:
            yield from _of_entry(parts, entry)
    if snapshot.index_manifest is not None:
        yield paths.manifest(snapshot.index_manifest)
        yield from map(parts.index_paths.of, parts.manifests.index_files(snapshot))


def _of_changelog(parts: TableParts, snapshot: Snapshot) -> Iterator[str]:
    if snapshot.changelog_manifest_list is None:
        return
    try:
        metas = parts.manifests.changelog_files(snapshot)
    except NotFoundError:
        return  # a branch was made of a tag whose changelog is gone
    yield parts.paths.manifest(snapshot.changelog_manifest_list)
    yield from (parts.paths.manifest(meta.file_name) for meta in metas)
    for entry in _entries(parts.file_io, parts, metas):
        yield from _of_entry(parts, entry)


def _of_changes(parts: TableParts, changelog: Snapshot) -> Iterator[str]:
    """What a changelog needs where there is no producer.

    What a write brought goes with the changelog of the snapshot that deleted it; what a compaction
    brought is no change.
    """
    yield parts.paths.manifest(changelog.base_manifest_list)
    yield parts.paths.manifest(changelog.delta_manifest_list)
    yield from (parts.paths.manifest(m.file_name) for m in parts.manifests.files(changelog))
    for entry in _entries(parts.file_io, parts, parts.manifests.delta_files(changelog)):
        if entry.file.file_source == FileSource.APPEND:
            yield from _of_entry(parts, entry)


def _entries(
    file_io: FileIO, parts: TableParts, metas: Iterable[ManifestFileMeta]
) -> Iterator[ManifestEntry]:
    for meta in metas:
        yield from read_entries(file_io, parts.paths.manifest(meta.file_name))


def _of_entry(parts: TableParts, entry: ManifestEntry) -> Iterator[str]:
    directory = parts.split_files.bucket_directory(entry.partition, entry.bucket)
    yield from (f"{directory}/{name}" for name in (entry.file.file_name, *entry.file.extra_files))
