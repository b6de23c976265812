"""Which files do snapshots leave that nobody can find any more, and how are they deleted?

Expiry finds what goes in the changes alone, for it goes by a branch's own order. This is for all
other ways in which a snapshot goes: a tag that is deleted, a rollback, a branch that is deleted.

    released     what the first snapshot of each run reads, and what its later ones added
    less held    what the first snapshot of each branch reads, and what its later ones added, also
                 behind a gap that a broken-off rollback left; what tags read, and what an expiry
                 that did not come to its end will delete

Whoever releases deletes first what names the snapshots, and whoever makes a tag or a branch looks
for the snapshot again after it is there: so what is held is read after the first, and only once. A
crash leaves files that nobody names: orphans, which cleaning finds. Lists of manifests go before
what they name: a commit that does not know whether it was there and rolled back looks for its own.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from lakebed.errors import NotFoundError
from lakebed.format.arrow.typing import python_values
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.format.snapshot_lineage import runs_of
from lakebed.table.expiry.cleaning import Cleaning, delete_files
from lakebed.table.expiry.data_files import changelog_files
from lakebed.table.expiry.file_views import FileViews
from lakebed.table.expiry.metadata_files import MetadataFiles, MetadataReader
from lakebed.table.expiry.references import BranchReferences, find_references
from lakebed.table.parts import TableParts
from lakebed.table.spreading import threads

Runs = Sequence[Sequence[Snapshot]]


def release(parts: TableParts, runs: Runs, *, with_changelogs: bool) -> None:
    """Deletes the files that only snapshots need which nobody can find any more.

    Args:
        parts: The table, or one of its branches.
        runs: The snapshots; the files and tags that named them are deleted already. Each run
            ascends without a gap, as a part of one branch; a tag's snapshot is a run of its own.
        with_changelogs: Whether their changelogs go too; a tag keeps none.

    Raises:
        CorruptTableError: Something that may keep files cannot be read; no file was deleted.
        NotFoundError: It is gone; no file was deleted.
        StorageError: The store failed; what is left is for orphan cleaning.
    """
    released = [run for run in runs if run]
    if not released:
        return
    with threads(parts) as spread:
        reader = MetadataReader(parts=parts, spread=spread)
        cleaning = _cleaning(reader, released, with_changelogs=with_changelogs)
        delete_files(reader, cleaning, names_first=True)


def _cleaning(reader: MetadataReader, runs: Runs, *, with_changelogs: bool) -> Cleaning:
    while True:
        references = find_references(reader.parts)
        try:
            return _unheld(reader, runs, references, with_changelogs=with_changelogs)
        except NotFoundError:
            # Snapshots may expire meanwhile.
            if find_references(reader.parts) == references:
                raise


def _unheld(
    reader: MetadataReader,
    runs: Runs,
    references: Sequence[BranchReferences],
    *,
    with_changelogs: bool,
) -> Cleaning:
    released = [snapshot for run in runs for snapshot in run]
    named = reader.lenient.files(released, with_changelogs=with_changelogs)
    unnamed = named.less(MetadataFiles.joined(_held_metadata(reader, references)))
    contents = (
        _unheld_data_files(reader, runs, references),
        changelog_files(reader.lenient, unnamed.changelog_manifests),
        unnamed.index_files,
    )
    return Cleaning(
        contents=frozenset().union(*contents),
        manifests=unnamed.manifests | unnamed.changelog_manifests,
        lists=unnamed.lists,
    )


def _held_metadata(
    reader: MetadataReader, references: Sequence[BranchReferences]
) -> Iterator[MetadataFiles]:
    for branch in references:
        yield reader.files(branch.snapshots)
        yield reader.files(branch.tags, with_changelogs=False)
        yield reader.lenient.files(branch.copies)
        for changelog in branch.changelogs:
            yield reader.files_of_changelog(changelog, with_changes=_is_of_changes(changelog))


def _unheld_data_files(
    reader: MetadataReader, runs: Runs, references: Sequence[BranchReferences]
) -> set[str]:
    """Paths of the data files that are released and not held, and of what lies beside them."""
    later = [snapshot for run in runs for snapshot in run[1:]]
    files = FileViews.of(reader.lenient, [run[0] for run in runs], later).files()
    is_held = np.zeros(files.num_rows, dtype=bool)
    if files.num_rows:
        for views in _held_views(reader, references):
            is_held |= views.among(files)
    return set(python_values(files["path"].filter(pa.array(~is_held))))


def _held_views(
    reader: MetadataReader, references: Sequence[BranchReferences]
) -> Iterator[FileViews]:
    runs = [run for branch in references for run in runs_of(branch.snapshots)]
    whole = [*(run[0] for run in runs), *(each for branch in references for each in branch.tags)]
    yield FileViews.of(reader, whole, [each for run in runs for each in run[1:]])
    copies = [each for branch in references for each in branch.copies]
    changelogs = [each for branch in references for each in branch.changelogs]
    yield FileViews.of(reader.lenient, copies, [*filter(_is_of_changes, changelogs)])


def _is_of_changes(changelog: Snapshot) -> bool:
    """Whether the data files that its snapshot added may be what readers of a changelog read."""
    return (
        changelog.changelog_manifest_list is None
        and changelog.commit_kind is not CommitKind.COMPACT
    )
