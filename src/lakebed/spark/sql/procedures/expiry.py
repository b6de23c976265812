"""`sys.expire_snapshots`."""

from pyspark.sql.types import IntegerType, StructField

from lakebed.spark.sql.procedures.changed_options import with_options
from lakebed.spark.sql.procedures.procedure import (
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)


def _expire_snapshots(call: ProcedureCall) -> Answer:
    table = with_options(call.table(), call.text("options"))
    count = table.expire_snapshots(
        retain_max=call.number("retain_max"),
        retain_min=call.number("retain_min"),
        older_than=call.text("older_than"),
        max_deletes=call.number("max_deletes"),
    )
    return [(count,)]


EXPIRE_SNAPSHOTS = Procedure(
    name="expire_snapshots",
    parameters=(
        TABLE,
        Parameter(name="retain_max", kind=int),
        Parameter(name="retain_min", kind=int),
        Parameter(name="older_than"),
        Parameter(name="max_deletes", kind=int),
        Parameter(name="options"),
    ),
    columns=(StructField("deleted_snapshots_count", IntegerType(), nullable=False),),
    run=_expire_snapshots,
)
