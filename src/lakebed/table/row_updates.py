"""How do rows get new values: as rows of their keys where there is a key, in other files where not?

An update holds when it is committed: what the merge engine would not keep is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidArgumentError, InvalidDataError, UnsupportedError
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.predicate.expressions import Expression
from lakebed.format.row_tracking import ROW_SEQUENCE_NUMBER, TRACKING_FIELDS
from lakebed.format.snapshot import Operation, Snapshot
from lakebed.lsm.engines import Folding, Picking, merging_of
from lakebed.lsm.merge import UPDATE_AFTER
from lakebed.lsm.overruling import find_overruled, keeps_newest
from lakebed.lsm.section_plan import Mask
from lakebed.options.choices import MergeEngine
from lakebed.table.assignments import Assignments
from lakebed.table.compaction.after_write import commit_rows
from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.row_tracking import TrackedRows, TrackedSource
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.routers import moves_keys, rows_writer
from lakebed.table.row_changes import append_changes
from lakebed.table.row_marks import mark_matching
from lakebed.table.row_rewrites import rewrite_matching
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.row_kinds import RowKinds

_UPDATED_ENGINES = (MergeEngine.DEDUPLICATE, MergeEngine.PARTIAL_UPDATE)


def update_rows(
    parts: TableParts, assigned: Mapping[str, object], where: str | Expression | None
) -> Snapshot | None:
    """Gives columns new values in the rows for which a condition is true; None when there is none.

    Args:
        parts: The table.
        assigned: The values by column, as for `Assignments.of`.
        where: The condition; None for all rows.

    Raises:
        InvalidArgumentError: An assignment or a condition that cannot be, or of a key column.
        InvalidDataError: A value that the table forbids, or that its merge engine would not keep.
        UnsupportedError: Rows of the table cannot be updated.
    """
    update = _Update(parts=parts, assignments=Assignments.of(parts, assigned), where=where)
    base = parts.write_base()
    if parts.schema.primary_keys:
        messages = update.by_key(base)
    elif parts.options.deletion_vectors_enabled:
        messages = update.by_marks(base)
    else:
        messages = update.by_rewrite(base)
    changes = append_changes(parts, messages, base=base, operation=Operation.UPDATE)
    return commit_rows(parts, changes, messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Update:
    """An update of a table.

    Attributes:
        parts: The table.
        assignments: What rows get.
        where: Which rows; None for all.
    """

    parts: TableParts
    assignments: Assignments
    where: str | Expression | None

    def by_key(self, base: WriteBase) -> list[CommitMessage]:
        """Writes the new rows; the merge does the rest."""
        check_updatable(self.parts, base, self.assignments.names)
        schema = self.parts.schema
        merging = merging_of(schema, self.parts.texts)
        # The whole key, since rows of several partitions may come together.
        order = replace(merging.order, key_names=schema.primary_keys)
        merging = replace(merging, order=order)
        with rows_writer(self.parts, base) as rows:
            # With the rows that wait for a compaction: new ones would take the place of those.
            for batch in self._scan(base, Visibility.ALL).to_batches():
                stored = pa.Table.from_batches([batch])
                changed = self.assignments.applied(stored)
                _check_kept(stored, changed, merging)
                rows.add_aligned(changed, np.full(changed.num_rows, UPDATE_AFTER, np.int8))
            return rows.finish()

    def by_marks(self, base: WriteBase) -> list[CommitMessage]:
        """Adds the new rows, and marks the old ones of an append table in deletion vectors."""
        scan = self._scan(base)
        if base.snapshot is None:
            return []
        writes_to = base
        if self.parts.options.row_tracking_enabled:
            scan = _with_row_ids(scan, base.snapshot)
            writes_to = replace(base, writes=base.writes.tracked)
        with rows_writer(self.parts, writes_to) as rows:
            for batch in scan.to_batches():
                rows.add_aligned(self._applied(pa.Table.from_batches([batch])), None)
            messages = rows.finish()
            # Inside the block, so that no row is left when the old ones cannot be marked.
            return [*messages, *mark_matching(self.parts, base.snapshot, self.where)]

    def by_rewrite(self, base: WriteBase) -> list[CommitMessage]:
        """Writes the files of an append table anew that hold such rows."""
        schema = self.parts.schema
        placing = {*schema.partition_keys, *schema.bucket_keys}
        return rewrite_matching(
            self.parts,
            base,
            self.where,
            change=self._changed,
            moves_rows=not placing.isdisjoint(self.assignments.names),
        )

    def _scan(self, base: WriteBase, visibility: Visibility = Visibility.BATCH) -> Scan:
        source = SnapshotSource(snapshot=base.snapshot, visibility=visibility)
        return self.parts.scan(source, where=self.where)

    def _changed(self, rows: pa.Table, chosen: Mask) -> pa.Table:
        """All rows, in their order, of which some have new values."""
        if not chosen.any():
            return rows
        changed = self._applied(rows.filter(pa.array(chosen)))
        apart = pa.concat_tables([rows.filter(pa.array(~chosen)), changed])
        return apart.take(np.argsort(np.argsort(chosen, kind="stable")))

    def _applied(self, rows: pa.Table) -> pa.Table:
        """Rows with their new values; when they were written is then open, where it is told."""
        changed = self.assignments.applied(rows)
        place = changed.schema.get_field_index(ROW_SEQUENCE_NUMBER.name)
        if place < 0:
            return changed
        numbers = pa.nulls(changed.num_rows, pa.int64())
        return changed.set_column(place, changed.schema.field(place), numbers)


def check_updatable(parts: TableParts, base: WriteBase, names: frozenset[str]) -> None:
    """Refuses what a table with a primary key would not do as told.

    Args:
        parts: The table.
        base: Its state.
        names: The columns that get new values.

    Raises:
        InvalidArgumentError: One of the columns cannot be updated.
        UnsupportedError: Rows of the table cannot be updated.
    """
    location, engine = parts.paths.location, parts.options.merge_engine
    if engine not in _UPDATED_ENGINES:
        raise UnsupportedError(
            f"{location}: rows of a table with merge-engine={engine.value} cannot be updated:"
            " what is written there does not take the place of what was"
        )
    fixed = dict.fromkeys(parts.schema.primary_keys, "is part of the primary key")
    row_kinds = RowKinds.of(parts.schema)
    if row_kinds.is_required:
        fixed[row_kinds.column] = "says the kinds of rows (rowkind.field)"
    for name in sorted(names.intersection(fixed)):
        raise InvalidArgumentError(
            f"{location}: column {name!r} {fixed[name]} and cannot be updated; delete the rows"
            " and append others"
        )
    stays = moves_keys(parts) and engine is not MergeEngine.DEDUPLICATE
    moving = names.intersection(parts.schema.partition_keys)
    if stays and moving:
        raise UnsupportedError(
            f"{location}: partition column {min(moving)!r} cannot be updated: with"
            f" merge-engine={engine.value}, rows stay in the partition where they are"
        )
    if any(bucket == POSTPONE_BUCKET for _, bucket in base.writes.max_sequence_numbers):
        raise UnsupportedError(
            f"{location}: rows wait for their bucket, and an update does not see them; compact"
            " the table before"
        )


def _with_row_ids(scan: Scan, snapshot: Snapshot) -> Scan:
    """The same rows with their ids."""
    form = TrackedRows(
        columns=(*scan.reader.columns, *(field.name for field in TRACKING_FIELDS)),
        predicate=scan.reader.predicate,
    )
    source = TrackedSource(source=SnapshotSource(snapshot=snapshot), form=form)
    return replace(scan, source=source, form=form)


def _check_kept(stored: pa.Table, changed: pa.Table, merging: Picking | Folding) -> None:
    """Refuses new rows that the merge engine would not keep as they are."""
    found = None if keeps_newest(merging) else find_overruled(stored, changed, merging)
    if found is not None:
        raise InvalidDataError(
            f"column {found.column!r} of the row {found.key} would be {found.merged!r} after this"
            f" update, not {found.new!r}: that is what the merge engine and the sequence fields of"
            " the table make of it. Nothing was written; assign values that win, a greater"
            " sequence among them"
        )
