"""How does a branch take over the history of another, and why is a crash anywhere safe?

    main   1   2   3   4   5            the branch was made of 3; 3 is the last that both have
    dev            3   4'  5'  6'
    main   1   2   3   4'  5'  6'       after it

1. a rollback to the last snapshot that both have (`roll_back`, apart from the files)
2. the schemas that differ   become those of the branch
3. its later snapshots       put, the oldest first
4. its tags                  put, then the hints
5. files                     that only the old history needed, deleted

Whoever reads meanwhile finds one whole snapshot of the old history or of the new one; a crash
leaves the table at one of these, and the same call ends it, for it begins at what both have by
then. Who commits meanwhile is rolled back too. Each snapshot is looked at in the branch once more
after it was put: an expiry there sees it here, or it is taken back.

Where no snapshot is in both, the table is rolled back to the one that the branch's first follows,
as this says itself. Else nothing of the old history leads to the new one, and all of it goes: the
table is rolled back to its oldest snapshot, which is replaced by the branch's first, or goes at the
end. A table that has no snapshot as old gets the branch's first before it is rolled back to it. So
a table that has a snapshot has one at any time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from lakebed.errors import (
    CommitConflictError,
    InvalidArgumentError,
    InvalidTableError,
)
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_lineage import is_after, runs_of
from lakebed.format.tag import Tag
from lakebed.table.history_changes.claim import HistoryClaim
from lakebed.table.history_changes.copying import (
    present,
    put_same,
    release_after,
    snapshot_bytes,
)
from lakebed.table.history_changes.roll_back import check_no_copies, remove_above, withdrawn
from lakebed.table.metadata.branches import Branches, check_branch_name
from lakebed.table.metadata.tags import Tags
from lakebed.table.parts import TableParts

_TRIES_MAX = 10


def fast_forward(parts: TableParts, name: str) -> None:
    """Gives a table the history of a branch from the branch's first snapshot on.

    Args:
        parts: The table, or the branch that is to take it over.
        name: The branch, which stays as it is.

    Raises:
        CommitConflictError: Others wrote to the table all the time, snapshots expire, or the branch
            lost snapshots meanwhile; what is left is a whole history, and the same call ends it. Or
            it was called again, and that call goes on.
        CorruptTableError: Something that would be replaced cannot be read; nothing was changed.
        InvalidArgumentError: It is the main branch, the one that is open, or has no snapshot.
        InvalidTableError: Older snapshots need schemas that the branch has otherwise; nothing was
            changed.
        NotFoundError: There is no such branch.
    """
    check_branch_name(name)
    if name == parts.paths.branch:
        raise InvalidArgumentError(f"branch {name!r} is the one that is open")
    branches = Branches(parts.file_io, parts.paths)
    if branches.find_schema(name) is None:
        raise withdrawn(parts, _operation(name), branches.missing(name))
    source = replace(parts, paths=parts.paths.of_branch(name))
    claim, runs = HistoryClaim.of(parts, _operation(name)), list[Sequence[Snapshot]]()
    for _ in range(_TRIES_MAX):
        if _Takeover.of(parts, source, claim=claim, runs=runs).carry_out():
            claim.check()
            release_after(parts, runs, done=f"fast-forwarded to branch {name!r}")
            claim.end()
            return
    raise CommitConflictError(
        f"{parts.paths.location}: others committed at each of {_TRIES_MAX} tries to fast-forward "
        f"it to branch {name!r}; the branch is as it was. Stop the writers, and try again"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Takeover:
    """One try of it.

    Attributes:
        parts: The table.
        source: The branch.
        claim: Of the whole operation.
        line: The snapshots of the branch, ascending.
        base: To which the table is rolled back; None where it has no snapshot.
        kept: The newest snapshot of the table that stays; None where none does.
        drops_older: Whether snapshots older than the line lead to another history, and go.
        runs: Collects what is deleted.
    """

    parts: TableParts
    source: TableParts
    claim: HistoryClaim
    line: Sequence[Snapshot]
    base: Snapshot | None
    kept: Snapshot | None
    drops_older: bool
    runs: list[Sequence[Snapshot]]

    @classmethod
    def of(
        cls,
        parts: TableParts,
        source: TableParts,
        *,
        claim: HistoryClaim,
        runs: list[Sequence[Snapshot]],
    ) -> "_Takeover":
        line = present(map(source.snapshots.find, source.snapshots.list_ids()))
        if not line:
            raise InvalidArgumentError(
                f"branch {source.paths.branch!r} has no snapshot, to which the table could be "
                "fast-forwarded"
            )
        own = present(map(parts.snapshots.find, parts.snapshots.list_ids()))
        by_id = {snapshot.id: snapshot for snapshot in own}
        both = list(takewhile(lambda each: by_id.get(each.id) == each, line))
        older = [snapshot for snapshot in own if snapshot.id < line[0].id]
        leads = bool(older) and _follows(line[0], older[-1], untold=bool(both))
        kept = both[-1] if both else older[-1] if leads else None
        base = kept
        if base is None and own:
            base = own[0] if own[0].id <= line[0].id else line[0]
        return cls(
            parts=parts,
            source=source,
            claim=claim,
            line=line,
            base=base,
            kept=kept,
            drops_older=bool(older) and not leads,
            runs=runs,
        )

    def carry_out(self) -> bool:
        """Does it; False when somebody committed meanwhile."""
        changed = self._changed_schemas()
        first = self.line[0]
        if self.base is None:
            self._begin()
        else:
            if self.base == first:
                self._begin()
                self._put(first)
            removed = remove_above(
                self.parts,
                self.base,
                claim=self.claim,
                tags_above=max(self.base.id, first.id - 1),
            )
            self.runs.extend(removed)
        self._take_schemas(changed)
        if not all(self._put(snapshot) for snapshot in self.line):
            return False
        if self.drops_older:
            self._drop_older()
        if self.parts.snapshots.find(first.id) != first:
            return False
        self._take_tags()
        self._write_hints()
        return True

    def _begin(self) -> None:
        """Puts the marker before something is changed that a rollback would not.

        Raises:
            CommitConflictError: Snapshots expire now.
        """
        if self.claim.take():
            return
        try:
            if self.base is not None:
                check_no_copies(self.parts, self.base)
        except CommitConflictError:
            self.claim.end()
            raise
        self.claim.confirm()

    def _changed_schemas(self) -> list[int]:
        """Ids of schemas of the table that the branch has otherwise or not at all, ascending.

        Raises:
            InvalidTableError: A snapshot or tag that stays needs one of them.
        """
        own, theirs = self.parts.schemas.load_all(), self.source.schemas.load_all()
        changed = sorted(each for each in own if theirs.get(each) != own[each])
        staying = [] if self.kept is None else [self.kept]
        tagged = (tag.snapshot for tag in _tags(self.parts).values())
        staying += (each for each in tagged if each.id < self.line[0].id)
        for snapshot in staying:
            if changed and snapshot.schema_id >= changed[0]:
                raise InvalidTableError(
                    f"{self.parts.paths.location}: snapshot {snapshot.id} needs schema "
                    f"{changed[0]}, which branch {self.source.paths.branch!r} has otherwise. Roll "
                    "the table back to an older snapshot before, or delete its tag"
                )
        return changed

    def _take_schemas(self, changed: Sequence[int]) -> None:
        file_io = self.parts.file_io
        theirs = self.source.schemas.list_ids()
        for schema_id in reversed(changed):
            if schema_id not in theirs:
                self.claim.delete(self.parts.paths.schema(schema_id))
        there = set(self.parts.schemas.list_ids()) - set(changed)
        for schema_id in theirs:
            if schema_id not in there:
                data = file_io.read(self.source.paths.schema(schema_id))
                self.claim.check()
                file_io.write(self.parts.paths.schema(schema_id), data)

    def _put(self, snapshot: Snapshot) -> bool:
        """Puts a snapshot of the branch; False when another one of its id is there."""
        file_io, path = self.parts.file_io, self.parts.paths.snapshot(snapshot.id)
        stored = self.parts.snapshots.find(snapshot.id)
        if stored == snapshot:
            return True
        data = snapshot_bytes(self.source, snapshot)
        self.claim.check()
        if stored is not None and stored == self.base:
            file_io.write(path, data)
            self.runs.append([stored])
        elif not put_same(file_io, path, data):
            return False
        if self.source.snapshots.find(snapshot.id) != snapshot:
            file_io.delete(path)
            raise CommitConflictError(
                f"{self.parts.paths.location}: snapshot {snapshot.id} of branch "
                f"{self.source.paths.branch!r} expired or was rolled back while the table was "
                "fast-forwarded to it. Try again"
            )
        return True

    def _drop_older(self) -> None:
        snapshots = self.parts.snapshots
        ids = [each for each in snapshots.list_ids() if each < self.line[0].id]
        self.runs.extend(runs_of(present(map(snapshots.find, ids))))
        for snapshot_id in ids:
            self.claim.delete(self.parts.paths.snapshot(snapshot_id))

    def _take_tags(self) -> None:
        """Deletes tags of the history that is replaced, and puts those of the branch."""
        file_io, paths = self.parts.file_io, self.parts.paths
        own, theirs = _tags(self.parts), _tags(self.source)
        line = {snapshot.id: snapshot for snapshot in self.line}
        for name, tag in own.items():
            if tag.snapshot.id in line and tag.snapshot != line[tag.snapshot.id]:
                self.claim.delete(paths.tag(name))
                self.runs.append([tag.snapshot])
        for name, tag in theirs.items():
            if own.get(name) == tag:
                continue
            if name in own:
                self.runs.append([own[name].snapshot])
            data = file_io.read(self.source.paths.tag(name))
            self.claim.check()
            file_io.write(paths.tag(name), data)
            if Tags(file_io, self.source.paths).find(name) != tag:
                file_io.delete(paths.tag(name))  # it was deleted there meanwhile

    def _write_hints(self) -> None:
        file_io, paths = self.parts.file_io, self.parts.paths
        self.claim.check()
        file_io.write(paths.latest_hint, str(self.line[-1].id).encode())
        earliest = min(self.parts.snapshots.list_ids(), default=self.line[0].id)
        file_io.write(paths.earliest_hint, str(earliest).encode())


def _operation(name: str) -> str:
    return f"fast-forward to branch {name!r}"


def _follows(snapshot: Snapshot, before: Snapshot, *, untold: bool) -> bool:
    """Whether a snapshot was built upon another one; where it does not tell, as is said."""
    if before.id != snapshot.id - 1:
        return False
    told = is_after(snapshot, before)
    return untold if told is None else told


def _tags(parts: TableParts) -> dict[str, Tag]:
    """The tags of a branch; those by which others hold files while they work are not its own."""
    found = Tags(parts.file_io, parts.paths).load_all()
    return {tag.name: tag for tag in found if tag.is_settled}
