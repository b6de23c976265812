"""`sys.remove_orphan_files` and the other procedures that mend a table."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.types import LongType, StringType, StructField

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.spark.job_description import described
from lakebed.spark.names import split_name
from lakebed.spark.spreading import TaskSpread
from lakebed.spark.sql.procedures.procedure import (
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
)
from lakebed.table.cleaning.lost_files import remove_unexisting_files
from lakebed.table.cleaning.orphans import oldest_kept_ms, remove_orphan_files
from lakebed.table.spreading import Spread
from lakebed.table.table import Table

_EVERY_TABLE = ".*"
_MODES = ("distributed", "local")


def _remove_orphan_files(call: ProcedureCall) -> Answer:
    mode = (call.text("mode") or _MODES[0]).lower()
    if mode not in _MODES:
        raise InvalidArgumentError(f"mode is {mode!r}; it is one of {', '.join(_MODES)}")
    found = [_orphans(call, table, mode=mode) for table in _tables(call)]
    sizes = (pc.sum(each["file_size"]).as_py() or 0 for each in found)
    return [(sum(each.num_rows for each in found), sum(sizes))]


def _orphans(call: ProcedureCall, table: Table, *, mode: str) -> pa.Table:
    older_than, dry_run = call.text("older_than"), bool(call.values["dry_run"])
    if mode == "local":
        parallelism = call.number("parallelism")
        return table.remove_orphan_files(older_than, dry_run=dry_run, parallelism=parallelism)
    parts = table.parts()
    with _tasks(call, table) as spread:
        return remove_orphan_files(
            parts, oldest_kept_ms(parts, older_than), dry_run=dry_run, spread=spread
        )


def _tables(call: ProcedureCall) -> Iterator[Table]:
    """The table that is named, or those of a database: `db.*`."""
    text = call.required_text("table")
    if not text.endswith(_EVERY_TABLE):
        yield call.table()
        return
    database = split_name(text.removesuffix(_EVERY_TABLE))
    if database[:1] == (call.catalog,) and len(database) > 1:
        database = database[1:]
    if len(database) != 1:
        raise InvalidArgumentError(f"table is {text!r}; write database.* for all of a database")
    for name in call.lake.registry.catalog(call.catalog).list_tables(database[0]):
        yield replace(call, values={**call.values, "table": f"{database[0]}.{name}"}).table()


@contextmanager
def _tasks(call: ProcedureCall, table: Table) -> Iterator[Spread]:
    spark, tasks = call.lake.spark, call.task_count()
    with described(spark, f"look for files of {table.name}"):
        yield TaskSpread(spark=spark, registry=call.lake.registry, tasks=tasks)


def _remove_unexisting_files(call: ProcedureCall) -> Answer:
    table = call.table()
    with _tasks(call, table) as spread:
        dry_run = bool(call.values["dry_run"])
        paths = remove_unexisting_files(table.parts(), dry_run=dry_run, spread=spread)
    return [(path,) for path in paths]


def _repair_earliest_snapshot(call: ProcedureCall) -> Answer:
    snapshot_id = call.number("snapshot_id") or 0
    return [(call.table().repair_earliest_snapshot(snapshot_id), snapshot_id)]


def _purge_files(call: ProcedureCall) -> Answer:
    call.table().purge_files()
    return [("Success",)]


PURGE_FILES = Procedure(
    name="purge_files",
    parameters=(TABLE,),
    columns=(StructField("result", StringType()),),
    run=_purge_files,
)
REMOVE_ORPHAN_FILES = Procedure(
    name="remove_orphan_files",
    parameters=(
        TABLE,
        Parameter(name="older_than"),
        Parameter(name="dry_run", kind=bool),
        Parameter(name="parallelism", kind=int),
        Parameter(name="mode"),
    ),
    columns=(
        StructField("deletedFileCount", LongType()),
        StructField("deletedFileTotalLenInBytes", LongType()),
    ),
    run=_remove_orphan_files,
)
REMOVE_UNEXISTING_FILES = Procedure(
    name="remove_unexisting_files",
    parameters=(
        TABLE,
        Parameter(name="dry_run", kind=bool),
        Parameter(name="parallelism", kind=int),
    ),
    columns=(StructField("fileName", StringType(), nullable=False),),
    run=_remove_unexisting_files,
)
REPAIR_EARLIEST_SNAPSHOT = Procedure(
    name="repair_earliest_snapshot",
    parameters=(
        TABLE,
        Parameter(name="snapshot_id", kind=int, is_required=True),
    ),
    columns=(
        StructField("previous_earliest_snapshot_id", LongType(), nullable=False),
        StructField("current_earliest_snapshot_id", LongType(), nullable=False),
    ),
    run=_repair_earliest_snapshot,
)
