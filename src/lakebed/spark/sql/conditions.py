"""Which conditions of a query can a scan apply, in words that mean the same to Spark and Lakebed?

A condition is put into words only from comparisons of columns with literals, joined by AND, OR and
NOT; sums of literals, and dates shifted by intervals, count as literals. Anything else is left to
Spark alone, which filters again in any case; so leaving out is always right, and a condition is
never reworded by a general writer of SQL.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, tzinfo

from sqlglot import exp

from lakebed.errors import LakebedError
from lakebed.format.predicate.expressions import Cast, Expression, conjunction, walk
from lakebed.format.predicate.parser import parse_predicate
from lakebed.format.types import AtomicType, RowType, TypeRoot
from lakebed.spark.names import quoted
from lakebed.spark.sql.shifted_dates import shifted_date

_COMPARISONS: dict[type[exp.Expression], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.NullSafeEQ: "<=>",
    exp.Like: "LIKE",
}
_SUMS: dict[type[exp.Expression], str] = {exp.Add: "+", exp.Sub: "-"}
_JOINED: dict[type[exp.Expression], str] = {exp.And: "AND", exp.Or: "OR"}
# What of a condition's node is put into words.
_HEEDED = frozenset({"this", "expression", "expressions", "low", "high", "negate"})
_TYPED_LITERALS = {
    exp.DType.DATE: "DATE",
    exp.DType.TIMESTAMPNTZ: "TIMESTAMP_NTZ",
    exp.DType.TIMESTAMPTZ: "TIMESTAMP",
}

Arguments = Mapping[str, object]


class _NotPlainError(Exception):
    """A part of a condition is left to Spark."""


def scan_predicate(
    conjuncts: Sequence[exp.Expression],
    row_type: RowType,
    *,
    time_zone: tzinfo,
    arguments: Arguments,
) -> Expression | None:
    """The conjuncts that a scan can apply, as one predicate; None when there is none.

    Args:
        conjuncts: Conditions on columns of one table, all of which hold for rows that matter.
        row_type: The table's columns.
        time_zone: The session's zone.
        arguments: Values of named parameters.
    """
    names = {field.name.lower(): field.name for field in row_type.fields}
    if len(names) < len(row_type.fields):
        # Names that differ in case only: which is meant, Spark knows.
        return None
    accepted = []
    for conjunct in conjuncts:
        try:
            text = _Words(names, arguments).of(conjunct)
            condition = parse_predicate(text, row_type, time_zone=time_zone)
        except (_NotPlainError, LakebedError):
            continue
        if not any(_may_fail(node) for node in walk(condition)):
            accepted.append(condition)
    return conjunction(accepted)


def _may_fail(node: Expression) -> bool:
    """Whether a part may have no value for some row: Spark might never have come to that row."""
    return (
        isinstance(node, Cast)
        and isinstance(node.operand.type, AtomicType)
        and node.operand.type.root in {TypeRoot.CHAR, TypeRoot.VARCHAR}
    )


class _Words:
    def __init__(self, names: Mapping[str, str], arguments: Arguments) -> None:
        self._names = names
        self._arguments = arguments

    def of(self, node: exp.Expression) -> str:
        """A condition in words."""
        if any(value for key, value in node.args.items() if key not in _HEEDED):
            # Such as BETWEEN SYMMETRIC, or what a later sqlglot tells of a node.
            raise _NotPlainError
        words = self._plain(node)
        return f"NOT ({words})" if node.args.get("negate") else words

    def _plain(self, node: exp.Expression) -> str:
        sign = _COMPARISONS.get(type(node))
        if sign is not None:
            return f"{self._operand(node.this)} {sign} {self._operand(node.expression)}"
        word = _JOINED.get(type(node))
        if word is not None:
            return f"({self.of(node.this)}) {word} ({self.of(node.expression)})"
        match node:
            case exp.Paren():
                return f"({self.of(node.this)})"
            case exp.Not():
                return f"NOT ({self.of(node.this)})"
            case exp.Is() if isinstance(node.expression, exp.Null):
                return f"{self._operand(node.this)} IS NULL"
            case exp.In() if node.expressions and not node.args.get("query"):
                items = ", ".join(self._operand(item) for item in node.expressions)
                return f"{self._operand(node.this)} IN ({items})"
            case exp.Between():
                low, high = self._operand(node.args["low"]), self._operand(node.args["high"])
                return f"{self._operand(node.this)} BETWEEN {low} AND {high}"
            case _:
                raise _NotPlainError

    def _operand(self, node: exp.Expression) -> str:
        match node:
            case exp.Column() if node.name.lower() in self._names:
                return quoted((self._names[node.name.lower()],))
            case exp.Literal():
                return _string(node.this) if node.is_string else str(node.this)
            case exp.Neg() if isinstance(node.this, exp.Literal) and not node.this.is_string:
                return f"-{node.this.this}"
            case exp.Boolean():
                return "TRUE" if node.this else "FALSE"
            case exp.Cast() if not isinstance(node, exp.TryCast):
                word = _TYPED_LITERALS.get(node.to.this)
                if word is not None and isinstance(node.this, exp.Literal) and node.this.is_string:
                    return f"{word} {_string(node.this.this)}"
            case exp.Add() | exp.Sub():
                return self._sum(node)
            case exp.Placeholder() if isinstance(node.this, str) and node.this in self._arguments:
                return _argument(self._arguments[node.this])
            case _:
                pass
        raise _NotPlainError

    def _sum(self, node: exp.Add | exp.Sub) -> str:
        left, right = node.this, node.expression
        sign = _SUMS[type(node)]
        if isinstance(right, exp.Interval) and _is_date(left):
            found = shifted_date(left.this.this, right, sign=1 if sign == "+" else -1)
            if found is not None:
                return f"DATE '{found.isoformat()}'"
        elif _is_number(left) and _is_number(right):
            return f"({left.this} {sign} {right.this})"
        raise _NotPlainError


def _is_date(node: exp.Expression) -> bool:
    return (
        isinstance(node, exp.Cast)
        and not isinstance(node, exp.TryCast)
        and node.to.this is exp.DType.DATE
        and isinstance(node.this, exp.Literal)
        and node.this.is_string
    )


def _is_number(node: exp.Expression) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string


def _string(value: str) -> str:
    if "\\" in value or "'" in value:
        # What a backslash means depends on the session's settings.
        raise _NotPlainError
    return f"'{value}'"


def _argument(value: object) -> str:
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case str():
            return _string(value)
        case date() if not isinstance(value, datetime):
            return f"DATE '{value.isoformat()}'"
        case _:
            raise _NotPlainError
