"""Which data files do only expired snapshots need (format.md 16)?

A file was needed up to the snapshot before the one that deleted it. So what goes is found in the
changes alone, and the files of a table need not be read:

    snapshot      1     2     3     4     5     6       1 to 4 expired; 5 is the first one kept
    file a     ADD----------DELETE                      goes
    file b                 ADD----------DELETE          goes
    file c                 ADD----------------DELETE    stays: 5 reads it
    file d     ADD----------DELETE     ADD------        stays: it was added again, by a rollback
    file e     ADD--[tag]---DELETE                      stays: the newest tag before its end has it

What the first expired snapshot deleted went with the one before it. Where another branch shares
files, or an earlier expiry did not come to its end, live files are read too, of those partitions.

Where changelogs outlive their snapshots and are what snapshots changed (`changelog-producer` =
none), a file that a write brought stays beyond the snapshot that deletes it, and goes with the
changelog of that: those who read on from an older changelog find it.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa

from lakebed.errors import NotFoundError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import FileKind, FileSource
from lakebed.format.manifest import entry_schema
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_lineage import runs_of
from lakebed.table.expiry.file_views import FILE_COLUMNS, FileViews, file_paths
from lakebed.table.expiry.holders import Holders
from lakebed.table.expiry.metadata_files import MetadataReader
from lakebed.table.parts import TableParts

_CHANGE_COLUMNS = FILE_COLUMNS | {"file_source"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outliving:
    """Which changelogs are kept for longer than their snapshots.

    Attributes:
        ids: The snapshots that leave one, the first one kept among them.
        first: The oldest one that stays, of a snapshot that expired before; None where there is
            none.
        are_changes: Whether what a snapshot changed is its changelog: there is no producer.
    """

    ids: frozenset[int] = frozenset()
    first: Snapshot | None = None
    are_changes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Expired:
    """Snapshots and changelogs that go, and the snapshots that follow them.

    Attributes:
        leftover: Gone before, in an expiry that did not come to its end; ascending.
        expiring: Those that go now, ascending.
        changelogs: Changelogs that go now, of snapshots that expired before; ascending.
        end: The first snapshot kept.
        overwriting: Those kept after it that may name again what it does not: a rollback is an
            overwrite.
        outliving: The changelogs that stay.
    """

    leftover: tuple[Snapshot, ...] = ()
    expiring: tuple[Snapshot, ...] = ()
    changelogs: tuple[Snapshot, ...] = ()
    end: Snapshot
    overwriting: tuple[Snapshot, ...]
    outliving: Outliving = Outliving()

    @property
    def all(self) -> tuple[Snapshot, ...]:
        """Every expired snapshot, ascending."""
        return (*self.leftover, *self.expiring)

    def tags_among(self, tags: Sequence[Snapshot]) -> list[Snapshot]:
        """The tags that may need what goes: the newest before the end of each file.

        What a tag of a snapshot from `end` on needs, `end` needs too, or nobody deleted it yet. A
        file may also end in a snapshot that is gone with all that would tell so.

        Args:
            tags: What the tags of its history name, ascending.
        """
        ids = [each.id for each in tags]
        gone = [each.id for each in (*self.changelogs, *self.all)]
        ends = {*gone, *(each + 1 for each in gone), self.end.id}
        places = {bisect_left(ids, each) - 1 for each in ends}
        return [tags[place] for place in sorted(places) if place >= 0]


def unneeded_data_files(reader: MetadataReader, expired: Expired, holders: Holders) -> set[str]:
    """Paths of data files that go, and of what lies beside them.

    Raises:
        CorruptTableError: A manifest that matters cannot be read.
        NotFoundError: It is gone.
    """
    before, is_whole = _turns(reader, expired)
    kept = list(_changes(reader, expired, [expired.end, *expired.overwriting]))
    # What the first one kept deleted is not live in it; of changelogs it is none of their business.
    last_turn = len(before) + bool(expired.all)
    gone = _gone(reader.parts, [*before, *kept], last_turn=last_turn)
    if not gone.num_rows:
        return set()
    live, added = _holding(expired, holders)
    if not is_whole:
        live.append(expired.end)
    is_held = FileViews.of(reader, live, added).among(gone)
    # What it needs of what others deleted already, a commit that may come about cannot have.
    is_held |= FileViews.of(reader.lenient, holders.apart).among(gone)
    return set(python_values(gone["path"].filter(pa.array(~is_held))))


def changelog_files(reader: MetadataReader, manifests: Iterable[str]) -> set[str]:
    """Paths of the changelog files that manifests add, and of what lies beside them."""
    tables = reader.spread(partial(reader.entries, columns=FILE_COLUMNS), manifests)
    entries = pa.concat_tables([entry_schema(FILE_COLUMNS).empty_table(), *tables])
    added = entries.filter(pc.equal(entries["kind"], int(FileKind.ADD)))
    return set(python_values(file_paths(reader.parts, added)["path"]))


def _turns(reader: MetadataReader, expired: Expired) -> tuple[list[pa.Table], bool]:
    """What was changed by each changelog that goes and each snapshot after the first expired one.

    Also whether that is all. Where an earlier expiry did not come to its end, changes may be gone,
    and the branch may have been rolled back to a tag since.
    """
    told = [each for each in expired.changelogs if each.changelog_manifest_list is None]
    if told or expired.leftover:
        return list(_changes(reader.lenient, expired, [*told, *expired.all])), False
    try:
        return list(_changes(reader, expired, expired.all[1:])), True
    except NotFoundError:
        return list(_changes(reader.lenient, expired, expired.all[1:])), False


def _gone(parts: TableParts, turns: Sequence[pa.Table], *, last_turn: int) -> pa.Table:
    """What changes up to the last turn deleted and none added again."""
    tables = [file_paths(parts, each) for each in turns]
    numbers = np.repeat(np.arange(1, len(tables) + 1), [each.num_rows for each in tables])
    files = pl.DataFrame(pa.concat_tables(tables).append_column("turn", pa.array(numbers)))
    is_add = pl.col("kind") == FileKind.ADD
    found = files.group_by("path", "partition").agg(
        pl.col("turn").filter(is_add).max().fill_null(0).alias("added"),
        pl.col("turn").filter(~is_add & (pl.col("turn") <= last_turn)).max().alias("deleted"),
    )
    # What one snapshot deleted and added only rose to another level.
    return found.filter(pl.col("added") < pl.col("deleted")).to_arrow()


def _changes(
    reader: MetadataReader, expired: Expired, snapshots: Sequence[Snapshot]
) -> Iterable[pa.Table]:
    """What each snapshot changed; not what it deleted that goes with its changelog."""
    return reader.spread(partial(_delta, reader, expired.outliving), snapshots)


def _delta(reader: MetadataReader, outliving: Outliving, snapshot: Snapshot) -> pa.Table:
    manifest = reader.parts.paths.manifest
    tables = [
        reader.entries(manifest(meta.file_name), _CHANGE_COLUMNS, size=meta.file_size)
        for meta in reader.delta_files(snapshot)
    ]
    entries = pa.concat_tables([entry_schema(_CHANGE_COLUMNS).empty_table(), *tables])
    if outliving.are_changes and snapshot.id in outliving.ids:
        is_compacted = pc.equal(entries["file_source"], int(FileSource.COMPACT))
        is_add = pc.equal(entries["kind"], int(FileKind.ADD))
        entries = entries.filter(pc.or_(is_add, pc.fill_null(is_compacted, fill_value=False)))
    return entries.select(entry_schema(FILE_COLUMNS).names)


def _holding(expired: Expired, holders: Holders) -> tuple[list[Snapshot], list[Snapshot]]:
    """The snapshots all of whose files tags and branches need, and those whose new files."""
    live = expired.tags_among(holders.tags)
    added: list[Snapshot] = []
    for branch in holders.branches:
        runs = runs_of(branch.snapshots)
        live += [*(run[0] for run in runs), *branch.tags]
        added += [each for run in runs for each in run[1:]]
    return live, added
