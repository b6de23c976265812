"""`sys.rollback`, `sys.rollback_to_timestamp` and `sys.rollback_to_watermark`."""

from collections.abc import Callable

from pyspark.sql.types import LongType, StructField

from lakebed.errors import NotFoundError
from lakebed.format.snapshot import Snapshot
from lakebed.spark.sql.procedures.procedure import (
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)
from lakebed.table.table import Table

_COLUMNS = (
    StructField("previous_snapshot_id", LongType(), nullable=False),
    StructField("current_snapshot_id", LongType(), nullable=False),
)


def _rollback(call: ProcedureCall) -> Answer:
    return _from_newest(
        call.table(),
        lambda table: table.rollback(
            call.text("version"), snapshot=call.number("snapshot"), tag=call.text("tag")
        ),
    )


def _rollback_to_timestamp(call: ProcedureCall) -> Answer:
    time_ms = call.number("timestamp") or 0
    return _from_newest(call.table(), lambda table: table.rollback_to_timestamp(time_ms))


def _rollback_to_watermark(call: ProcedureCall) -> Answer:
    watermark = call.number("watermark") or 0
    return _from_newest(call.table(), lambda table: table.rollback_to_watermark(watermark))


def _from_newest(table: Table, roll_back: Callable[[Table], Snapshot]) -> Answer:
    newest = table.latest_snapshot()
    if newest is None:
        raise NotFoundError("snapshot", "the newest", hint="The table has no snapshot")
    return [(newest.id, roll_back(table).id)]


ROLLBACK = Procedure(
    name="rollback",
    parameters=(
        TABLE,
        Parameter(name="version"),
        Parameter(name="snapshot", kind=int),
        Parameter(name="tag"),
    ),
    columns=_COLUMNS,
    run=_rollback,
)
ROLLBACK_TO_TIMESTAMP = Procedure(
    name="rollback_to_timestamp",
    parameters=(TABLE, Parameter(name="timestamp", kind=int, is_required=True)),
    columns=_COLUMNS,
    run=_rollback_to_timestamp,
)
ROLLBACK_TO_WATERMARK = Procedure(
    name="rollback_to_watermark",
    parameters=(TABLE, Parameter(name="watermark", kind=int, is_required=True)),
    columns=_COLUMNS,
    run=_rollback_to_watermark,
)
