"""Who works on the table of a run: what each asks of it, and what it makes of the answers.

An actor does some operations, one after the other. Where its process dies, it goes on as another
process, which knows what a real one would: nothing, but for a stream, which has the number of the
batch that it has not been told to be committed, and writes that again.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

from lakebed.errors import (
    CommitConflictError,
    CommitUnknownError,
    LakebedError,
    NotFoundError,
    StorageError,
)
from lakebed.format.snapshot import Snapshot
from lakebed.table.metadata.replay_notes import ReplayNotes
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.table import Table
from simulation.faults import Died, Process, Rates
from simulation.models import (
    ACCOUNTS,
    PARTITIONS,
    Change,
    Row,
    adding,
    putting,
    replacing,
    transferring,
    without,
)
from simulation.records import Intent
from simulation.world import World

_THINKS_MS = 600
_KEEPS_MS = 1_000


class Actor(ABC):
    """Works on the table.

    Attributes:
        world: Where.
        name: Its own, of all actors.
        process: What it is now.
        table: The table as that process sees it.
    """

    def __init__(self, world: World, name: str, *, operations: int) -> None:
        """An actor that has not begun.

        Args:
            world: Where it works.
            name: Its name.
            operations: How much it does.
        """
        self.world = world
        self.name = name
        self._operations = operations
        self._before = (0, 0)
        self.process: Process
        self.table: Table
        self.be_born()

    @abstractmethod
    def act(self) -> None:
        """One operation."""

    @property
    def has_to_go_on(self) -> bool:
        """Whether all others would be left waiting for it."""
        return False

    def be_born(self) -> None:
        """From now on it is a new process."""
        self.process = self.world.process(self.name)
        self.table = self.world.open(self.process)

    def live(self) -> None:
        """All of its operations, through as many processes as it takes."""
        while self._operations > 0 or self.has_to_go_on:
            self._operations -= 1
            self._before = (self.process.faults, self.world.journal.removals)
            try:
                self.process.take_turn(sleeps_ms=self.process.chance.randrange(_THINKS_MS))
                self.act()
            except (StorageError, NotFoundError) as error:
                self.check_excuse(error)
            except Died:
                self.world.journal.died(self.process)
                self.be_born()

    def ask(self, intent: Intent, call: Callable[[], Snapshot | int | None]) -> bool:
        """Asks the table for something, and tells the journal what came of it.

        Args:
            intent: What is asked for.
            call: Asks it.

        Returns:
            Whether it is known that the operation is done.
        """
        journal = self.world.journal
        journal.begin(self.process, intent)
        try:
            answer = call()
        except CommitUnknownError:
            journal.end(self.process, "unknown")
            return False
        except CommitConflictError:
            journal.end(self.process, "refused")
            return False
        except (StorageError, NotFoundError) as error:
            self.check_excuse(error)
            journal.end(self.process, "refused")
            return False
        snapshot = answer if isinstance(answer, Snapshot) else None
        journal.end(self.process, "nothing" if answer is None else "acknowledged", snapshot)
        return True

    def check_excuse(self, error: LakebedError) -> None:
        """An error must have a reason: a call that failed, or something that was deleted."""
        faults, removals = self._before
        excused = self.process.faults > faults
        if isinstance(error, NotFoundError):
            journal = self.world.journal
            excused |= journal.removals > removals or journal.has_adrift
        if not excused:
            self.world.journal.violated(f"{self.name} was told without a reason: {error}")


class Writer(Actor):
    """Writes rows of its own: new ones, and others in the place of its old ones."""

    def __init__(self, world: World, name: str, *, operations: int) -> None:
        """A writer without rows."""
        super().__init__(world, name, operations=operations)
        self._mine: list[int] = world.fresh_ids(2) if world.kind.name == "upsert" else []

    def act(self) -> None:
        """Adds, deletes or replaces."""
        drawn = self.process.chance.random()
        if self.world.kind.name in {"append", "marked"} and drawn < 0.1:
            self._overwrite()
        elif self.world.kind.name != "bank" and self._mine and drawn < 0.35:
            self._delete()
        else:
            rows, change = self.drawn_rows()
            intent = Intent(what=f"{self.name} adds {rows}", change=change)
            data = self.world.rows(rows)
            write = self.table.upsert if self.world.kind.key else self.table.append
            self.ask(intent, lambda: write(data))

    def drawn_rows(self) -> tuple[list[Row], Change]:
        """Rows to write, and what they make of those that are there."""
        chance, world = self.process.chance, self.world
        match world.kind.name:
            case "bank":
                giver, taker = chance.sample(range(ACCOUNTS), 2)
                amount = chance.randint(1, 9)
                transfer: list[Row] = [(giver, -amount), (taker, amount)]
                return transfer, transferring(transfer)
            case "upsert":
                keys = chance.sample(self._mine, chance.randint(1, len(self._mine)))
                puts: list[Row] = [(key, world.fresh_ids(1)[0]) for key in keys]
                return puts, putting(puts)
            case _:
                new = self._new_rows(chance.randint(1, 3))
                self._mine += [row[0] for row in new]
                return new, adding(new)

    def _new_rows(self, count: int) -> list[Row]:
        chance = self.process.chance
        return [(each, chance.choice(PARTITIONS)) for each in self.world.fresh_ids(count)]

    def _delete(self) -> None:
        gone = self.process.chance.choice(self._mine)
        intent = Intent(what=f"{self.name} deletes {gone}", change=without([gone]))
        self.ask(intent, lambda: self.table.delete(f"id = {gone}"))

    def _overwrite(self) -> None:
        partition = self.process.chance.choice(PARTITIONS)
        rows: list[Row] = [(each, partition) for each in self.world.fresh_ids(2)]
        self._mine += [row[0] for row in rows]
        intent = Intent(
            what=f"{self.name} replaces partition {partition} by {rows}",
            change=replacing(partition, rows),
        )
        data = self.world.rows(rows)
        self.ask(intent, lambda: self.table.overwrite(data, {"p": partition}))


class Stream(Writer):
    """Writes batches under one user, each until it is told that it is committed.

    Where an earlier try has expired, and the table cannot tell what came of it, somebody looks
    whether its rows were there, and does what the error says.
    """

    def __init__(self, world: World, name: str, *, operations: int) -> None:
        """A stream before its first batch."""
        super().__init__(world, name, operations=operations)
        self._batch = 0
        self._rows: list[Row] = []
        self._intent: Intent | None = None
        self._is_at_a_loss = False

    def act(self) -> None:
        """Writes the batch that is due, new or again."""
        if self._intent is None:
            self._batch += 1
            self._rows, change = self.drawn_rows()
            what = f"{self.name} writes batch {self._batch}: {self._rows}"
            self._intent = Intent(what=what, change=change)
        intent = self._intent
        is_done = self.ask(intent, self._write)
        was_there = any(
            each.fate not in {"taken back", "replaced"} and not each.is_compaction
            for each in intent.records
        )
        if is_done and not was_there:
            self.world.journal.violated(f"{intent.what} is said to be there, and never was")
        if self._is_at_a_loss:
            is_done = was_there
            if not was_there:
                self.world.store.delete(ReplayNotes.path_of(self.table.parts().paths, self.name))
        if is_done:
            self._intent = None

    def live(self) -> None:
        """As others, but it does not end before its last batch is there."""
        super().live()
        self.process.rates, self.process.outage = Rates(), 0
        while self._intent is not None:
            self.act()

    def _write(self) -> Snapshot | None:
        self._is_at_a_loss = False
        try:
            with self.table.writer(user=self.name, identifier=self._batch) as writer:
                data = self.world.rows(self._rows)
                if self.world.kind.key:
                    writer.upsert(data)
                else:
                    writer.append(data)
        except CommitUnknownError as error:
            self._is_at_a_loss = "nobody knows" in str(error)
            raise
        return writer.snapshot


class Compactor(Actor):
    """Compacts, as the options say or in full."""

    def act(self) -> None:
        """One compaction."""
        strategy = self.process.chance.choice(
            ["full", "minor"] if self.world.kind.key else ["full"]
        )
        intent = Intent(what=f"{self.name} compacts: {strategy}")
        if strategy == "full":
            self.ask(intent, lambda: self.table.compact("full"))
        else:
            self.ask(intent, lambda: self.table.compact("minor"))


class Expirer(Actor):
    """Lets snapshots go soon, also those of streams that do not know of them yet."""

    def act(self) -> None:
        """One expiry."""
        world, kept = self.world, self.process.chance.randint(1, 3)
        since = world.scheduler.now_ms - self.process.chance.randrange(_KEEPS_MS)
        intent = Intent(what=f"{self.name} keeps {kept} and those since {since}", removes="expired")
        self.ask(intent, lambda: self.table.expire_snapshots(retain_min=kept, older_than=since))


class Reader(Actor):
    """Reads the newest snapshot or another, and compares."""

    def act(self) -> None:
        """One read."""
        journal = self.world.journal
        snapshot: Snapshot | None = None
        try:
            scan = self._scan()
            snapshot = _source_of(scan)
            found = scan.to_arrow().to_pylist()
        except (StorageError, NotFoundError) as error:
            if isinstance(error, NotFoundError) and snapshot and journal.is_there(snapshot):
                journal.violated(f"{self.name} cannot read {snapshot.id}, which is there: {error}")
            raise
        self._compare(snapshot, found)

    def _scan(self) -> Scan:
        journal = self.world.journal
        drawn, tags = self.process.chance.random(), journal.tag_names()
        if drawn < 0.3 and tags:
            return self.table.scan(tag=self.process.chance.choice(tags))
        if drawn < 0.5:
            ids = [each.id for each in self.table.snapshots()]
            return self.table.scan(snapshot_id=self.process.chance.choice(ids) if ids else None)
        newest, retreats = journal.latest(), journal.retreats
        scan = self.table.scan()
        snapshot = _source_of(scan)
        found = 0 if snapshot is None else snapshot.id
        is_settled = journal.rewriting is None and journal.retreats == retreats
        if newest is None or newest.is_adrift or not is_settled:
            return scan
        if found < newest.snapshot.id:
            journal.violated(f"{self.name} read snapshot {found} after {newest} was there")
        return scan

    def _compare(self, snapshot: Snapshot | None, found: list[dict[str, int]]) -> None:
        rows = tuple(sorted(tuple(row[name] for name in self.world.kind.names) for row in found))
        expected = () if snapshot is None else self.world.journal.state_of(snapshot)
        if rows != expected:
            where = None if snapshot is None else snapshot.id
            self.world.journal.violated(
                f"{self.name} read {rows} of snapshot {where}, where {expected} must be"
            )
        self.world.journal.counts["reads"] += 1


def _source_of(scan: Scan) -> Snapshot | None:
    source = scan.source
    assert isinstance(source, SnapshotSource)
    return source.snapshot
