"""What do the functions read that stand where a table may stand: `paimon_incremental_query` etc.?

Each is a table with options of a scan. The table is named by a text, as in Paimon, or by its name;
the other arguments are constants, which Spark computes where they are more than literals.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from lakebed.spark.conditions import analysis_error, spark_errors, table_not_found
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted, split_name
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.literals import constants
from lakebed.spark.sql.tokens import Token, tokenize
from lakebed.table.reading.time_travel import parse_epoch_ms

_MILLIS = re.compile(r"\s*[+-]?\d+\s*")


def _between(values: Sequence[str], zone: tzinfo) -> dict[str, str]:  # noqa: ARG001 - as the others
    return {"incremental-between": ",".join(values)}


def _between_timestamps(values: Sequence[str], zone: tzinfo) -> dict[str, str]:
    # Texts tell the time in the session's zone, which a table does not know.
    times = [each if _MILLIS.fullmatch(each) else parse_epoch_ms(each, zone) for each in values]
    return {"incremental-between-timestamp": ",".join(str(each).strip() for each in times)}


def _to_auto_tag(values: Sequence[str], zone: tzinfo) -> dict[str, str]:  # noqa: ARG001 - as above
    return {"incremental-to-auto-tag": values[0]}


@dataclass(frozen=True, slots=True)
class _Function:
    """A function.

    Attributes:
        parameters: What it takes behind the table.
        options: The options of a scan that the arguments come to.
    """

    parameters: tuple[str, ...]
    options: Callable[[Sequence[str], tzinfo], dict[str, str]]


_FUNCTIONS: Mapping[str, _Function] = {
    "paimon_incremental_query": _Function(("start", "end"), _between),
    "paimon_incremental_between_timestamp": _Function(("start", "end"), _between_timestamps),
    "paimon_incremental_to_auto_tag": _Function(("tag",), _to_auto_tag),
}


def is_function(name: str) -> bool:
    """Whether a call of that name in a place of a table is one of these."""
    return name.lower() in _FUNCTIONS


def called_table(
    lake: Lake, function: str, arguments: Sequence[str], *, given: Arguments
) -> tuple[TableName, dict[str, str]]:
    """The table that a call reads, and the options of the scan.

    Args:
        lake: The session.
        function: Name of the function.
        arguments: The arguments, as written.
        given: What their parameters and fields stand for.

    Raises:
        AnalysisException: Arguments of another number or type; no such table.
    """
    known = _FUNCTIONS[function.lower()]
    _check(function, arguments, given)
    by_name = _name_in(arguments[0])
    texts = arguments if by_name is None else arguments[1:]
    values = [_text(value, function) for value in constants(lake, texts, given)]
    with spark_errors():
        parts = split_name(values.pop(0)) if by_name is None else by_name
        options = known.options(values, lake.time_zone)
    # A temporary view has no history, so one of that name does not count.
    name = lake.registry.resolve_table(parts, is_view=lambda _: False)
    if name is None:
        raise table_not_found(
            quoted(parts),
            hint=f"{function} reads tables of attached catalogs; name one catalog.database.table",
        )
    return name, options


def _check(function: str, arguments: Sequence[str], given: Arguments) -> None:
    known = _FUNCTIONS[function.lower()]
    expected = 1 + len(known.parameters)
    if len(arguments) != expected:
        raise analysis_error(
            "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
            f"The {quoted((function,))} requires {expected} parameters (table,"
            f" {', '.join(known.parameters)}) but the actual number is {len(arguments)}.",
            {
                "functionName": quoted((function,)),
                "expectedNum": str(expected),
                "actualNum": str(len(arguments)),
            },
        )
    if any(map(_is_named, arguments)):
        raise analysis_error(
            "NAMED_PARAMETERS_NOT_SUPPORTED",
            f"Named parameters are not supported for function {quoted((function,))}; please retry"
            " the query with positional arguments to the function call instead.",
            {"functionName": quoted((function,))},
        )
    has_places = isinstance(given.args, list) and any(
        token.is_symbol("?") for each in arguments for token in tokenize(each)
    )
    if has_places:
        raise analysis_error(
            "LAKEBED_UNSUPPORTED",
            f"an argument of {function} cannot be a parameter ?; give it a name, as in :start",
        )


def _is_named(argument: str) -> bool:
    tokens = tokenize(argument)
    return len(tokens) > 2 and tokens[1].is_symbol("=") and tokens[2].is_symbol(">")


def _name_in(argument: str) -> tuple[str, ...] | None:
    """The parts of a table's name, where the argument is one and no text."""
    tokens = tokenize(argument)
    names, dots = tokens[::2], tokens[1::2]
    is_name = len(tokens) % 2 == 1 and all(map(_is_part, names))
    return tuple(each.name for each in names) if is_name and _all_dots(dots) else None


def _is_part(token: Token) -> bool:
    return token.is_name and not token.is_word("NULL", "TRUE", "FALSE")


def _all_dots(tokens: Sequence[Token]) -> bool:
    return all(each.is_symbol(".") for each in tokens)


def _text(value: object, function: str) -> str:
    """An argument as the options of a scan have it."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise analysis_error(
        "LAKEBED_INVALID_ARGUMENT",
        f"{function} takes texts and whole numbers, not {value!r}; of a time, write"
        " '2026-01-31 12:00:00' or its epoch milliseconds",
    )
