"""Rows that a user adds or puts in the place of others, committed at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self

import pyarrow as pa

from lakebed.errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.options.acceptance import check_openable
from lakebed.table.committing import (
    commit,
    committing_once,
    delete_written,
    is_unaware,
)
from lakebed.table.compaction.after_write import commit_rows, compact_replayed
from lakebed.table.metadata.partitions import PartitionFilter, PartitionsAmong
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.routers import moves_keys, rows_writer, sole_writer_of
from lakebed.table.writing.changes import AppendChanges, OverwriteChanges
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.partition_spec import (
    converted_spec,
    partition_filter,
    partitions_of_specs,
)
from lakebed.table.writing.rows_writer import RowsWriter

_DYNAMIC = "dynamic-partition-overwrite"

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
        if self.user is None or self.identifier is None:
            self.snapshot = self._commit(messages, base)
            return
        left: Sequence[CommitMessage] = messages
        try:
            with committing_once(self.parts, self.user, self.identifier) as is_due:
                if is_due:
                    left = ()
                    self.snapshot = self._commit(messages, base)
        finally:
            delete_written(self.parts, left)
        if self.snapshot is None:
            compact_replayed(self.parts)

    def _commit(self, messages: Sequence[CommitMessage], base: WriteBase) -> Snapshot | None:
        return commit_rows(
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
    return commit_rows(parts, changes, messages)


def overwrite_changes(
    parts: TableParts,
    messages: Sequence[CommitMessage],
    *,
    partition: PartitionChoice | PartitionFilter,
    operation: Operation,
    is_dynamic: bool = False,
) -> OverwriteChanges:
    """The partitions to replace, and the files that replace them.

    Args:
        parts: The table.
        messages: What was written.
        partition: What to replace: None the whole table, values of partition columns those
            partitions, `"dynamic"` those that the files are in, a filter those that it keeps.
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
        named = _named(parts, partition)
        if rows and not named.keep(pa.array(sorted(rows), pa.binary())).all():
            shown = dict(partition) if isinstance(partition, Mapping) else partition
            raise InvalidDataError(
                f"some rows are outside the partition {shown} to overwrite; nothing was written"
            )
        partitions = partitions if is_dynamic else named
    return OverwriteChanges(
        messages=messages,
        manifests=parts.manifests,
        operation=operation,
        partitions=partitions,
        is_unaware=is_unaware(parts),
    )


def _named(
    parts: TableParts, partition: Mapping[str, object] | PartitionFilter | None
) -> PartitionFilter:
    """The partitions that are replaced."""
    if partition is None or isinstance(partition, Mapping):
        return partition_filter(converted_spec(partition or {}, parts.schema), parts.schema)
    return partition


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
