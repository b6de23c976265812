"""Which partitions does a procedure work on? Named by values or by a condition, as it takes them.

The text of a procedure names one partition after the other: `dt=2026-01-01,hh=8;dt=2026-01-02`.
"""

from collections.abc import Mapping, Sequence

from lakebed.errors import InvalidArgumentError
from lakebed.format.predicate.expressions import Expression, Literal, columns_of
from lakebed.format.predicate.parser import parse_expression, parse_predicate
from lakebed.format.types import RowType
from lakebed.table.metadata.partitions import EveryPartition, PartitionFilter, PartitionsMatching
from lakebed.table.parts import TableParts
from lakebed.table.writing.partition_spec import converted_spec, partitions_of_specs

__all__ = ["Partitions", "chosen_partitions", "named_partitions"]

Partitions = str | Mapping[str, object] | Sequence[Mapping[str, object]] | None
"""Values of partition columns, of one partition or several, or their text; None for all."""

_QUOTES = ("'", '"')


def chosen_partitions(
    parts: TableParts, partitions: Partitions, where: str | Expression | None
) -> PartitionFilter:
    """The partitions that the arguments of a procedure name; without any, all.

    Args:
        parts: The table.
        partitions: Their values; a blank text is as none.
        where: A Spark SQL condition on partition columns; a blank text is as none.

    Raises:
        InvalidArgumentError: Both are given, a name is no partition column, or a text is none.
    """
    has_partitions, has_where = _is_given(partitions), _is_given(where)
    if has_partitions and has_where:
        raise InvalidArgumentError("partitions and where cannot be used together; give one of them")
    if where is not None and has_where:
        return _matching(parts, where)
    if not has_partitions:
        return EveryPartition()
    specs = named_partitions(parts, partitions)
    return partitions_of_specs([converted_spec(spec, parts.schema) for spec in specs], parts.schema)


def _is_given(argument: object) -> bool:
    return bool(argument.strip()) if isinstance(argument, str) else argument is not None


def _matching(parts: TableParts, where: str | Expression) -> PartitionFilter:
    schema = parts.schema
    predicate = (
        parse_predicate(where, schema.row_type, time_zone=parts.session.time_zone)
        if isinstance(where, str)
        else where
    )
    others = sorted(columns_of(predicate) - set(schema.partition_keys))
    if others or not schema.partition_keys:
        keys = ", ".join(schema.partition_keys) or "none"
        named = f"names {', '.join(others)}" if others else "chooses partitions"
        raise InvalidArgumentError(
            f"where {named}; it may name partition columns only, which are: {keys}"
        )
    return PartitionsMatching(predicate, schema.partition_type.fields)


def named_partitions(parts: TableParts, partitions: Partitions) -> Sequence[Mapping[str, object]]:
    """The values of partition columns that name partitions; texts of a procedure are parsed.

    Raises:
        InvalidArgumentError: No partition is named, or a text is none.
    """
    if partitions is None or not _is_given(partitions):
        raise InvalidArgumentError("partitions names no partition; write dt=2026-01-01,hh=8")
    if isinstance(partitions, str):
        texts = partitions.rstrip("; ").split(";")
        return [_parsed(text, parts) for text in texts]
    return [partitions] if isinstance(partitions, Mapping) else partitions


def _parsed(text: str, parts: TableParts) -> dict[str, object]:
    spec: dict[str, object] = {}
    for pair in text.split(","):
        name, equals, value = (each.strip() for each in pair.partition("="))
        if not equals:
            raise InvalidArgumentError(
                f"partitions: {pair!r} is no name=value; a partition is dt=2026-01-01,hh=8 and the "
                "next one stands behind a semicolon"
            )
        if value.startswith(_QUOTES):
            value = _unquoted(value, parts)
        spec[name] = None if value == parts.options.partition_default_name else value
    return spec


def _unquoted(value: str, parts: TableParts) -> str:
    literal = parse_expression(value, RowType(fields=()), time_zone=parts.session.time_zone)
    if isinstance(literal, Literal) and isinstance(literal.value, str):
        return literal.value
    raise InvalidArgumentError(f"partitions: {value} is no quoted text")
