"""Bugs that are planted, to show that the simulation finds such.

Each is a context in which one thing is done as it must not be. `planted_seeds.json` has a seed for
each in which it does harm; `find_planted` looks for them.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.paths import rollback_tag
from lakebed.format.snapshot import Snapshot
from lakebed.storage.file_io import PutResult
from lakebed.table import committing, parts, repairs
from lakebed.table.cleaning import needed
from lakebed.table.expiry import expire, references
from lakebed.table.expiry.cleaning import Cleaning, delete_files
from lakebed.table.expiry.data_files import Expired
from lakebed.table.expiry.holders import Holders
from lakebed.table.expiry.metadata_files import MetadataReader
from lakebed.table.history_changes.claim import HistoryClaim
from lakebed.table.history_changes.roll_back import _Above
from lakebed.table.metadata.history_marker import HistoryMarker
from lakebed.table.metadata.partitions import PartitionsAmong
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.parts import TableParts
from lakebed.table.tags import making
from lakebed.table.writing import changes, commit
from lakebed.table.writing.changes import AppendChanges, Prepared
from lakebed.table.writing.commit import Committer
from lakebed.table.writing.publishing import Committed, Conflict, Outcome, Publisher, Unknown
from lakebed.table.writing.standing import Standing
from simulation.faults import SimFileIO
from simulation.simulation import Scenario


@contextmanager
def _replaced(owner: object, name: str, value: object) -> Iterator[None]:
    honest = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, honest)


def rename_that_overwrites() -> AbstractContextManager[None]:
    """A store that looks whether a file is there and then renames another over it."""

    def put(self: SimFileIO, path: str, data: bytes) -> PutResult:
        if self.exists(path):
            return PutResult.PRESENT
        self._raise(self._begin("rename", path, "before"), "rename", path)
        return self.put_over(path, data)

    return _replaced(SimFileIO, "put_if_absent", put)


def conflict_check_skipped() -> AbstractContextManager[None]:
    """Files are deleted that others deleted meanwhile."""
    return _replaced(changes, "check_deletes_live", _accept)


def index_check_skipped() -> AbstractContextManager[None]:
    """Deletion vectors are replaced that others replaced meanwhile."""
    return _replaced(changes, "check_index_files_kept", _accept)


def cleaning_on_unknown() -> AbstractContextManager[None]:
    """The files of a commit are deleted when the store did not say whether it succeeded."""

    class NeverRaisedError(Exception):
        pass

    return _replaced(committing, "CommitUnknownError", NeverRaisedError)


def unknown_taken_as_failure() -> AbstractContextManager[None]:
    """A put without an answer is taken as lost, and the commit is tried with the next id."""
    honest = Publisher.publish

    def publish(self: Publisher, snapshot: Snapshot, base: Snapshot | None) -> Outcome:
        put = self.file_io.put_if_absent(self.paths.snapshot(snapshot.id), snapshot.to_json())
        if put is PutResult.UNKNOWN:
            return Conflict(snapshot.id)
        return honest(self, snapshot, base)

    return _replaced(Publisher, "publish", publish)


def no_reading_back() -> AbstractContextManager[None]:
    """A snapshot that is there already is always taken as somebody else's."""

    def publish(self: Publisher, snapshot: Snapshot, base: Snapshot | None) -> Outcome:
        del base
        path, data = self.paths.snapshot(snapshot.id), snapshot.to_json()
        for _ in range(5):
            match self.file_io.put_if_absent(path, data):
                case PutResult.WRITTEN:
                    return Committed(snapshot)
                case PutResult.PRESENT:
                    return Conflict(snapshot.id)
                case PutResult.UNKNOWN:
                    continue
        return Unknown(snapshot.id)

    return _replaced(Publisher, "publish", publish)


def no_look_at_the_base() -> AbstractContextManager[None]:
    """A snapshot stands wherever there was a free place for it."""
    return _replaced(Standing, "stands", lambda *_: True)


def replay_check_skipped() -> AbstractContextManager[None]:
    """What a user committed before is committed again."""
    return _replaced(Committer, "_is_replay", lambda *_: False)


def hint_believed() -> AbstractContextManager[None]:
    """`LATEST` is taken as the truth."""
    honest = Snapshots.latest_id

    def latest_id(self: Snapshots) -> int | None:
        return self._hint(self.paths.latest_hint) or honest(self)

    return _replaced(Snapshots, "latest_id", latest_id)


def expiry_that_sees_no_tags() -> AbstractContextManager[None]:
    """Files go that tags need."""
    return _holders_less(lambda holders: replace(holders, tags=()))


def files_before_snapshots() -> AbstractContextManager[None]:
    """An expiry deletes files while their snapshots can be found."""

    def carry_out(reader: MetadataReader, expired: Expired) -> None:
        delete_files(reader, Cleaning.of(reader, expired, Holders.found(reader.parts)))
        for snapshot in expired.expiring:
            reader.parts.file_io.delete(reader.parts.paths.snapshot(snapshot.id))

    return _replaced(expire, "carry_out", carry_out)


def tag_without_a_look() -> AbstractContextManager[None]:
    """A tag is made of a snapshot that may have expired meanwhile."""
    return _replaced(making, "_keep_or_take_back", _accept)


def rollback_that_lists_once() -> AbstractContextManager[None]:
    """Who commits while a rollback deletes is left with what it builds on gone."""

    honest = _Above.of

    def of(cls: type[_Above], parts: TableParts, snapshot_id: int, *, tags_above: int) -> _Above:
        del cls
        found = honest(parts, snapshot_id, tags_above=tags_above)
        has_begun = parts.file_io.exists(parts.paths.tag(rollback_tag(snapshot_id)))
        return replace(found, paths=[], runs=[]) if has_begun else found

    return _replaced(_Above, "of", classmethod(of))


def commits_beside_a_rollback() -> AbstractContextManager[None]:
    """Who commits does not look whether the history is being taken back, or half taken back."""

    class Blind(HistoryMarker):
        def find(self) -> None:
            return None

    return _replaced(commit, "HistoryMarker", Blind)


def rollback_that_does_not_stop() -> AbstractContextManager[None]:
    """Who rolls back does not look whether another call of the same took its place."""
    return _replaced(HistoryClaim, "check", _accept)


def cleaning_of_young_files() -> AbstractContextManager[None]:
    """Files go that are about to be committed."""
    return _replaced(repairs, "oldest_kept_ms", lambda parts, _: parts.session.effects.clock() + 1)


def cleaning_of_one_snapshot() -> AbstractContextManager[None]:
    """A cleaning keeps what the snapshots of the table need, and forgets tags and branches."""
    honest = references.find_references
    return _replaced(
        needed,
        "find_references",
        lambda parts: tuple(replace(each, tags=()) for each in honest(parts)[:1]),
    )


def compaction_of_what_is_there_now() -> AbstractContextManager[None]:
    """A compaction deletes all files of its partitions, also those that it did not read."""
    honest = AppendChanges.prepare

    def prepare(self: AppendChanges, latest: Snapshot | None) -> Prepared:
        if not self.is_compaction or latest is None:
            return honest(self, latest)
        added = [
            entry
            for message in self.messages
            for entry in message.entries()
            if entry.kind is FileKind.ADD
        ]
        places = frozenset(entry.partition for entry in added)
        live = self.manifests.live(latest, partitions=PartitionsAmong(places))
        deleted: Sequence[ManifestEntry] = self.manifests.delete_entries(live)
        prepared = honest(self, self.based_on)
        return replace(prepared, entries=[*deleted, *added])

    return _replaced(AppendChanges, "prepare", prepare)


def stale_index_manifest() -> AbstractContextManager[None]:
    """A write brings back the index files of the snapshot that it began with."""
    honest = AppendChanges.prepare

    def prepare(self: AppendChanges, latest: Snapshot | None) -> Prepared:
        prepared = honest(self, latest)
        if prepared.index_files is not None or self.based_on is None:
            return prepared
        return replace(prepared, index_files=self.manifests.index_columns(self.based_on))

    return _replaced(AppendChanges, "prepare", prepare)


def sequence_numbers_reused() -> AbstractContextManager[None]:
    """Each writer counts from the start."""
    return _replaced(parts, "max_sequence_numbers", lambda *_: {})


def _accept(*_: object, **__: object) -> None:
    """A check that finds nothing."""


def _holders_less(cut: Callable[[Holders], Holders]) -> AbstractContextManager[None]:
    honest: Any = Holders.__dict__["found"]
    found = honest.__func__
    return _replaced(Holders, "found", classmethod(lambda cls, parts: cut(found(cls, parts))))


@dataclass(frozen=True, slots=True)
class Bug:
    """A bug, and where it can do harm.

    Attributes:
        plant: The context in which it is there.
        kinds: The kinds of tables; all where empty.
        actors: Who must take part.
        meets_faults: Whether calls must fail.
    """

    plant: Callable[[], AbstractContextManager[None]]
    kinds: frozenset[str] = frozenset()
    actors: frozenset[str] = frozenset()
    meets_faults: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return self.plant.__name__

    def may_harm(self, scenario: Scenario) -> bool:
        """Whether it is worth a run."""
        return (
            (not self.kinds or scenario.kind.name in self.kinds)
            and self.actors <= set(scenario.actors)
            and (not self.meets_faults or scenario.rates.error > 0)
        )


_MARKED = frozenset({"marked"})

BUGS = (
    Bug(rename_that_overwrites),
    Bug(conflict_check_skipped, actors=frozenset({"compactor"})),
    Bug(index_check_skipped, kinds=_MARKED),
    Bug(cleaning_on_unknown, meets_faults=True),
    Bug(unknown_taken_as_failure, meets_faults=True),
    Bug(no_reading_back, meets_faults=True),
    Bug(no_look_at_the_base, actors=frozenset({"rollbacker"})),
    Bug(replay_check_skipped, actors=frozenset({"stream"}), meets_faults=True),
    Bug(hint_believed),
    Bug(files_before_snapshots, actors=frozenset({"expirer"})),
    Bug(compaction_of_what_is_there_now, actors=frozenset({"compactor"})),
    Bug(stale_index_manifest, kinds=_MARKED),
    Bug(sequence_numbers_reused, kinds=frozenset({"upsert"})),
    Bug(expiry_that_sees_no_tags, actors=frozenset({"expirer", "tagger"})),
    Bug(tag_without_a_look, actors=frozenset({"expirer", "tagger"})),
    Bug(rollback_that_lists_once, actors=frozenset({"rollbacker"})),
    Bug(commits_beside_a_rollback, actors=frozenset({"rollbacker"}), meets_faults=True),
    Bug(rollback_that_does_not_stop, actors=frozenset({"rollbacker", "repeater"})),
    Bug(cleaning_of_young_files, actors=frozenset({"cleaner"})),
    Bug(cleaning_of_one_snapshot, actors=frozenset({"cleaner", "tagger"})),
)
