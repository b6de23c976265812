"""`sys.compact` and `sys.compact_database`."""

import logging
import re
from dataclasses import replace
from functools import partial

from pyspark.errors import PySparkException
from pyspark.sql.types import StringType, StructField

from lakebed.errors import InvalidArgumentError, LakebedError
from lakebed.spark.compaction import run_job
from lakebed.spark.postponed import place_in_tasks
from lakebed.spark.sql.procedures.changed_options import with_options
from lakebed.spark.sql.procedures.procedure import (
    DONE,
    RESULT,
    TABLE,
    Answer,
    Parameter,
    Procedure,
    ProcedureCall,
    Value,
)
from lakebed.table.compaction.idle import idle_partitions
from lakebed.table.compaction.job import CompactionJob, compaction_job
from lakebed.table.compaction.postponed import place_postponed
from lakebed.table.compaction.sort_order import chosen_ordering
from lakebed.table.partition_choice import chosen_partitions
from lakebed.table.table import Table

_log = logging.getLogger(__name__)

_BUCKETS = re.compile(r"\s*([0-9]{1,10})(?:\s*-\s*([0-9]{1,10}))?\s*")


def _compact(call: ProcedureCall) -> Answer:
    table = with_options(call.table(), call.text("options"))
    run_job(call.lake.spark, call.lake.registry, _job(call, table))
    return DONE


def _job(call: ProcedureCall, table: Table) -> CompactionJob:
    parts = table.parts()
    condition = call.condition("where", table)
    buckets = _buckets(call.text("buckets"), count=parts.options.bucket)
    partitions = chosen_partitions(parts, call.text("partitions"), condition)
    idle_time = call.text("partition_idle_time")
    if idle_time is not None:
        partitions = idle_partitions(parts, partitions, idle_time)
    ordering = chosen_ordering(parts, call.text("order_strategy"), call.text("order_by"))
    write = partial(place_in_tasks, call.lake.spark, call.lake.registry)
    place_postponed(parts, partitions, write=write)
    strategy = call.text("compact_strategy")
    job = compaction_job(parts, strategy and strategy.lower(), partitions, ordering=ordering)
    if buckets is None:
        return job
    chosen = [each for each in job.compactions if each.stored.bucket in buckets]
    return replace(job, compactions=chosen)


def _buckets(text: str | None, *, count: int) -> frozenset[int] | None:
    """The buckets that a text such as `0-99,200` names; None for all."""
    if text is None:
        return None
    if count < 1:
        raise InvalidArgumentError(
            "buckets chooses among a fixed number of buckets, which the table does not have; leave"
            " it out"
        )
    chosen: set[int] = set()
    for part in text.split(","):
        found = _BUCKETS.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, -1)
        if not first <= last < count:
            raise InvalidArgumentError(
                f"buckets: {part!r} is no bucket of 0-{count - 1} and no range of them; write 0,2-3"
            )
        chosen.update(range(first, last + 1))
    return frozenset(chosen)


def _compact_database(call: ProcedureCall) -> Answer:
    databases = _pattern(call, "including_databases") or re.compile(".*")
    including = _pattern(call, "including_tables") or re.compile(".*")
    excluding = _pattern(call, "excluding_tables")
    catalog = call.lake.registry.catalog(call.catalog)
    names = [
        f"{database}.{table}"
        for database in catalog.list_databases()
        if databases.fullmatch(database)
        for table in catalog.list_tables(database)
    ]
    compacted = failed = 0
    for name in names:
        is_excluded = excluding is not None and excluding.fullmatch(name)
        if is_excluded or not including.fullmatch(name):
            continue
        values: dict[str, Value] = dict.fromkeys(each.name for each in COMPACT.parameters)
        values |= {"table": name, "options": call.text("options")}
        try:
            _compact(replace(call, values=values))
            compacted += 1
        except (LakebedError, PySparkException):
            # The other tables are compacted all the same.
            _log.exception("%s.%s is not compacted", call.catalog, name)
            failed += 1
    return [(f"Compact database finished. Success: {compacted}, Failed: {failed}",)]


def _pattern(call: ProcedureCall, name: str) -> re.Pattern[str] | None:
    text = call.text(name)
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise InvalidArgumentError(f"{name}: {text!r} is no regular expression: {error}") from error


COMPACT = Procedure(
    name="compact",
    parameters=(
        TABLE,
        Parameter(name="partitions"),
        Parameter(name="compact_strategy"),
        Parameter(name="order_strategy"),
        Parameter(name="order_by"),
        Parameter(name="where"),
        Parameter(name="options"),
        Parameter(name="partition_idle_time"),
        Parameter(name="buckets"),
    ),
    columns=RESULT,
    run=_compact,
)
COMPACT_DATABASE = Procedure(
    name="compact_database",
    parameters=(
        Parameter(name="including_databases"),
        Parameter(name="including_tables"),
        Parameter(name="excluding_tables"),
        Parameter(name="options"),
    ),
    columns=(StructField("result", StringType()),),
    run=_compact_database,
)
