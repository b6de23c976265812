"""Rows that a user adds or puts in the place of others, committed at once."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

import pyarrow as pa

from lakebed.errors import (
    CommitUnknownError,
    InvalidArgumentError,
    InvalidDataError,
    StorageError,
    UnsupportedError,
)
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.index_manifest import IndexManifestEntry
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.options.acceptance import check_openable
from lakebed.options.values import parse_boolean
from lakebed.table.metadata.partitions import PartitionFilter, PartitionsAmong
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.routers import moves_keys, router_of, sole_writer_of, writes_of
from lakebed.table.writing.changes import AppendChanges, Changes, OverwriteChanges
from lakebed.table.writing.commit import BATCH_COMMIT_IDENTIFIER, CommitStamp
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.partition_spec import (
    converted_spec,
    partition_filter,
    partitions_of_specs,
)
from lakebed.table.writing.routing import NOT_FIXED
from lakebed.table.writing.rows_writer import RowsWriter

_DYNAMIC = "dynamic-partition-overwrite"
_INDEX_IN_BUCKET = "index-file-in-data-file-dir"

PartitionChoice = Mapping[str, object] | Literal["dynamic"] | None


@dataclass(slots=True, kw_only=True)
class TableWriter:
    """Writes that are committed once, when the `with` block ends well.

    Attributes:
        parts: The table.
        user: Commit user; a fresh one where None.
        identifier: Commit identifier; None for a batch commit that is never replayed.
        snapshot: The snapshot that the commit made, after the block.
    """

    parts: TableParts
    user: str | None
    identifier: int | None
    snapshot: Snapshot | None = field(default=None, init=False)
    _base: WriteBase | None = field(default=None, init=False)
    _rows: RowsWriter | None = field(default=None, init=False)

    def append(self, data: object) -> None:
        """As `Table.append`, visible when the block has ended."""
        self._open_rows().add(data)

    def upsert(self, data: object) -> None:
        """As `Table.upsert`, visible when the block has ended."""
        if not self.parts.schema.primary_keys:
            raise InvalidArgumentError(
                f"{self.parts.paths.location} has no primary key to upsert by; use append"
            )
        self._open_rows().add(data)

    def __enter__(self) -> Self:
        """Looks at the table as it is now."""
        if self.identifier is not None and self.user is None:
            raise InvalidArgumentError("identifier says nothing without user; give both")
        self._base = self.parts.write_base()
        self._rows = rows_writer(self.parts, self._base)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Commits, or on an error deletes what was written."""
        rows, base = self._open_rows(), self._base
        if kind is not None or base is None:
            rows.__exit__(kind, error, trace)
            return
        with rows:
            messages = rows.finish()
        self.snapshot = commit(
            self.parts,
            append_changes(self.parts, messages, base=base, operation=Operation.WRITE),
            messages,
            user=self.user,
            identifier=self.identifier,
        )

    def _open_rows(self) -> RowsWriter:
        if self._rows is None:
            raise InvalidArgumentError("a writer is used in a with block")
        return self._rows


def rows_writer(parts: TableParts, base: WriteBase) -> RowsWriter:
    """A writer of rows of any bucket."""
    return RowsWriter(
        writes=writes_of(parts, base),
        router=router_of(parts, base),
        directory_of=lambda values, bucket: parts.paths.bucket(
            parts.split_files.partition_path(values), bucket
        ),
        memory=parts.options.write_buffer_size,
        threads=parts.session.read_threads,
    )


def append_changes(
    parts: TableParts,
    messages: Sequence[CommitMessage],
    *,
    base: WriteBase,
    operation: Operation,
) -> AppendChanges:
    """Files to add, with what their writers knew."""
    return AppendChanges(
        messages=messages,
        manifests=parts.manifests,
        operation=operation,
        based_on=base.snapshot,
        counts=base.counts,
        is_unaware=is_unaware(parts),
        sole_writer=sole_writer_of(parts, base),
    )


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
        _delete(parts, (_index_path(parts, entry) for entry in message.new_index_files))
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


def _index_path(parts: TableParts, entry: IndexManifestEntry) -> str:
    if entry.external_path is not None:
        return entry.external_path
    if parse_boolean(parts.texts.get(_INDEX_IN_BUCKET, "false"), _INDEX_IN_BUCKET):
        directory = parts.split_files.bucket_directory(entry.partition, entry.bucket)
        return f"{directory}/{entry.file_name}"
    return parts.paths.index(entry.file_name)


def _delete(parts: TableParts, paths: Iterable[str]) -> None:
    for path in paths:
        with contextlib.suppress(StorageError):
            parts.file_io.delete(path)


def overwrite(parts: TableParts, data: object, partition: PartitionChoice) -> Snapshot | None:
    """Replaces the rows of some partitions by `data`; None for no rows.

    Where the table says `dynamic-partition-overwrite` = true, rows replace only the partitions that
    they are in.

    Raises:
        InvalidArgumentError: A name or value in `partition` that cannot be.
        InvalidDataError: Rows that the schema forbids, or outside the partition.
    """
    _check_choice(partition)
    spec = converted_spec(partition, parts.schema) if isinstance(partition, Mapping) else {}
    base = parts.write_base().for_overwrite()
    with rows_writer(parts, base) as rows:
        if data is not None:
            fixed = {name: value.as_py() for name, value in spec.items()}
            rows.add(data, fixed=fixed)
        messages = rows.finish()
        # Inside the block, so that rows outside the partition leave no file.
        changes = overwrite_changes(
            parts,
            messages,
            partition=partition,
            operation=Operation.TRUNCATE if data is None else Operation.OVERWRITE,
            is_dynamic=data is not None and _is_dynamic(parts),
        )
    return commit(parts, changes, messages)


def overwrite_changes(
    parts: TableParts,
    messages: Sequence[CommitMessage],
    *,
    partition: PartitionChoice,
    operation: Operation,
    is_dynamic: bool = False,
) -> OverwriteChanges:
    """The partitions to replace, and the files that replace them.

    Args:
        parts: The table.
        messages: What was written.
        partition: What to replace: None the whole table, values of partition columns those
            partitions, `"dynamic"` those that the files are in.
        operation: What the user asked for.
        is_dynamic: Whether only partitions that the files are in are replaced in any case.

    Raises:
        InvalidDataError: Files outside the partition.
        UnsupportedError: Some partitions are replaced, and their keys may be in others.
    """
    rows = frozenset(message.partition for message in messages)
    if rows and moves_keys(parts) and (partition is not None or is_dynamic):
        raise UnsupportedError(
            f"{parts.paths.location}: the primary key lacks partition columns, so a new row may"
            " have an old one in a partition that stays. Overwrite the whole table, or delete the"
            " rows of the partition and append the new ones; nothing was written"
        )
    partitions: PartitionFilter = PartitionsAmong(rows)
    if partition != "dynamic":
        named = partition_filter(converted_spec(partition or {}, parts.schema), parts.schema)
        if rows and not named.keep(pa.array(sorted(rows), pa.binary())).all():
            raise InvalidDataError(
                f"some rows are outside the partition {dict(partition or {})} to overwrite; "
                "nothing was written"
            )
        partitions = partitions if is_dynamic else named
    return OverwriteChanges(
        messages=messages,
        manifests=parts.manifests,
        operation=operation,
        partitions=partitions,
        is_unaware=is_unaware(parts),
    )


def drop_partitions(parts: TableParts, specs: Sequence[Mapping[str, object]]) -> Snapshot | None:
    """Deletes the rows of the partitions that any of some specs names, in one commit.

    Args:
        parts: The table.
        specs: Values of partition columns, of all or of some.

    Returns:
        The snapshot; None where there is no such partition.

    Raises:
        InvalidArgumentError: No spec, an empty one, or a name or value that cannot be.
    """
    if not specs or not all(specs):
        raise InvalidArgumentError(
            "a partition to drop is named by values of partition columns; truncate deletes all rows"
        )
    check_openable(parts.schema.options, use="write")
    converted = [converted_spec(spec, parts.schema) for spec in specs]
    changes = OverwriteChanges(
        messages=(),
        manifests=parts.manifests,
        operation=Operation.TRUNCATE,
        partitions=partitions_of_specs(converted, parts.schema),
        is_unaware=is_unaware(parts),
    )
    return commit(parts, changes, ())


def _is_dynamic(parts: TableParts) -> bool:
    """Whether the table itself says so: what a call says goes before the option's default."""
    is_said = _DYNAMIC in parts.texts and parts.options.dynamic_partition_overwrite
    return is_said and bool(parts.schema.partition_keys)


def _check_choice(partition: object) -> None:
    if partition not in (None, "dynamic") and not isinstance(partition, Mapping):
        raise InvalidArgumentError(
            f'partition is a mapping of values, "dynamic" or None, not {partition!r}'
        )
