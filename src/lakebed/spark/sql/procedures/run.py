"""How is a CALL run?"""

from difflib import get_close_matches

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from lakebed.spark.conditions import analysis_error, spark_errors
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.registry import Registry
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.literals import constants
from lakebed.spark.sql.procedures.binding import bound
from lakebed.spark.sql.procedures.procedure import ProcedureCall
from lakebed.spark.sql.procedures.registry import PROCEDURES
from lakebed.spark.sql.statements import Call, Name

_DATABASE = "sys"


def call(lake: Lake, statement: Call, given: Arguments) -> DataFrame | None:
    """The answer of a procedure; None when it is Spark's.

    Raises:
        AnalysisException: There is no such procedure, or its arguments cannot be.
    """
    found = _resolved(lake.registry, statement.name)
    if found is None:
        return None
    catalog, name = found
    procedure = PROCEDURES.get(name[-1].lower()) if _is_of_sys(name) else None
    if procedure is None:
        raise _not_found(catalog, name)
    routine = quoted((catalog, _DATABASE, procedure.name))
    values = constants(lake, [each.value for each in statement.arguments], given)
    names = [each.name for each in statement.arguments]
    with spark_errors(catalog):
        arguments = bound(procedure, list(zip(names, values, strict=True)), routine=routine)
        rows = procedure.run(ProcedureCall(lake=lake, catalog=catalog, values=arguments))
    return lake.frame(rows, procedure.columns)


def _resolved(registry: Registry, name: Name) -> tuple[str, Name] | None:
    """The attached catalog that a procedure is of, and its name there."""
    if name[0] in registry.catalogs and len(name) > 1:
        return name[0], name[1:]
    if registry.current_catalog is not None and _is_of_sys(name):
        return registry.current_catalog, name
    return None


def _is_of_sys(name: Name) -> bool:
    return len(name) == 2 and name[0].lower() == _DATABASE


def _not_found(catalog: str, name: Name) -> AnalysisException:
    routine = quoted((catalog, *name))
    near = get_close_matches(name[-1].lower(), PROCEDURES, n=3) or PROCEDURES
    proposal = ", ".join(quoted((catalog, _DATABASE, each)) for each in near)
    return analysis_error(
        "ROUTINE_NOT_FOUND",
        f"The routine {routine} cannot be found. Did you mean one of the following? [{proposal}].",
        {"routineName": routine},
    )
