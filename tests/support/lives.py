"""What random lives of tables have in common: a table that is committed to, and its past."""

import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Generic, TypeVar

from lakebed.errors import CommitConflictError, LakebedError
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import Snapshot
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.job import CompactionJob
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from lakebed.table.writing.commit_message import CommitMessage
from support.effects import open_catalog, reopen
from support.index_files import unnamed_files
from support.store_listing import data_files

PARTITIONS = ("x", "y:")
_STEP_COUNT = 10
_LOOKS_BACK = 3
_FULL_SHARE = 0.4

State = TypeVar("State")
Step = Callable[[], None]
Rival = Callable[[Table], None]


class Life(Generic[State]):
    """A table of a seed, what it must show and what its snapshots showed.

    Attributes:
        chance: Decides everything.
        store: Where the table is.
        catalog: Where it is listed.
        is_partitioned: Whether `p` is a partition column.
        counts: How much was tried.
        log: What was done, a line a step.
        past: What each snapshot that is kept shows.
        dropped: Partitions that were replaced since this was last cleared.
        table: The table.
    """

    table: Table

    def __init__(self, seed: int) -> None:
        """Makes an empty catalog."""
        self.chance = random.Random(seed)
        self.store = MemoryFileIO()
        memory = self.chance.choice(["1 b", "2 kb", "64 mb"])
        self.catalog = open_catalog(self.store, options={"lakebed.merge.memory": memory})
        self.catalog.create_database("db")
        self.is_partitioned = self.chance.random() < 0.5
        self.counts: Counter[str] = Counter()
        self.log = [f"{memory=}, {self.is_partitioned=}"]
        self.past: dict[int, State] = {}
        self.dropped: set[str] = set()
        self._process = 100

    def steps(self) -> dict[Step, int]:
        """What may happen, and how often; the first begins the life."""
        raise NotImplementedError

    def rivals(self) -> dict[Rival, bool]:
        """What may be committed while a compaction runs, and whether it leaves its files."""
        raise NotImplementedError

    def state(self) -> State:
        """What the table holds."""
        raise NotImplementedError

    def visible(self) -> State:
        """What of that readers see."""
        return self.state()

    def read(self, snapshot_id: int | None = None) -> State:
        """What readers see."""
        raise NotImplementedError

    def compacted(self, planned: State) -> None:
        """A compaction that was planned when the table held these rows is committed."""

    def run(self) -> None:
        """Lives; an `AssertionError` says what went wrong."""
        steps = self.steps()
        next(iter(steps))()
        for step in self.chance.choices(list(steps), list(steps.values()), k=_STEP_COUNT):
            step()
            self.check()
        self.compact(is_full=True)
        self.check()
        kept = list(self.past)
        for snapshot_id in self.chance.sample(kept, min(len(kept), _LOOKS_BACK)):
            assert self.read(snapshot_id) == self.past[snapshot_id], f"{snapshot_id} changed"
        left = unnamed_files(self.table, self.store)
        assert not left, f"files that no snapshot needs are left: {left}"

    def check(self) -> None:
        """Readers see what they must."""
        assert self.read() == self.visible(), "rows are wrong"

    def create(
        self,
        name: str,
        columns: Sequence[tuple[str, str]],
        options: Mapping[str, str],
        *,
        primary_key: Sequence[str] = (),
    ) -> Table:
        """A table of the catalog."""
        return self.catalog.create_table(
            name,
            schema=schema(columns),
            primary_key=primary_key,
            partition_by=["p"] if self.is_partitioned else [],
            options=options,
        )

    def drawn(self, choices: Mapping[str, Sequence[str | None]]) -> dict[str, str]:
        """One of the values of each option; None leaves it out."""
        drawn = {key: self.chance.choice(values) for key, values in choices.items()}
        return {key: value for key, value in drawn.items() if value is not None}

    def drawn_partition(self) -> dict[str, str] | None:
        """A partition, or None for the whole table."""
        if not self.is_partitioned or self.chance.random() < 0.3:
            return None
        return {"p": self.chance.choice(PARTITIONS)}

    def drop(self, partition: Mapping[str, str] | None) -> Collection[str]:
        """Notes which partitions were replaced."""
        gone = PARTITIONS if partition is None else partition.values()
        self.dropped.update(gone)
        return gone

    def elsewhere(self) -> Table:
        """The table in another process."""
        self._process += 1
        return reopen(self.table, self.store, seed=self._process)

    def committed(self, snapshot: Snapshot | None) -> None:
        """Remembers what a snapshot shows."""
        if snapshot is not None:
            self.counts["commits"] += 1
            self.past[snapshot.id] = self.visible()

    def compact(self, table: Table | None = None, *, is_full: bool | None = None) -> bool:
        """Compacts; whether in full."""
        if is_full is None:
            is_full = self._is_full()
        self.log.append("compact" + " in full" * is_full)
        planned = self.state()
        self.dropped.clear()
        snapshot = _job(table or self.table, is_full=is_full).carry_out()
        self.compacted(planned)
        self.counts["compactions"] += snapshot is not None
        self.committed(snapshot)
        return is_full

    def compact_beside_a_rival(self) -> None:
        """Plans a compaction and runs it, lets a rival commit, and commits it."""
        is_full = self._is_full()
        job = _job(self.table, is_full=is_full)
        planned = self.state()
        messages = job.run()
        rivals = self.rivals()
        rival = self.chance.choice(list(rivals))
        self.log.append(f"compaction{' in full' * is_full} begun; beside it:")
        self.dropped.clear()
        rival(self.elsewhere())
        if not job.compactions:
            return
        try:
            snapshot = job.commit(messages)
        except CommitConflictError:
            self.counts["compactions refused"] += 1
            self.log.append("the compaction was refused")
            left = _new_files(messages) & self._data_files()
            assert not left, f"a refused compaction left {left}"
            assert not rivals[rival], "a compaction was refused although no file was taken"
            return
        self.counts["compactions beside a rival"] += 1
        self.log.append("the compaction was committed")
        self.compacted(planned)
        self.committed(snapshot)

    def expire(self) -> None:
        """Lets old snapshots go."""
        count = self.chance.randint(1, 4)
        ids = [each.id for each in self.table.snapshots()]
        gone = self.elsewhere().expire_snapshots(retain_max=count, retain_min=1)
        self.log.append(f"expired {gone} of {ids}, at most {count} stay")
        kept = {each.id for each in self.table.snapshots()}
        assert kept == set(ids[-count:]), f"{kept} were kept of {ids}"
        self.counts["snapshots expired"] += gone
        self.past = {id_: shown for id_, shown in self.past.items() if id_ in kept}

    def _is_full(self) -> bool:
        return self.chance.random() < _FULL_SHARE

    def _data_files(self) -> set[str]:
        found = data_files(self.store, self.table.location)
        return {path.rpartition("/")[2] for path in found}


def _job(table: Table, *, is_full: bool) -> CompactionJob:
    return CompactionJob.of(table.parts(), EveryPartition(), is_full=is_full)


def _new_files(messages: Sequence[CommitMessage]) -> set[str]:
    """The files that a compaction wrote; one that only rose to another level was there before."""
    return {each.file_name for message in messages for each in _written(message)}


def _written(message: CommitMessage) -> list[DataFileMeta]:
    replaced = {file.file_name for file in message.deleted_files}
    files = [*message.new_files, *message.changelog_files]
    return [file for file in files if file.file_name not in replaced]


def outcome(life: Life[State]) -> tuple[Counter[str], list[str]]:
    """Lives a life.

    Returns:
        How much was tried, and what went wrong, with the life up to there.
    """
    try:
        life.run()
    except (AssertionError, LakebedError) as error:
        return life.counts, [f"{type(error).__name__}: {error}", *life.log]
    return life.counts, []
