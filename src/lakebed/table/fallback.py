"""Two branches read as one: each partition from the first branch that has it.

With `scan.fallback-branch` the table's own partitions go first, with `scan.primary-branch` those of
the other branch. A partition is never mixed of both.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from lakebed.errors import InvalidTableError, UnsupportedError
from lakebed.format.predicate.expressions import split_by_columns
from lakebed.format.schema import TableSchema
from lakebed.format.snapshot import Snapshot
from lakebed.format.types import with_nullability
from lakebed.table.metadata.plan_step import PlanStep
from lakebed.table.parts import TableParts
from lakebed.table.planning.plan import Planner
from lakebed.table.planning.split import Split
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan_plan import RowReader, ScanPlan, ScanSource
from lakebed.table.reading.scan_point import ScanPoint, SnapshotPoint
from lakebed.table.reading.scan_source import SnapshotSource

_FALLBACK, _PRIMARY = "scan.fallback-branch", "scan.primary-branch"
_FIRST_ID = 1


def with_other_branch(
    parts: TableParts,
    source: ScanSource,
    chosen: ScanPoint,
    *,
    visibility: Visibility,
) -> ScanSource:
    """The source, together with that of another branch where an option names one.

    Args:
        parts: The table, whose options may name a branch.
        source: Where its rows come from.
        chosen: What the scan reads, for the same of the other branch.
        visibility: Which levels of a snapshot are seen.

    Raises:
        InvalidTableError: The other branch has other columns.
        NotFoundError: It has not what the scan reads.
        UnsupportedError: The changes of two branches.
    """
    fallback, primary = (parts.texts.get(key, "").strip() for key in (_FALLBACK, _PRIMARY))
    name = fallback or primary
    if not name or name == parts.paths.branch:
        return source
    other = parts.of_branch(name)
    # A branch that is not there has no partition to fall back on.
    if other is None:
        return source
    if not isinstance(source, SnapshotSource):
        raise UnsupportedError(f"changes of two branches ({_FALLBACK}) are not supported")
    _check_columns(parts.schema, other.schema, name)
    found = other.history.find(_of_branch(chosen, parts, other), visibility=visibility)
    return BranchesSource(
        own=source, other=found.source, other_parts=other, own_first=bool(fallback)
    )


def _check_columns(own: TableSchema, other: TableSchema, branch: str) -> None:
    kinds = [
        [with_nullability(field.type, nullable=True) for field in schema.fields]
        for schema in (own, other)
    ]
    if kinds[0] != kinds[1] or own.names != other.names:
        raise InvalidTableError(
            f"branch {branch!r} has columns {', '.join(other.names)} or their types other than "
            f"{', '.join(own.names)}; both branches must have the same to be read as one"
        )


def _of_branch(chosen: ScanPoint, parts: TableParts, other: TableParts) -> ScanPoint:
    """The same point in the other branch, whose snapshots have ids of their own."""
    if not isinstance(chosen.point, SnapshotPoint):
        return chosen
    time_ms = parts.snapshots.load(chosen.point.snapshot_id).time_millis
    then: Snapshot | None = other.snapshots.at_or_before(time_ms)
    return replace(chosen, point=SnapshotPoint(_FIRST_ID if then is None else then.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchesSource:
    """Partitions of two branches.

    Attributes:
        own: What is read of the table's own branch.
        other: What is read of the other.
        other_parts: The table seen from there.
        own_first: Whose partition is read where both have it.
    """

    own: SnapshotSource
    other: ScanSource
    other_parts: TableParts
    own_first: bool

    def plan(self, planner: Planner, reader: SplitReader) -> ScanPlan:
        """The splits of the branch that goes first, and of partitions that only the other has."""
        theirs = self.other_parts.scan(self.other, where=reader.predicate)
        scans: list[tuple[ScanSource, Planner, SplitReader]] = [
            (self.own, planner, reader),
            (
                self.other,
                theirs.planner,
                replace(theirs.reader, columns=reader.columns, keep_deletes=reader.keep_deletes),
            ),
        ]
        first, second = scans if self.own_first else scans[::-1]
        taken = _partitions(*first)
        plans = [source.plan(where, how) for source, where, how in (first, second)]
        rest = [split for split in plans[1].splits if split.partition not in taken]
        return ScanPlan(
            snapshot_id=plans[0 if self.own_first else 1].snapshot_id,
            splits=(*plans[0].splits, *rest),
            reader=BranchesReader(
                first=plans[0].reader, second=plans[1].reader, partitions=frozenset(taken)
            ),
            steps=(*plans[0].steps, PlanStep("branch", len(rest), len(plans[1].splits))),
        )


def _partitions(
    source: ScanSource, planner: Planner, reader: SplitReader
) -> set[tuple[object, ...]]:
    """Every partition that is there, whether or not any row of it matches."""
    keys = planner.table_schema.partition_keys
    of_partition, _ = split_by_columns(reader.predicate, keys)
    plan = source.plan(planner, replace(reader, predicate=of_partition))
    return {split.partition for split in plan.splits}


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchesReader:
    """Reads each split as its branch wants it.

    Attributes:
        first: Reads the partitions of the branch that goes first.
        second: Reads the others.
        partitions: Of the branch that goes first.
        use_threads: Whether one `read` may use more than the calling thread.
    """

    first: RowReader
    second: RowReader
    partitions: frozenset[tuple[object, ...]]
    use_threads: bool = False

    @property
    def table_schema(self) -> TableSchema:
        """The schema that is read."""
        return self.first.table_schema

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns out, in order."""
        return self.first.columns

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of every batch."""
        return self.first.schema

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        schema = self.schema
        for batch in replace(self._of(split), use_threads=self.use_threads).read(split):
            yield batch.cast(schema) if batch.schema != schema and self.columns else batch

    def count(self, split: Split) -> int:
        """Number of rows of one split, decoding no more than it takes."""
        return self._of(split).count(split)

    def reads_as_stored(self, split: Split) -> bool:
        """Whether a reader of Parquet that knows columns by name alone gets this split right."""
        return self._of(split).reads_as_stored(split)

    def _of(self, split: Split) -> RowReader:
        return self.first if split.partition in self.partitions else self.second
