"""`sys.expire_partitions`, `mark_partition_done`, `reset_consumer` and `clear_consumers`."""

from pyspark.sql.types import StringType, StructField

from lakebed.spark.sql.procedures.changed_options import with_options
from lakebed.spark.sql.procedures.procedure import (
    DONE,
    RESULT,
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)


def _expire_partitions(call: ProcedureCall) -> Answer:
    table = with_options(call.table(), call.text("options"))
    expired = table.expire_partitions(
        call.text("expiration_time"),
        call.text("timestamp_formatter"),
        call.text("timestamp_pattern"),
        expire_strategy=call.text("expire_strategy"),
        max_expires=call.number("max_expires"),
    )
    texts = [", ".join(f"{name}={value}" for name, value in spec.items()) for spec in expired]
    return [(text,) for text in texts or ["No expired partitions."]]


def _mark_partition_done(call: ProcedureCall) -> Answer:
    call.table().mark_partition_done(call.text("partitions"))
    return DONE


def _reset_consumer(call: ProcedureCall) -> Answer:
    call.table().reset_consumer(call.required_text("consumerId"), call.number("nextSnapshotId"))
    return DONE


def _clear_consumers(call: ProcedureCall) -> Answer:
    call.table().clear_consumers(call.text("includingConsumers"), call.text("excludingConsumers"))
    return DONE


EXPIRE_PARTITIONS = Procedure(
    name="expire_partitions",
    parameters=(
        TABLE,
        Parameter(name="expiration_time"),
        Parameter(name="timestamp_formatter"),
        Parameter(name="timestamp_pattern"),
        Parameter(name="expire_strategy"),
        Parameter(name="max_expires", kind=int),
        Parameter(name="options"),
    ),
    columns=(StructField("expired_partitions", StringType()),),
    run=_expire_partitions,
)
MARK_PARTITION_DONE = Procedure(
    name="mark_partition_done",
    parameters=(
        TABLE,
        Parameter(name="partitions", is_required=True),
    ),
    columns=RESULT,
    run=_mark_partition_done,
)
RESET_CONSUMER = Procedure(
    name="reset_consumer",
    parameters=(
        TABLE,
        Parameter(name="consumerId", is_required=True),
        Parameter(name="nextSnapshotId", kind=int),
    ),
    columns=RESULT,
    run=_reset_consumer,
)
CLEAR_CONSUMERS = Procedure(
    name="clear_consumers",
    parameters=(
        TABLE,
        Parameter(name="includingConsumers"),
        Parameter(name="excludingConsumers"),
    ),
    columns=RESULT,
    run=_clear_consumers,
)
