"""Actors that give names to snapshots, take snapshots back, work on branches and clean up."""

from collections.abc import Callable
from dataclasses import replace

from lakebed.errors import LakebedError, NotFoundError
from simulation.actors import Actor, Writer
from simulation.records import Intent
from simulation.world import World

_ROLLBACK = "rollback to snapshot "
_LOOKS = 50
_LOOKS_EACH_MS = 20


class Tagger(Actor):
    """Makes tags of snapshots, and deletes some of its own again."""

    def __init__(self, world: World, name: str, *, operations: int) -> None:
        """A tagger without tags."""
        super().__init__(world, name, operations=operations)
        self._made = 0
        self._tags: list[str] = []

    def act(self) -> None:
        """One tag that comes or goes."""
        there = self.world.journal.tag_names()
        self._tags = [tag for tag in self._tags if tag in there]
        if self._tags and self.process.chance.random() < 0.3:
            tag = self._tags.pop(0)
            self.world.journal.release(self.world.tag_path(tag))
            intent = Intent(what=f"{self.name} deletes tag {tag}")
            self.ask(intent, done(lambda: self.table.delete_tag(tag)))
            return
        self._made += 1
        tag = f"{self.name}-{self._made}"
        if make_tag(self, tag):
            self._tags.append(tag)


class Rollbacker(Actor):
    """Rolls the table back to a snapshot that is there, and again where that did not end."""

    def __init__(self, world: World, name: str, *, operations: int) -> None:
        """A rollbacker that has nothing to end."""
        super().__init__(world, name, operations=operations)
        self._target: int | None = None
        self._is_gone = False

    def act(self) -> None:
        """One rollback."""
        ids = [each.id for each in self.table.snapshots()]
        if not ids:
            return
        if self._target not in ids and not self.has_to_go_on:
            self._target = self.process.chance.choice(ids[-3:])
        self._roll_back(self._target)

    def _roll_back(self, target: int | None) -> None:
        self._target = target
        self._is_gone = target not in [each.id for each in self.table.snapshots()]
        intent = Intent(what=f"{self.name} rolls back to {target}", removes="rolled back")
        if self.ask(intent, lambda: self.table.rollback(snapshot=target)):
            self._target = None

    def check_excuse(self, error: LakebedError) -> None:
        """What broke off may be done again although its target is gone, to be taken back."""
        if not (self._is_gone and isinstance(error, NotFoundError)):
            super().check_excuse(error)

    @property
    def has_to_go_on(self) -> bool:
        """Whether a rollback of it broke off."""
        return self.world.journal.rewriting == f"{_ROLLBACK}{self._target}"


class Repeater(Rollbacker):
    """Takes whoever rolls back for dead, and does the same."""

    def act(self) -> None:
        """One rollback, where one is under way."""
        for _ in range(_LOOKS):
            if (self.world.journal.rewriting or "").startswith(_ROLLBACK):
                break
            self.process.take_turn(sleeps_ms=_LOOKS_EACH_MS)
        operation = self.world.journal.rewriting or ""
        if operation.startswith(_ROLLBACK):
            self._roll_back(int(operation.removeprefix(_ROLLBACK)))


class Brancher(Writer):
    """Works on branches of its own, which are thrown away or taken over."""

    def __init__(self, world: World, name: str, *, operations: int) -> None:
        """A brancher without a branch."""
        super().__init__(world, name, operations=operations)
        self._made = 0
        self._branch: str | None = None

    def act(self) -> None:
        """A branch that comes, gets rows or goes."""
        if self._branch is None:
            self._begin_branch()
            return
        drawn = self.process.chance.random()
        if self.has_to_go_on:
            self._take_over(self._branch)
        elif drawn < 0.5:
            self._write(self._branch)
        elif drawn < 0.75:
            self._take_over(self._branch)
        else:
            branch, self._branch = self._branch, None
            self.world.journal.release_branch(branch)
            intent = Intent(what=f"{self.name} deletes {branch}", removes="branch")
            self.ask(intent, done(lambda: self.table.delete_branch(branch)))

    @property
    def has_to_go_on(self) -> bool:
        """Whether its takeover of a branch broke off."""
        return self.world.journal.rewriting == f"fast-forward to branch {self._branch!r}"

    def _take_over(self, branch: str) -> None:
        intent = Intent(what=f"{self.name} takes over {branch}", removes="rolled back")
        self.ask(intent, done(lambda: self.table.fast_forward(branch)))

    def _begin_branch(self) -> None:
        self._made += 1
        name = f"{self.name}-{self._made}"
        if not make_tag(self, name):
            return
        intent = Intent(what=f"{self.name} makes branch {name}", removes="branch")
        if self.ask(intent, done(lambda: self.table.create_branch(name, name))):
            self._branch = name
            for path, snapshot in self.world.snapshots_of_branch(name):
                self.world.journal.hold(path, snapshot)

    def _write(self, branch: str) -> None:
        rows, change = self.drawn_rows()
        table = replace(self.table, branch=branch)
        data = self.world.rows(rows)
        write = table.upsert if self.world.kind.key else table.append
        intent = Intent(what=f"{self.name} adds {rows} to {branch}", change=change)
        self.ask(intent, lambda: write(data))


class Cleaner(Actor):
    """Deletes orphan files that are older than all that others are at."""

    def act(self) -> None:
        """One cleaning."""
        since = self.world.journal.oldest_start_ms(self.process) - 1
        intent = Intent(what=f"{self.name} deletes orphans from before {since}")
        self.ask(intent, done(lambda: self.table.remove_orphan_files(older_than=since)))


def make_tag(actor: Actor, tag: str) -> bool:
    """Has an actor make a tag of some snapshot; whether it is there."""
    ids = [each.id for each in actor.table.snapshots()]
    if not ids:
        return False
    snapshot_id = actor.process.chance.choice(ids)
    intent = Intent(what=f"{actor.name} makes tag {tag} of {snapshot_id}")
    if not actor.ask(intent, done(lambda: actor.table.create_tag(tag, snapshot_id))):
        return False
    snapshot = actor.world.tagged(tag)
    if snapshot is not None:
        actor.world.journal.hold(actor.world.tag_path(tag), snapshot)
    return snapshot is not None


def done(call: Callable[[], object]) -> Callable[[], int]:
    """A call whose answer says nothing."""

    def ask() -> int:
        call()
        return 1

    return ask
