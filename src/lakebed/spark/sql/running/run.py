"""How are statements run that run others?

A script is Spark's: it runs in the JVM, where no table of an attached catalog is known.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from lakebed.spark.conditions import analysis_error
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.literals import constants
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.running.statements import ExecuteImmediate, Script, Value
from lakebed.spark.sql.statements import Name, Statement

RunText = Callable[[Lake, str, Arguments], DataFrame]

_ROW = "lakebed_row"
_NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND", "REQUIRES_SINGLE_PART_NAMESPACE")


def runs(run_text: RunText) -> dict[type[Statement], Run[Any]]:
    """What runs them.

    Args:
        run_text: Runs a statement that is within another.
    """

    def execute_immediate(
        lake: Lake, statement: ExecuteImmediate, given: Arguments
    ) -> DataFrame | None:
        """EXECUTE IMMEDIATE; None where what it runs is for Spark."""
        (text,) = constants(lake, [statement.text], given)
        if not isinstance(text, str) or not lake.registry.is_concerned(text):
            return None
        answer = run_text(lake, text, _arguments(lake, statement.values, given))
        return _assigned(lake, statement.into, answer) if statement.into else answer

    return {ExecuteImmediate: execute_immediate, Script: _script}


def _arguments(lake: Lake, values: Sequence[Value], given: Arguments) -> Arguments:
    if not values:
        return Arguments()
    names = [each.name for each in values if each.name is not None]
    if names and len(names) < len(values):
        unnamed = [each.text for each in values if each.name is None]
        raise analysis_error(
            "ALL_PARAMETERS_MUST_BE_NAMED",
            "Using name parameterized queries requires all parameters to be named. Parameters"
            f" missing names: {', '.join(unnamed)}.",
            {"exprs": ", ".join(unnamed)},
        )
    found = constants(lake, [each.text for each in values], given)
    return Arguments(args=dict(zip(names, found, strict=True)) if names else found)


def _assigned(lake: Lake, variables: Sequence[Name], row: DataFrame) -> DataFrame:
    """Has variables take a row; null where there is none, and several are Spark's error."""
    names = ", ".join(map(quoted, variables))
    return lake.sql(f"SET VARIABLE ({names}) = (SELECT * FROM {{{_ROW}}})", **{_ROW: row})


def _script(lake: Lake, statement: Script, given: Arguments) -> DataFrame:
    """BEGIN ... END, which may be about Spark's tables alone."""
    try:
        return lake.sql(statement.text, given.args, **given.fields)
    except AnalysisException as error:
        if error.getCondition() not in _NOT_FOUND:
            raise
        raise analysis_error(
            "UNSUPPORTED_FEATURE.SQL_SCRIPTING",
            f"The feature is not supported: a script that names tables of the attached catalogs"
            f" {', '.join(lake.registry.catalogs)}, which Spark does not know within BEGIN ... END."
            " Run its statements one by one by spark.sql, with the flow in Python. Spark said:"
            f" {error.getMessage() or error}",
        ) from error
