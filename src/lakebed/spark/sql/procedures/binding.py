"""Which argument of a call is for which parameter, and is it one that the parameter takes?"""

from collections.abc import Sequence
from difflib import get_close_matches

from pyspark.errors import AnalysisException

from lakebed.options.values import format_value
from lakebed.spark.conditions import analysis_error
from lakebed.spark.names import quoted
from lakebed.spark.sql.procedures.procedure import Parameter, Procedure, Value

_SQL_TYPES = {str: "STRING", int: "BIGINT", bool: "BOOLEAN"}


def bound(
    procedure: Procedure, arguments: Sequence[tuple[str | None, object]], *, routine: str
) -> dict[str, Value]:
    """A value for each parameter of a procedure; None where none was given.

    Args:
        procedure: The procedure.
        arguments: Values as they stand in the call, each with its name if it has one.
        routine: The procedure's full name, for messages.

    Raises:
        AnalysisException: An argument is unknown, missing, doubled, or of a type that cannot be.
    """
    if len(arguments) > len(procedure.parameters):
        raise analysis_error(
            "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
            f"The {routine} requires at most {len(procedure.parameters)} parameters but the actual"
            f" number is {len(arguments)}. They are: {_names(procedure)}.",
            {"functionName": routine, "actualNum": str(len(arguments))},
        )
    given: dict[str, Value] = {}
    named = None
    for place, (name, value) in enumerate(arguments):
        if name is not None:
            named = name
            parameter = _parameter(procedure, name, routine=routine)
        elif named is None:
            parameter = procedure.parameters[place]
        else:
            raise _positional_after(named, routine)
        if parameter.name in given:
            raise _doubled(parameter, routine)
        given[parameter.name] = _value(parameter, value, routine=routine)
    for place, parameter in enumerate(procedure.parameters):
        if parameter.is_required and given.get(parameter.name) in (None, ""):
            raise _missing(parameter, place, routine=routine)
    return {each.name: given.get(each.name) for each in procedure.parameters}


def _parameter(procedure: Procedure, name: str, *, routine: str) -> Parameter:
    own = {each.name.lower(): each for each in procedure.parameters}
    if name.lower() in own:
        return own[name.lower()]
    near = [own[found].name for found in get_close_matches(name.lower(), own, n=3)]
    proposal = ", ".join(near) or _names(procedure)
    raise analysis_error(
        "UNRECOGNIZED_PARAMETER_NAME",
        f"Cannot invoke routine {routine} because the routine call included a named argument"
        f" reference for the argument named {quoted((name,))}, but this routine does not include"
        " any signature containing an argument with this name. Did you mean one of the following?"
        f" [{proposal}].",
        {"routineName": routine, "argumentName": quoted((name,)), "proposal": proposal},
    )


def _value(parameter: Parameter, value: object, *, routine: str) -> Value:
    if value is None:
        return None
    if parameter.kind is str and isinstance(value, str | int | float | bool):
        return format_value(value)
    if type(value) is parameter.kind and isinstance(value, int | bool):
        return value
    raise analysis_error(
        "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE",
        f"Cannot invoke routine {routine}: the parameter {quoted((parameter.name,))} requires the"
        f" {_SQL_TYPES[parameter.kind]} type, however {value!r} is something else.",
        {"paramIndex": parameter.name, "requiredType": _SQL_TYPES[parameter.kind]},
    )


def _missing(parameter: Parameter, place: int, *, routine: str) -> AnalysisException:
    return analysis_error(
        "REQUIRED_PARAMETER_NOT_FOUND",
        f"Cannot invoke routine {routine} because the parameter named {quoted((parameter.name,))}"
        " is required, but the routine call did not supply a value. Please update the routine call"
        f" to supply an argument value (either positionally at index {place} or by name) and retry"
        " the query again.",
        {"routineName": routine, "parameterName": quoted((parameter.name,)), "index": str(place)},
    )


def _positional_after(named: str, routine: str) -> AnalysisException:
    return analysis_error(
        "UNEXPECTED_POSITIONAL_ARGUMENT",
        f"Cannot invoke routine {routine} because it contains positional argument(s) following the"
        f" named argument assigned to {quoted((named,))}; please rearrange them so the positional"
        " arguments come first and then retry the query again.",
        {"routineName": routine, "parameterName": quoted((named,))},
    )


def _doubled(parameter: Parameter, routine: str) -> AnalysisException:
    return analysis_error(
        "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT",
        f"Call to routine {routine} is invalid because it includes multiple argument assignments to"
        f" the same parameter name {quoted((parameter.name,))}.",
        {"routineName": routine, "parameterName": quoted((parameter.name,))},
    )


def _names(procedure: Procedure) -> str:
    return ", ".join(each.name for each in procedure.parameters)
