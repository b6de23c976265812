"""`sys.rewrite_file_index`."""

from pyspark.sql.types import IntegerType, StructField

from lakebed.spark.compaction import run_job
from lakebed.spark.sql.procedures.procedure import (
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)
from lakebed.table.compaction.index_rewrite import index_rewrite
from lakebed.table.partition_choice import chosen_partitions


def _rewrite_file_index(call: ProcedureCall) -> Answer:
    table = call.table()
    parts = table.parts()
    condition = call.condition("where", table)
    job = index_rewrite(parts, chosen_partitions(parts, None, condition))
    if run_job(call.lake.spark, call.lake.registry, job) is None:
        return [(0, 0)]
    partitions = {each.stored.partition for each in job.compactions}
    return [(len(partitions), sum(len(each.pick.files) for each in job.compactions))]


REWRITE_FILE_INDEX = Procedure(
    name="rewrite_file_index",
    parameters=(TABLE, Parameter(name="where")),
    columns=(
        StructField("written_partitions", IntegerType(), nullable=False),
        StructField("written_indexes", IntegerType(), nullable=False),
    ),
    run=_rewrite_file_index,
)
