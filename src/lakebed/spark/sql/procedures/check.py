"""`sys.check`: the rows of a table are read by tasks, everything else by the driver."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from pyspark.sql.types import StringType, StructField

from lakebed.spark.compaction import SMALL_BYTES
from lakebed.spark.job_description import described
from lakebed.spark.spreading import TaskSpread
from lakebed.spark.sql.procedures.procedure import (
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)
from lakebed.table.checking.check import Check, depth_of
from lakebed.table.checking.findings import FINDING_COLUMNS
from lakebed.table.checking.reading import Piece

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class _PieceSpread:
    """Reads pieces in tasks, unless the driver has read them sooner.

    Attributes:
        tasks: The tasks.
        small_bytes: Up to how many bytes the driver reads itself.
    """

    tasks: TaskSpread
    small_bytes: int = SMALL_BYTES

    def __call__(self, work: Callable[[Any], Found], values: Iterable[Any], /) -> list[Found]:
        """As `map`."""
        pieces: list[Piece] = list(values)
        if sum(each.size_bytes for each in pieces) <= self.small_bytes:
            return list(map(work, pieces))
        return self.tasks(work, pieces)


def _check(call: ProcedureCall) -> Answer:
    spark, registry = call.lake.spark, call.lake.registry
    table = call.table()
    spread = TaskSpread(spark=spark, registry=registry, tasks=call.task_count(), few_values=0)
    check = Check(
        parts=table.parts(),
        depth=depth_of(call.text("depth") or "full"),
        snapshot_id=call.number("snapshot_id"),
        tag=call.text("tag"),
    )
    with described(spark, f"check {table.name}"):
        findings = check.carry_out(_PieceSpread(spread))
    return [tuple(row.values()) for row in findings.to_arrow().to_pylist()]


CHECK = Procedure(
    name="check",
    parameters=(
        TABLE,
        Parameter(name="depth"),
        Parameter(name="snapshot_id", kind=int),
        Parameter(name="tag"),
        Parameter(name="parallelism", kind=int),
    ),
    columns=tuple(
        StructField(name, StringType(), nullable=False) for name in FINDING_COLUMNS.names
    ),
    run=_check,
)
