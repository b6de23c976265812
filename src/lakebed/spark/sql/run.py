"""What does `spark.sql` do on a session with attached catalogs?

A statement about a Lakebed table is run by Lakebed; a query that reads one goes to Spark with
frames in the place of names; everything else goes to Spark as it came. A statement on a Lakebed
table that Lakebed does not run is an error that says so.
"""

from itertools import pairwise
from typing import Any

from pyspark.errors import ParseException
from pyspark.sql import DataFrame

from lakebed.spark.conditions import unsupported_operation
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.sql import changes, definitions
from lakebed.spark.sql.altering import run as altering
from lakebed.spark.sql.analyzing import run as analyzing
from lakebed.spark.sql.arguments import NO_ARGUMENTS, Arguments
from lakebed.spark.sql.caching import run as caching
from lakebed.spark.sql.copying import run as copying
from lakebed.spark.sql.creating import run as creating
from lakebed.spark.sql.identifiers import with_identifiers
from lakebed.spark.sql.inspecting import run as inspecting
from lakebed.spark.sql.max_partition import with_max_partitions
from lakebed.spark.sql.parser import parse_statement
from lakebed.spark.sql.procedures.run import call
from lakebed.spark.sql.queries import Run, run_query
from lakebed.spark.sql.references import analyse
from lakebed.spark.sql.row_changes import run as row_changes
from lakebed.spark.sql.running import run as running
from lakebed.spark.sql.settings import with_quoted_key
from lakebed.spark.sql.statements import (
    Call,
    CreateDatabase,
    CreateTemporaryView,
    DropDatabase,
    DropTable,
    DropView,
    Query,
    ShowDatabases,
    ShowTables,
    Statement,
    Truncate,
    Unsupported,
    Use,
)
from lakebed.spark.sql.tagging import run as tagging
from lakebed.spark.sql.tokens import tokenize
from lakebed.spark.sql.unstored import run as unstored

_SPARK_CATALOG = "spark_catalog"


def run_sql(lake: Lake, text: str, given: Arguments = NO_ARGUMENTS) -> DataFrame:
    """The answer to a statement."""
    text = with_quoted_key(text)
    if not lake.registry.is_concerned(text):
        return lake.sql(text, given.args, **given.fields)
    text, given = with_identifiers(lake, text, given)
    text = with_max_partitions(lake, text, given)
    try:
        statement = parse_statement(text)
    except ParseException:
        if _is_lakes_own(lake, text):
            raise
        statement = Query()
    answer = _run(lake, statement, given)
    if answer is not None:
        return answer
    if isinstance(statement, Use):
        answer = lake.sql(text, given.args, **given.fields)
        lake.registry.current_catalog = None
        return answer
    if isinstance(statement, _WITHOUT_QUERY):
        # Words such as the FROM of SHOW COLUMNS would be taken for those of a query.
        return lake.sql(text, given.args, **given.fields)
    return run_query(lake, text, given)


def _run(lake: Lake, statement: Statement, given: Arguments) -> DataFrame | None:
    """The answer of Lakebed; None when the statement is for Spark."""
    run = _RUNS.get(type(statement))
    return None if run is None else run(lake, statement, given)


def _create_temporary_view(
    lake: Lake, statement: CreateTemporaryView, given: Arguments
) -> DataFrame | None:
    """A view over frames: its text alone would name parameters that are gone.

    None when the view reads no Lakebed table, so that Spark keeps its text.
    """
    if lake.resolve(statement.name) is not None and len(statement.name) > 1:
        raise unsupported_operation("CREATE TEMPORARY VIEW", quoted(statement.name))
    if not _reads_lake(lake, statement.query):
        return None
    name = statement.name[-1]
    frame = run_query(lake, statement.query, given)
    if statement.is_global:
        create = frame.createOrReplaceGlobalTempView if statement.is_replace else None
        (create or frame.createGlobalTempView)(quoted((name,)))
    elif statement.is_replace:
        frame.createOrReplaceTempView(quoted((name,)))
    elif not (statement.if_not_exists and lake.is_view(name)):
        frame.createTempView(quoted((name,)))
    if statement.is_cached:
        lazy = "LAZY " if statement.is_lazy else ""
        options = statement.cache_options
        how = "" if options is None else f" OPTIONS ({options})"
        lake.sql(f"CACHE {lazy}TABLE {quoted((name,))}{how}")
    return lake.empty()


def _reads_lake(lake: Lake, text: str) -> bool:
    return lake.registry.is_concerned(text) and any(
        reference.arguments is not None or lake.resolve(reference.parts) is not None
        for reference in analyse(text, catalogs=lake.registry.catalogs).references
    )


def _refuse(lake: Lake, statement: Unsupported, _: Arguments) -> None:
    """Raises if the target is Lakebed's."""
    registry = lake.registry
    target = statement.target
    is_ours = target[0] in registry.catalogs and len(target) > 1
    if not is_ours and not statement.is_explicit_only:
        is_ours = lake.resolve(target) is not None
    if is_ours:
        raise unsupported_operation(statement.operation, quoted(target))


def _is_lakes_own(lake: Lake, text: str) -> bool:
    """Whether a text that is no statement was meant for Lakebed."""
    tokens = tokenize(text)
    names = {token.name for token in tokens if token.is_name}
    if _SPARK_CATALOG in names:
        return False
    follows = pairwise(tokens)
    is_explicit = any(
        one.is_name and one.name in lake.registry.catalogs and other.is_symbol(".")
        for one, other in follows
    )
    return is_explicit or lake.registry.current_catalog is not None


_RUNNING = running.runs(run_sql)
_WITHOUT_QUERY = (
    *analyzing.RUNS,
    *caching.RUNS,
    *copying.RUNS,
    *inspecting.RUNS,
    *_RUNNING,
    *tagging.RUNS,
    *unstored.RUNS,
    CreateDatabase,
    DropDatabase,
    DropTable,
    DropView,
    ShowDatabases,
    ShowTables,
    Truncate,
)
_RUNS: dict[type[Statement], Run[Any]] = {
    **definitions.RUNS,
    **copying.RUNS,
    **creating.RUNS,
    **changes.RUNS,
    **altering.RUNS,
    **analyzing.RUNS,
    **caching.RUNS,
    **inspecting.RUNS,
    **row_changes.RUNS,
    **_RUNNING,
    **tagging.RUNS,
    **unstored.RUNS,
    Call: call,
    CreateTemporaryView: _create_temporary_view,
    Unsupported: _refuse,
}
