"""What a user asks of a table, and the forms in which the answer comes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pyarrow as pa

from lakebed.format.schema import TableSchema
from lakebed.table.metadata.plan_step import PlanStep
from lakebed.table.planning.extremes import extreme_in, known_extreme, ordered_type
from lakebed.table.planning.packing import limit_splits
from lakebed.table.planning.plan import Planner
from lakebed.table.planning.split import Split
from lakebed.table.reading.forms import RowForms
from lakebed.table.reading.read import SplitReader
from lakebed.table.reading.scan_plan import RowReader, ScanPlan, ScanSource
from lakebed.table.reading.scan_source import SnapshotSource

RowForm = Callable[[RowReader, ScanSource], RowReader]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan(RowForms):
    """A reading of a table; nothing is read before it is asked for.

    Attributes:
        source: Where the rows come from.
        planner: Chooses the files.
        reader: Knows the columns and the predicate.
        limit: How many rows at most; None for all.
        threads: `lakebed.read.threads`.
        form: From rows as they are read to rows as they are shown, by wrapping their reader; None
            where that is the same. It can be pickled.
    """

    source: ScanSource
    planner: Planner
    reader: SplitReader
    limit: int | None
    threads: int
    form: RowForm | None = None

    @property
    def table_schema(self) -> TableSchema:
        """The columns that there are at the point that is read."""
        return self._formed(self.reader).table_schema

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the rows."""
        return self._formed(self.reader).schema

    def plan(self) -> ScanPlan:
        """The splits; the same each time, since a snapshot does not change."""
        plan = self.source.plan(self.planner, self.reader)
        splits, steps = plan.splits, plan.steps
        if self.limit is not None and self.reader.predicate is None and self.form is None:
            splits = tuple(limit_splits(splits, self.limit))
            steps = (*steps, PlanStep("limit", len(splits), len(plan.splits)))
        return replace(plan, splits=splits, reader=self._formed(plan.reader), steps=steps)

    def _formed(self, reader: RowReader) -> RowReader:
        return reader if self.form is None else self.form(reader, self.source)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow batches, one split after the other, holding one split's memory."""
        left = self.limit
        plan = self.plan()
        reader = replace(plan.reader, use_threads=self.threads > 1)
        for split in plan.splits:
            for batch in reader.read(split):
                if left is None:
                    yield batch
                    continue
                if left > 0:
                    yield batch.slice(0, left)
                left -= batch.num_rows
                if left <= 0:
                    return

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table; types and nullability as in the schema, rows in no order."""
        if self.limit is not None:
            return pa.Table.from_batches(list(self.to_batches()), self.schema)
        plan = self.plan()
        # Either several splits at once, or several threads on the one.
        reader = replace(plan.reader, use_threads=1 == len(plan.splits) < self.threads)
        batches = _read_all(reader, plan.splits, threads=self.threads)
        return pa.Table.from_batches(batches, reader.schema)

    def count(self) -> int:
        """Number of rows, from metadata where that is exact."""
        plan = self.plan()
        found = sum(plan.reader.count(split) for split in plan.splits)
        return found if self.limit is None else min(found, self.limit)

    def min(self, column: str) -> object:
        """The least value of a column, from metadata where that is exact; None without any value.

        Raises:
            InvalidArgumentError: No such column, or its values have no order.
        """
        return self._extreme(column, greatest=False)

    def max(self, column: str) -> object:
        """The greatest value of a column, NaN above all numbers; else as `min`."""
        return self._extreme(column, greatest=True)

    def _extreme(self, column: str, *, greatest: bool) -> object:
        field = self.table_schema.field(column)
        ordered_type(field)
        source, predicate = self.source, self.reader.predicate
        is_whole = self.form is None and self.limit is None
        if is_whole and isinstance(source, SnapshotSource) and source.is_plain:
            if source.snapshot is None:
                return None
            known = known_extreme(
                self.planner, source.snapshot, predicate=predicate, field=field, greatest=greatest
            )
            if known is not None:
                return known.as_py()
        narrow = replace(self, reader=replace(self.reader, columns=(column,)))
        kind = narrow.schema.field(0).type
        return extreme_in(narrow.to_batches(), kind, greatest=greatest).as_py()

    def explain(self) -> str:
        """What planning kept at each step, and what would be read, as text."""
        plan = self.plan()
        files = sum(split.file_count for split in plan.splits)
        size = sum(split.size_bytes for split in plan.splits)
        splits = len(plan.splits)
        merging = sum(not split.is_raw for split in plan.splits)
        lines = [
            f"snapshot {plan.snapshot_id}",
            *(f"{step.name:<12} kept {step.kept} of {step.total}" for step in plan.steps),
            f"reads {files} files, {size} bytes in {splits} splits, {merging} with a merge",
        ]
        return "\n".join(lines)


def _read_all(reader: RowReader, splits: Sequence[Split], *, threads: int) -> list[pa.RecordBatch]:
    """The rows of all splits, read by several threads, in the order of the splits."""
    if len(splits) < 2 or threads < 2:
        return [batch for split in splits for batch in reader.read(split)]
    with ThreadPoolExecutor(min(threads, len(splits))) as pool:
        parts = pool.map(lambda split: list(reader.read(split)), splits)
        return [batch for part in parts for batch in part]
