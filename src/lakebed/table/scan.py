"""What a user asks of a table, and the forms in which the answer comes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from lakebed.format.snapshot import Snapshot
from lakebed.table.plan import Planner, PlanStep
from lakebed.table.read import SplitReader, read_all
from lakebed.table.split import Split

if TYPE_CHECKING:
    import duckdb
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPlan:
    """What a scan will read.

    Attributes:
        snapshot_id: The snapshot; None for a table without any.
        splits: What to read, in any order.
        reader: Reads any of the splits, here or in a task.
        steps: What each step of planning kept.
    """

    snapshot_id: int | None
    splits: tuple[Split, ...]
    reader: SplitReader
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A reading of a table at one snapshot; nothing is read before it is asked for.

    Attributes:
        snapshot: What is read; None for a table without any.
        planner: Chooses the files.
        reader: Reads them.
        limit: How many rows at most; None for all.
        threads: `lakebed.read.threads`.
    """

    snapshot: Snapshot | None
    planner: Planner
    reader: SplitReader
    limit: int | None
    threads: int

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the rows."""
        return self.reader.schema

    def plan(self) -> ScanPlan:
        """The splits; the same each time, since a snapshot does not change."""
        if self.snapshot is None:
            return ScanPlan(snapshot_id=None, splits=(), reader=self.reader, steps=())
        splits, steps = self.planner.plan(self.snapshot, self.reader.predicate)
        return ScanPlan(
            snapshot_id=self.snapshot.id,
            splits=tuple(splits),
            reader=self.reader,
            steps=tuple(steps),
        )

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow batches, one split after the other, holding one split's memory."""
        left = self.limit
        reader = replace(self.reader, use_threads=self.threads > 1)
        for split in self.plan().splits:
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
        splits = self.plan().splits
        # Either several splits at once, or several threads on the one.
        reader = replace(self.reader, use_threads=1 == len(splits) < self.threads)
        return pa.Table.from_batches(read_all(reader, splits, threads=self.threads), self.schema)

    def to_polars(self) -> pl.DataFrame:
        """All rows as a polars frame."""
        frame = pl.from_arrow(self.to_arrow())
        if not isinstance(frame, pl.DataFrame):
            raise TypeError(type(frame))
        return frame

    def to_pandas(self) -> "pd.DataFrame":
        """All rows as a pandas frame; needs pandas installed."""
        return self.to_arrow().to_pandas()

    def to_duckdb(
        self, view: str, connection: "duckdb.DuckDBPyConnection | None" = None
    ) -> "duckdb.DuckDBPyConnection":
        """The rows as a view of a DuckDB connection; needs duckdb installed.

        Args:
            view: Name of the view.
            connection: Where to register it; a new one in memory where not given.
        """
        if connection is None:
            connection = import_module("duckdb").connect()
        return connection.register(view, self.to_arrow())

    def count(self) -> int:
        """Number of rows, from metadata where that is exact."""
        plan = self.plan()
        found = sum(plan.reader.count(split) for split in plan.splits)
        return found if self.limit is None else min(found, self.limit)

    def explain(self) -> str:
        """What planning kept at each step, and what would be read, as text."""
        plan = self.plan()
        files = sum(len(split.files) for split in plan.splits)
        size = sum(split.size_bytes for split in plan.splits)
        splits = len(plan.splits)
        merging = sum(not split.is_raw for split in plan.splits)
        lines = [
            f"snapshot {plan.snapshot_id}",
            *(f"{step.name:<12} kept {step.kept} of {step.total}" for step in plan.steps),
            f"reads {files} files, {size} bytes in {splits} splits, {merging} with a merge",
        ]
        return "\n".join(lines)
