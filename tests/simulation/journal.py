"""What happened to a table, told by every file that came or went; and what must never happen.

At each put of a snapshot, and of the copies of snapshots that tags and branches are:

* ids have no gaps, but while a rollback is under way or until one that broke off is repeated;
* every file that it names is there, with just the rows that the model says: those of the snapshot
  that its writer built on, changed by what the writer was asked for. So nothing acknowledged is
  lost and nothing is done twice, there is one live row a key, and no vector without its file;
* what an actor asks for comes once, however often it is tried or replayed.

At each deletion: nobody finds a snapshot, tag or branch that needs the file. At the end of each
operation: what was acknowledged is there, and what was refused is not.

A snapshot whose base was rolled back before it was put, or that was overtaken until its place was
free again, is *adrift*: its writer must take it back, or whoever commits next where its writer
died or was never answered.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from lakebed.errors import LakebedError
from lakebed.format.paths import MAIN_BRANCH, branch_name_of, snapshot_id_of, tag_name_of
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.table.metadata.history_marker import HistoryMarker
from simulation.contents import Contents, ContentsReader
from simulation.faults import Process
from simulation.models import BrokenTableError, State
from simulation.records import Fate, Intent, Outcome, Record
from simulation.scheduler import Over, Scheduler


@dataclass(slots=True, eq=False)
class Journal:
    """The witness of all that processes do to one table.

    Attributes:
        reader: Reads what was put.
        scheduler: Is told what is wrong.
        records: Every snapshot that ever was, by uuid.
        removals: How many snapshots, tags and branches went.
        retreats: How many snapshots went that were no old ones.
        counts: How often what happened.
    """

    reader: ContentsReader
    scheduler: Scheduler
    records: dict[str, Record] = field(default_factory=dict)
    removals: int = 0
    retreats: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    _intents: dict[str, Intent] = field(default_factory=dict)
    _branches: dict[str, dict[int, Record]] = field(default_factory=lambda: {MAIN_BRANCH: {}})
    _references: dict[str, Record] = field(default_factory=dict)
    _needed: Counter[str] = field(default_factory=Counter)
    _rewriting_since_ms: int | None = None

    def violated(self, what: str) -> NoReturn:
        """Ends the run: something is wrong."""
        self.scheduler.stop(what)
        raise Over

    def begin(self, process: Process, intent: Intent) -> None:
        """An operation begins."""
        if not intent.started_ms:
            intent.started_ms = self.scheduler.now_ms
        intent.earlier = len(intent.records)
        self._intents[process.actor] = intent
        self.scheduler.tell(f"{process.actor:10} BEGINS {intent.what}")

    def end(self, process: Process, outcome: Outcome, snapshot: Snapshot | None = None) -> None:
        """An operation ends, as its caller was told."""
        intent = self._intents.pop(process.actor)
        told = "" if snapshot is None else f" {snapshot.id}"
        self.scheduler.tell(f"{process.actor:10} ENDS {intent.what}: {outcome}{told}")
        self.counts[outcome] += 1
        mine = intent.records[intent.earlier :]
        there = [each for each in mine if each.fate not in {"taken back", "rolled back"}]
        if outcome == "refused" and there:
            self.violated(f"{intent.what} was refused, and made {there[-1]}")
        if outcome == "acknowledged" and snapshot is not None:
            self._check_acknowledged(intent, snapshot)
        for each in there:
            # Who was told nothing is as one who died: others take away what it left.
            if each.is_adrift and not each.fate and outcome != "unknown":
                self.violated(f"{each} of {intent.what} is left though it follows nothing")

    def died(self, process: Process) -> None:
        """An operation ends with its process."""
        intent = self._intents.pop(process.actor, None)
        self.counts["deaths"] += 1
        if intent is not None:
            self.scheduler.tell(f"{process.actor:10} DIED in {intent.what}")

    def latest(self, branch: str = MAIN_BRANCH) -> Record | None:
        """The newest snapshot of a branch."""
        found = self._branches.get(branch) or {}
        standing = [each for each in found if not self._is_left(found, each)]
        return found[max(standing)] if standing else None

    def left_adrift(self) -> Iterator[str]:
        """Where a dead writer left snapshots above a gap, which the next commit removes."""
        for branch, found in self._branches.items():
            paths = self.reader.parts.paths.of_branch(branch)
            yield from (paths.snapshot(each) for each in found if self._is_left(found, each))

    @staticmethod
    def _is_left(found: Mapping[int, Record], snapshot_id: int) -> bool:
        record = found[snapshot_id]
        is_doubtful = record.is_adrift and not record.is_acknowledged
        return is_doubtful and snapshot_id - 1 not in found

    @property
    def rewriting(self) -> str | None:
        """Which rollback or takeover is under way, or broke off and was not repeated yet."""
        store, path = self.reader.store, self._marker_path
        return store.read(path).decode().splitlines()[0] if store.exists(path) else None

    @property
    def _marker_path(self) -> str:
        return HistoryMarker(self.reader.store, self.reader.parts.paths).path

    @property
    def has_adrift(self) -> bool:
        """Whether a snapshot can be found that its writer has yet to take back."""
        return any(each.is_adrift for found in self._branches.values() for each in found.values())

    def oldest_start_ms(self, process: Process) -> int:
        """When the oldest operation began that others are at."""
        others = (each for actor, each in self._intents.items() if actor != process.actor)
        return min((each.started_ms for each in others), default=self.scheduler.now_ms)

    def state_of(self, snapshot: Snapshot) -> State:
        """The rows that a snapshot must show."""
        return self.records[str(snapshot.uuid)].contents.state

    def is_there(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot can be found, by its id or by what was acknowledged."""
        return self.records[str(snapshot.uuid)] in self._references.values()

    def hold(self, path: str, snapshot: Snapshot) -> None:
        """A tag or branch was acknowledged: from now on its files must stay."""
        if not self.reader.store.exists(path):
            return  # a rollback took it away
        record = self.records[str(snapshot.uuid)]
        self._check_whole(record, f"{path}, acknowledged,")
        self._refer(path, record)

    def release_branch(self, branch: str) -> None:
        """A branch may go: nobody relies on it any more."""
        start = f"{self.reader.parts.paths.of_branch(branch).metadata_directory}/"
        for path in [each for each in self._references if each.startswith(start)]:
            self.release(path)

    def holds_branch(self, branch: str) -> bool:
        """Whether a branch was acknowledged and nobody asked to delete it."""
        start = f"{self.reader.parts.paths.of_branch(branch).metadata_directory}/"
        return any(each.startswith(start) for each in self._references)

    def tag_names(self) -> list[str]:
        """The tags that were acknowledged."""
        start = self.reader.parts.paths.tag("")
        return [path.removeprefix(start) for path in self._references if path.startswith(start)]

    def release(self, path: str) -> None:
        """A tag or branch may go: nobody relies on it any more."""
        record = self._references.pop(path, None)
        if record is not None:
            self._needed.subtract(record.contents.needed)

    def saw_put(self, path: str, process: Process) -> None:
        """A file is there."""
        branch, directory, name = self._place(path)
        snapshot_id = snapshot_id_of(name)
        if directory == "snapshot" and snapshot_id is not None:
            self._put_snapshot(path, branch, process)
        elif path == self._marker_path and self._rewriting_since_ms is None:
            self._rewriting_since_ms = self.scheduler.now_ms

    def saw_delete(self, path: str, process: Process) -> None:
        """A file is gone."""
        branch, directory, name = self._place(path)
        snapshot_id = snapshot_id_of(name)
        if directory == "snapshot" and snapshot_id is not None:
            self._drop_snapshot(path, branch, process)
        elif directory == "tag" and tag_name_of(name) is not None:
            self.removals += 1
            if self._intents[process.actor].removes == "rolled back":
                self.release(path)
            if path in self._references:
                self.violated(f"{process.actor} deleted {path}, which nobody asked for")
        elif path == self._marker_path:
            self._rewriting_since_ms = None
            self._check_gapless(branch)
        elif self._needed[path] > 0:
            holder = next(
                at for at, record in self._references.items() if path in record.contents.needed
            )
            self.violated(f"{process.actor} deleted {path}, which {holder} needs")

    def check_end(self) -> None:
        """What must hold when all is quiet: nothing acknowledged is off the line of the newest."""
        for branch, found in self._branches.items():
            self._check_gapless(branch)
            newest = self.latest(branch)
            line = set() if newest is None else set(newest.line())
            for snapshot_id, record in found.items():
                if record not in line and not self._is_left(found, snapshot_id):
                    self.violated(f"{record} of {branch} is not what {newest} builds on")

    def _place(self, path: str) -> tuple[str, str, str]:
        """Branch, directory and name of a file."""
        parts = path.removeprefix(f"{self.reader.parts.paths.location}/").split("/")
        branch = MAIN_BRANCH
        if parts[0] == "branch" and len(parts) > 1:
            branch = branch_name_of(parts[1]) or parts[1]
            parts = parts[2:]
        return branch, parts[0] if len(parts) == 2 else "", parts[-1]

    def _put_snapshot(self, path: str, branch: str, process: Process) -> None:
        found = self._branches.setdefault(branch, {})
        snapshot = Snapshot.from_json(self.reader.store.read(path), path)
        before = found.get(snapshot.id)
        if before is not None:
            if before.is_acknowledged:
                self.violated(f"{process.actor} replaced {before}, which was acknowledged")
            self._refer_no_more(path, before, fate="replaced")
        record = self.records.get(str(snapshot.uuid))
        is_copy = record is not None
        if record is None:
            record = self._new_record(snapshot, branch, process)
            self.records[str(snapshot.uuid)] = record
        found[snapshot.id] = record
        record.fate = ""
        if record.is_adrift:
            self.scheduler.tell(f"{process.actor:10} put {record} ADRIFT")
            return
        if branch == MAIN_BRANCH or not is_copy:
            self._check_whole(record, path)
            self._refer(path, record)
        if not is_copy:
            self._check_gapless(branch)

    def _new_record(self, snapshot: Snapshot, branch: str, process: Process) -> Record:
        paths = self.reader.parts.paths.of_branch(branch)
        found = self._branches[branch]
        current = found.get(snapshot.id - 1)
        seen = process.seen.get(paths.snapshot(snapshot.id - 1)) if snapshot.id > 1 else None
        base = None
        if seen is not None:
            base = self.records[str(Snapshot.from_json(seen, "").uuid)]
        is_first = base is None and snapshot.id == 1 and not found
        is_next = base is not None and base is current and not base.is_adrift
        is_adrift = not (is_first or is_next)
        intent = self._intents[process.actor]
        before = () if base is None else base.contents.state
        is_compaction = snapshot.commit_kind is CommitKind.COMPACT
        state = before if is_compaction else intent.change(before)
        record = Record(
            snapshot=snapshot,
            base=base,
            contents=Contents(needed=frozenset(), state=state)
            if is_adrift
            else self._read(snapshot),
            is_adrift=is_adrift,
        )
        self.counts[f"snapshots {snapshot.commit_kind}"] += 1
        self.counts["snapshots adrift"] += is_adrift
        if not is_compaction:
            self._check_once(intent, record)
        intent.records.append(record)
        if record.contents.state != state:
            self.violated(
                f"{record} of {intent.what} holds {record.contents.state} where {state} must be, "
                f"after {before}"
            )
        return record

    def _check_once(self, intent: Intent, record: Record) -> None:
        line = set(record.line())
        again = [each for each in intent.records if each in line and not each.is_compaction]
        if again:
            self.violated(f"{intent.what} is in {again[0]} and again in {record}")

    def _read(self, snapshot: Snapshot) -> Contents:
        try:
            return self.reader.read(snapshot)
        except (BrokenTableError, LakebedError) as error:
            self.scheduler.stop(f"snapshot {snapshot.id} cannot be read as it is put: {error}")
            raise Over from error

    def _drop_snapshot(self, path: str, branch: str, process: Process) -> None:
        self.removals += 1
        snapshot_id = snapshot_id_of(path.rpartition("/")[2])
        record = self._branches[branch].pop(snapshot_id or 0)
        intent = self._intents[process.actor]
        if intent.removes == "rolled back" and branch == MAIN_BRANCH and not self.rewriting:
            self.violated(f"{process.actor} deleted {record}, when another call had ended it all")
        if record in intent.records or (record.is_adrift and not intent.removes):
            self._refer_no_more(path, record, fate="taken back")
        elif intent.removes in {"rolled back", "branch"} or self._goes_with_base(record, intent):
            self._refer_no_more(path, record, fate="rolled back")
        elif intent.removes == "expired" and (self._branches[branch] or self.rewriting):
            self._refer_no_more(path, record, fate="expired")
        else:
            self.violated(f"{process.actor} deleted {record}, which {branch} needs")
        if intent.removes != "branch":
            self._check_gapless(branch)

    def _goes_with_base(self, record: Record, intent: Intent) -> bool:
        """Whether a rollback that took what a snapshot builds on takes that snapshot next.

        It was put when the rollback had listed already. Who fills the gap below it, having begun
        before the rollback, finds that it follows nothing, and may delete it first.
        """
        since = self._rewriting_since_ms
        is_left = record.base is not None and record.base.fate == "rolled back"
        return is_left and since is not None and intent.started_ms <= since

    def _refer(self, path: str, record: Record) -> None:
        self.release(path)
        self._references[path] = record
        self._needed.update(record.contents.needed)

    def _refer_no_more(self, path: str, record: Record, *, fate: Fate) -> None:
        self.release(path)
        if not any(record in found.values() for found in self._branches.values()):
            record.fate = fate
            self.retreats += fate != "expired"
            self.scheduler.tell(f"{'':10} {record} is {fate}")

    def _check_acknowledged(self, intent: Intent, snapshot: Snapshot) -> None:
        record = self.records.get(str(snapshot.uuid))
        if record is None:
            self.violated(f"{intent.what} was acknowledged as {snapshot.id}, which never was")
        elif record.fate in {"taken back", "replaced"} or record.is_adrift:
            state = record.fate or "adrift"
            self.violated(f"{intent.what} was acknowledged as {record}, which is {state}")
        else:
            record.is_acknowledged = True

    def _check_whole(self, record: Record, path: str) -> None:
        lacking = [
            each for each in sorted(record.contents.needed) if not self.reader.store.exists(each)
        ]
        if lacking:
            self.violated(f"{path} needs {lacking[0]}, which is not there")

    def _check_gapless(self, branch: str) -> None:
        if branch == MAIN_BRANCH and self.rewriting:
            return
        ids = sorted(each for each, one in self._branches[branch].items() if not one.is_adrift)
        if ids and ids != list(range(ids[0], ids[-1] + 1)):
            self.violated(f"the snapshots of {branch} have gaps: {ids}")
