"""How what was written is committed, and deleted when nobody will refer to it."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from lakebed.errors import CommitUnknownError, StorageError
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.snapshot import Snapshot
from lakebed.table.parts import TableParts
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
    force: bool = False,
) -> Snapshot | None:
    """Commits, and deletes the files when it is certain that nobody will refer to them.

    Args:
        parts: The table.
        changes: What to change.
        messages: What was written for it.
        user: Commit user; a fresh one where None.
        identifier: Commit identifier; None for a commit that is never replayed.
        watermark: Event time up to which all rows are there.
        properties: More members for the snapshot.
        force: Whether a commit without changes makes a snapshot, as it does where the table says
            `snapshot.ignore-empty-commit` = false.
    """
    prefix = parts.options.commit_user_prefix
    fresh = parts.session.effects.fresh_uuid()
    try:
        stamp = CommitStamp(
            schema_id=max((parts.schema.id, *parts.schemas.list_ids())),
            user=user or (f"{prefix}_{fresh}" if prefix else fresh),
            identifier=BATCH_COMMIT_IDENTIFIER if identifier is None else identifier,
            watermark=watermark,
            properties=properties or {},
        )
        snapshot = parts.committer.commit(
            changes,
            stamp,
            force=force or parts.options.snapshot_ignore_empty_commit is False,
        )
    except CommitUnknownError:
        raise
    except Exception:
        delete_written(parts, messages)
        raise
    if snapshot is None:
        delete_written(parts, messages)
    elif snapshot.changelog_manifest_list is None:
        _delete(parts, _changelog_paths(parts, messages))
    return snapshot


def delete_written(parts: TableParts, messages: Sequence[CommitMessage]) -> None:
    """Deletes the new files of messages that no snapshot will name."""
    for message in messages:
        replaced = {file.file_name for file in message.deleted_files}
        directory = parts.split_files.bucket_directory(message.partition, message.bucket)
        # A file that only rises to another level is not ours to delete.
        new = [file for file in message.new_files if file.file_name not in replaced]
        _delete(parts, _file_paths(new, directory))
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
        path = file.external_path or f"{directory}/{file.file_name}"
        yield path
        for name in file.extra_files:
            yield f"{path.rpartition('/')[0]}/{name}"


def _delete(parts: TableParts, paths: Iterable[str]) -> None:
    for path in paths:
        with contextlib.suppress(StorageError):
            parts.file_io.delete(path)
