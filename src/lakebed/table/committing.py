"""How what was written is committed, and deleted when nobody will refer to it."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lakebed.errors import CommitConflictError, CommitUnknownError, StorageError
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.snapshot import Snapshot
from lakebed.table.expiry.expire import expire_after_commit
from lakebed.table.metadata.replay_notes import ReplayNotes
from lakebed.table.parts import TableParts
from lakebed.table.tags.automatic import tag_after_commit
from lakebed.table.writing.changes import Changes
from lakebed.table.writing.commit import BATCH_COMMIT_IDENTIFIER, CommitStamp
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.routing import NOT_FIXED


def is_unaware(parts: TableParts) -> bool:
    """Whether the table has no buckets: the deletion vectors of its files are in no order."""
    return parts.options.bucket == NOT_FIXED and not parts.schema.primary_keys


def commit(
    parts: TableParts,
    changes: Changes,
    messages: Sequence[CommitMessage],
    *,
    user: str | None = None,
    identifier: int | None = None,
    watermark: int | None = None,
    properties: Mapping[str, str] | None = None,
    force: bool | None = None,
) -> Snapshot | None:
    """Commits, and deletes the files when it is certain that nobody will refer to them.

    Then tags are made that are due, and the snapshots expire that the table keeps no longer.

    Args:
        parts: The table.
        changes: What to change.
        messages: What was written for it.
        user: Commit user; a fresh one where None.
        identifier: Commit identifier; None for a commit that is never replayed.
        watermark: Event time up to which all rows are there.
        properties: More members for the snapshot.
        force: Whether a commit without changes makes a snapshot; None as the table says, by
            `snapshot.ignore-empty-commit` = false.
    """
    if force is None:
        force = parts.options.snapshot_ignore_empty_commit is False
    try:
        stamp = CommitStamp(
            schema_id=max((parts.schema.id, *parts.schemas.list_ids())),
            user=user or fresh_user(parts),
            identifier=BATCH_COMMIT_IDENTIFIER if identifier is None else identifier,
            watermark=watermark,
            properties=properties or {},
        )
        snapshot = parts.committer.commit(changes, stamp, force=force)
    except Exception as error:
        if not may_be_named(error):
            delete_written(parts, messages)
        raise
    if snapshot is None:
        delete_written(parts, messages)
    elif snapshot.changelog_manifest_list is None:
        _delete(parts, _changelog_paths(parts, messages))
    if snapshot is not None:
        tag_after_commit(parts, snapshot)
        expire_after_commit(parts)
    return snapshot


@contextlib.contextmanager
def committing_once(parts: TableParts, user: str, identifier: int) -> Iterator[bool]:
    """The length of a commit that may have been made before, by who died before saying so.

    Args:
        parts: The table.
        user: Commit user; the same at each replay.
        identifier: Commit identifier, ascending for a user.

    Yields:
        Whether it is still to be made, within the block.

    Raises:
        CommitUnknownError: It was tried, and what snapshots would tell of it has expired.
    """
    notes = ReplayNotes(parts.file_io, parts.paths, user)
    if parts.committer.has_committed(user, identifier) or notes.has_committed(identifier):
        yield False
        return
    notes.begin(identifier)
    yield True
    # It is made: where that cannot be noted, its snapshot tells, for as long as it is there.
    with contextlib.suppress(StorageError):
        notes.end(identifier)


def fresh_user(parts: TableParts) -> str:
    """A commit user that no other commit has."""
    prefix = parts.options.commit_user_prefix
    fresh = parts.session.effects.fresh_uuid()
    return f"{prefix}_{fresh}" if prefix else fresh


def may_be_named(error: Exception) -> bool:
    """Whether a snapshot that somebody may have read names the files of a commit that failed."""
    if isinstance(error, CommitConflictError):
        return error.was_visible
    return isinstance(error, CommitUnknownError)


def delete_written(parts: TableParts, messages: Sequence[CommitMessage]) -> None:
    """Deletes the new files of messages that no snapshot will name."""
    for message in messages:
        replaced = {file.file_name: file for file in message.deleted_files}
        directory = parts.split_files.bucket_directory(message.partition, message.bucket)
        # A file that only rises to another level, or gets another index, is not ours to delete.
        new = [file for file in message.new_files if file.file_name not in replaced]
        _delete(parts, _file_paths(new, directory))
        for file in message.new_files:
            before = replaced.get(file.file_name)
            if before is not None:
                _delete(parts, _extra_paths(file, directory, but=before.extra_files))
        _delete(parts, map(parts.index_paths.of, message.new_index_files))
    _delete(parts, _changelog_paths(parts, messages))


def _changelog_paths(parts: TableParts, messages: Sequence[CommitMessage]) -> Iterator[str]:
    for message in messages:
        if message.changelog_files:
            directory = parts.split_files.bucket_directory(message.partition, message.bucket)
            yield from _file_paths(message.changelog_files, directory)


def _file_paths(files: Sequence[DataFileMeta], directory: str) -> Iterator[str]:
    """The files and what belongs to them, which lies beside them."""
    for file in files:
        yield file.external_path or f"{directory}/{file.file_name}"
        yield from _extra_paths(file, directory)


def _extra_paths(file: DataFileMeta, directory: str, *, but: Sequence[str] = ()) -> Iterator[str]:
    if file.external_path is not None:
        directory = file.external_path.rpartition("/")[0]
    for name in file.extra_files:
        if name not in but:
            yield f"{directory}/{name}"


def _delete(parts: TableParts, paths: Iterable[str]) -> None:
    for path in paths:
        with contextlib.suppress(StorageError):
            parts.file_io.delete(path)
