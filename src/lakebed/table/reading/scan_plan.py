"""What does planning a scan give: splits, and what reads them?"""

from collections.abc import Iterator, Sequence
from dataclasses import Field, dataclass
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from lakebed.format.schema import TableSchema
from lakebed.table.metadata.plan_step import PlanStep
from lakebed.table.planning.plan import Planner
from lakebed.table.planning.split import Split
from lakebed.table.reading.read import SplitReader


class RowReader(Protocol):
    """Reads the splits of one plan, in this process or in a task; a frozen dataclass, picklable."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def table_schema(self) -> TableSchema:
        """The schema that `columns` are of."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns out, in order."""
        ...

    @property
    def use_threads(self) -> bool:
        """Whether one `read` may use more than the calling thread."""
        ...

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of every batch."""
        ...

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """The rows of one split."""
        ...

    def count(self, split: Split) -> int:
        """Number of rows of one split, decoding no more than it takes."""
        ...

    def reads_as_stored(self, split: Split) -> bool:
        """Whether a reader that knows columns by name alone gets its rows, marked ones too."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPlan:
    """What a scan will read.

    Attributes:
        snapshot_id: The snapshot, or the last of those whose changes are read; None for nothing.
        splits: What to read, in any order.
        reader: Reads any of the splits, here or in a task.
        steps: What each step of planning kept.
    """

    snapshot_id: int | None
    splits: Sequence[Split]
    reader: RowReader
    steps: tuple[PlanStep, ...]


class ScanSource(Protocol):
    """Where the rows of a scan come from: a snapshot, the changes of some, or a difference."""

    def plan(self, planner: Planner, reader: SplitReader) -> ScanPlan:
        """Chooses the files, and what reads them.

        Args:
            planner: Knows the table.
            reader: Knows the columns and the predicate; reads splits of a snapshot.
        """
        ...
