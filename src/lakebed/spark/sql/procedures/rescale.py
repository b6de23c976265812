"""`sys.rescale`.

The rows are read and written in the driver, as by `Table.rescale`.
"""

from lakebed.spark.sql.procedures.procedure import (
    DONE,
    RESULT,
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)


def _rescale(call: ProcedureCall) -> Answer:
    table = call.table()
    table.rescale(
        bucket_num=call.number("bucket_num"),
        partitions=call.text("partitions"),
        where=call.condition("where", table),
    )
    return DONE


RESCALE = Procedure(
    name="rescale",
    parameters=(
        TABLE,
        Parameter(name="bucket_num", kind=int),
        Parameter(name="partitions"),
        Parameter(name="where"),
    ),
    columns=RESULT,
    run=_rescale,
)
