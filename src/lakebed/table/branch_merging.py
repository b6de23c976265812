"""How do the rows that were appended to one branch become rows of another?

Nothing is copied: a commit adds the files to the target that the source has and the target never
had since both were one. That is known where the source was only appended to since then, so that
none of its files holds rows of older ones, and where the target still has the snapshots since then,
whose changes say what it has had. What was merged before is not merged again, even when the target
compacted or deleted it since.

    main   1   2   3   4   5      the branch was made of 3; 3 is the newest that both have
    dev            3   4'  5'
    main   1   2   3   4   5   6  6 adds what 4' and 5' added

A tag of the target names the source's snapshot meanwhile, and then it is looked whether that is
still there: from that look on an expiry or deletion of the source sees that its files are needed.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa

from lakebed.errors import (
    CommitConflictError,
    InvalidArgumentError,
    InvalidTableError,
    StorageError,
    UnsupportedError,
)
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import FileKind
from lakebed.format.manifest import entries_from_columns
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.format.tag import COMMIT_TAG_PREFIX, with_retention
from lakebed.table.committing import commit
from lakebed.table.history_changes.copying import present, release_after
from lakebed.table.metadata.branches import Branches
from lakebed.table.metadata.entries import bucket_counts, check_bucket_counts
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.parts import TableParts
from lakebed.table.writing.changes import Prepared
from lakebed.table.writing.standing import Standing

_APPENDS = frozenset({CommitKind.APPEND, CommitKind.ANALYZE})
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of the wall's clock
_HELD_AT_MOST = timedelta(days=1)


def merge_branch(parts: TableParts, source_branch: str, target_branch: str) -> Snapshot | None:
    """Adds the files that were appended to one branch to another.

    Args:
        parts: The table, or one of its branches.
        source_branch: Whose rows are taken; it stays as it is.
        target_branch: Which gets them.

    Returns:
        The snapshot of the target; None where it has all rows already.

    Raises:
        CommitConflictError: The source lost its snapshot meanwhile, or every try to commit lost.
        InvalidArgumentError: Both are the same branch, or the source has no snapshot.
        InvalidTableError: The histories or schemas of both do not tell what is to be added.
        NotFoundError: There is no such branch.
        UnsupportedError: The table has a primary key, deletion vectors or row tracking.
    """
    if source_branch == target_branch:
        raise InvalidArgumentError(f"branch {source_branch!r} cannot be merged into itself")
    source, target = (_branch(parts, name) for name in (source_branch, target_branch))
    for each in (source, target):
        _check_appendable(each)
    newest = source.snapshots.latest()
    if newest is None:
        raise InvalidArgumentError(f"branch {source_branch!r} has no snapshot to be merged")
    _check_same_columns(source, target)
    with _held(target, source, newest):
        appended = _Appended.of(source, target, newest)
        return commit(target, appended, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Appended:
    """The files that a branch was given since it left another one.

    Attributes:
        target: The branch that gets them.
        source: The name of the branch, for errors.
        entries: The files.
        fork: The newest snapshot that both have; None where each began empty.
    """

    target: TableParts
    source: str
    entries: pa.Table
    fork: Snapshot | None

    @classmethod
    def of(cls, source: TableParts, target: TableParts, newest: Snapshot) -> "_Appended":
        own, theirs = (_line(each) for each in (target, source))
        by_id = {each.id: each for each in own}
        common = [each for each in theirs if by_id.get(each.id) == each]
        fork = common[-1] if common else None
        name = source.paths.branch
        since = _since(theirs, fork, branch=name)
        for snapshot in since:
            if snapshot.commit_kind not in _APPENDS:
                raise InvalidTableError(
                    f"{target.paths.location}: snapshot {snapshot.id} of branch {name!r} is of the "
                    f"kind {snapshot.commit_kind}; only what is appended to a branch can be "
                    "merged. Read its rows and write them to the other branch"
                )
        entries = source.manifests.live(newest, partitions=EveryPartition())
        if fork is not None:
            older = source.manifests.live(fork, partitions=EveryPartition())
            entries = _without(entries, older)
        _check_schemas(source, target, entries)
        return cls(target=target, source=name, entries=entries, fork=fork)

    def prepare(self, latest: Snapshot | None) -> Prepared:
        """What the target has not had by now."""
        left = self.entries
        manifests = self.target.manifests
        line = _line(self.target)
        for snapshot in _since(line, self.fork, branch=self.target.paths.branch):
            left = _without(left, manifests.entries(manifests.delta_files(snapshot)))
        entries = entries_from_columns(left)
        if latest is not None and any(entry.total_buckets > 0 for entry in entries):
            live = manifests.live(latest, partitions=EveryPartition())
            check_bucket_counts(entries, bucket_counts(live), base=latest.id)
        return Prepared(entries=entries, kind=CommitKind.APPEND, operation=None)


def _branch(parts: TableParts, name: str) -> TableParts:
    found = parts.of_branch(name)
    if found is None:
        raise Branches(parts.file_io, parts.paths).missing(name)
    return found


def _check_appendable(parts: TableParts) -> None:
    options = parts.options
    reason = None
    if parts.schema.primary_keys:
        reason = "has a primary key"
    elif options.deletion_vectors_enabled:
        reason = "has deletion vectors"
    elif options.row_tracking_enabled:
        reason = "tracks its rows"
    if reason is not None:
        raise UnsupportedError(
            f"{parts.paths.location}: branch {parts.paths.branch!r} {reason}; only branches of "
            "plain append tables are merged. fast_forward takes a branch over as a whole"
        )


def _check_same_columns(source: TableParts, target: TableParts) -> None:
    if source.schema.fields != target.schema.fields:
        raise InvalidTableError(
            f"{target.paths.location}: branch {source.paths.branch!r} has other columns than "
            f"{target.paths.branch!r}; change the schema of one of them first"
        )


def _check_schemas(source: TableParts, target: TableParts, entries: pa.Table) -> None:
    """The schemas that the files name have to be the same ones in the target."""
    theirs, own = source.schemas.load_all(), target.schemas.load_all()
    for schema_id in sorted(set(python_values(entries.column("schema_id")))):
        if schema_id not in own or own[schema_id].fields != theirs[schema_id].fields:
            raise InvalidTableError(
                f"{target.paths.location}: files of branch {source.paths.branch!r} were written "
                f"with schema {schema_id}, which is another one in {target.paths.branch!r}. Read "
                "its rows and write them to the other branch"
            )


def _line(parts: TableParts) -> list[Snapshot]:
    """The snapshots of a branch, ascending."""
    return present(map(parts.snapshots.find, parts.snapshots.list_ids()))


def _since(line: Sequence[Snapshot], fork: Snapshot | None, *, branch: str) -> list[Snapshot]:
    """The snapshots after the fork, of which none may lack.

    Raises:
        InvalidTableError: Some of them expired.
    """
    start = 0 if fork is None else fork.id
    since = [each for each in line if each.id > start]
    if [each.id for each in since] != list(range(start + 1, start + 1 + len(since))) or (
        fork is not None and fork not in line
    ):
        raise InvalidTableError(
            f"snapshots of branch {branch!r} expired since the branches were one, so what was "
            "appended since cannot be told. Read the rows of the one and write them to the other"
        )
    return since


def _without(entries: pa.Table, others: pa.Table) -> pa.Table:
    """Entries but those whose files others add."""
    is_add = pc.equal(others.column("kind"), FileKind.ADD)
    names = others.filter(is_add).column("file_name")
    known = pc.is_in(entries.column("file_name"), value_set=names)
    return entries.filter(pc.invert(known))


@contextmanager
def _held(target: TableParts, source: TableParts, snapshot: Snapshot) -> Iterator[None]:
    """Keeps the files of a snapshot of the source, by a tag of the target."""
    effects, file_io = target.session.effects, target.file_io
    path = target.paths.tag(f"{COMMIT_TAG_PREFIX}{effects.fresh_uuid()}")
    now = _EPOCH + timedelta(milliseconds=effects.clock())
    data = with_retention(snapshot.to_json(), create_time=now, time_retained=_HELD_AT_MOST)
    file_io.write(path, data)
    try:
        is_there = source.snapshots.find(snapshot.id) == snapshot
        if not is_there or Standing(source.snapshots, source.manifests).is_adrift(snapshot):
            raise CommitConflictError(
                f"{source.paths.location}: snapshot {snapshot.id} of branch "
                f"{source.paths.branch!r} was deleted at this moment; nothing was merged"
            )
        yield
    finally:
        with suppress(StorageError):
            file_io.delete(path)
        if source.snapshots.find(snapshot.id) != snapshot:
            done = f"merged branch {source.paths.branch!r}"
            release_after(target, [[snapshot]], done=done)
