"""Rows that a user adds or puts in the place of others, committed at once."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

import pyarrow as pa

from lakebed.errors import (
    CommitUnknownError,
    InvalidArgumentError,
    InvalidDataError,
    StorageError,
)
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.table.metadata.partitions import PartitionsAmong
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.writing.changes import AppendChanges, Changes, OverwriteChanges
from lakebed.table.writing.commit import BATCH_COMMIT_IDENTIFIER
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.partition_spec import converted_spec, partition_filter
from lakebed.table.writing.routing import Router
from lakebed.table.writing.rows_writer import RowsWriter

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
        writes=base.writes,
        router=Router(parts.schema, parts.options),
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
        based_on=base.snapshot.id if base.snapshot else None,
        counts=base.counts,
    )


def commit(
    parts: TableParts,
    changes: Changes,
    messages: Sequence[CommitMessage],
    *,
    user: str | None = None,
    identifier: int | None = None,
) -> Snapshot | None:
    """Commits, and deletes the data files when it is certain that nobody will refer to them."""
    prefix = parts.options.commit_user_prefix
    fresh = parts.session.effects.fresh_uuid()
    try:
        snapshot = parts.committer.commit(
            changes,
            schema_id=parts.schema.id,
            user=user or (f"{prefix}_{fresh}" if prefix else fresh),
            identifier=BATCH_COMMIT_IDENTIFIER if identifier is None else identifier,
        )
    except CommitUnknownError:
        raise
    except Exception:
        delete_written(parts, messages)
        raise
    if snapshot is None:
        delete_written(parts, messages)
    return snapshot


def delete_written(parts: TableParts, messages: Sequence[CommitMessage]) -> None:
    """Deletes the new files of messages that no snapshot will name."""
    for message in messages:
        directory = parts.split_files.bucket_directory(message.partition, message.bucket)
        for file in message.new_files:
            with contextlib.suppress(StorageError):
                parts.file_io.delete(f"{directory}/{file.file_name}")


def overwrite(parts: TableParts, data: object, partition: PartitionChoice) -> Snapshot | None:
    """Replaces the rows of some partitions by `data`; None for no rows.

    Raises:
        InvalidArgumentError: A name or value in `partition` that cannot be.
        InvalidDataError: Rows that the schema forbids, or outside the partition.
    """
    _check_choice(partition)
    spec = converted_spec(partition, parts.schema) if isinstance(partition, Mapping) else {}
    base = parts.write_base()
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
        )
    return commit(parts, changes, messages)


def overwrite_changes(
    parts: TableParts,
    messages: Sequence[CommitMessage],
    *,
    partition: PartitionChoice,
    operation: Operation,
) -> OverwriteChanges:
    """The partitions to replace, and the files that replace them."""
    if partition == "dynamic":
        chosen = PartitionsAmong(frozenset(message.partition for message in messages))
        return OverwriteChanges(
            messages=messages, manifests=parts.manifests, operation=operation, partitions=chosen
        )
    spec = converted_spec(partition or {}, parts.schema)
    partitions = partition_filter(spec, parts.schema)
    outside = pa.array([message.partition for message in messages], pa.binary())
    if len(outside) and not partitions.keep(outside).all():
        raise InvalidDataError(
            f"some rows are outside the partition {dict(partition or {})} to overwrite; "
            "nothing was written"
        )
    return OverwriteChanges(
        messages=messages, manifests=parts.manifests, operation=operation, partitions=partitions
    )


def _check_choice(partition: object) -> None:
    if partition not in (None, "dynamic") and not isinstance(partition, Mapping):
        raise InvalidArgumentError(
            f'partition is a mapping of values, "dynamic" or None, not {partition!r}'
        )
