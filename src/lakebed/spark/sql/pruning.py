"""What does a query need of a table that it reads: which columns, and which rows at most?

Columns. A column that a query needs is named in its text, or meant by a star. So the rule is: a
column is needed if its name stands anywhere in the text, whatever it refers to there, and all are
needed where a star, NATURAL, PIVOT or IDENTIFIER() may mean them without a name, or where an alias
gives them other names; the star of `EXISTS (SELECT * …)` means none. This cannot leave out too
much, however names are resolved.

Rows. Only conjuncts of a WHERE clause, or of the ON clause that joins this table, in the SELECT
that reads it, and of them what they say of columns of this table alone, and only where the join
cannot fill in nulls for it: `l LEFT JOIN r WHERE r.x IS NULL` says nothing about the rows of r.
Spark filters again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from lakebed.spark.sql.references import QueryText, Reference
from lakebed.spark.sql.tokens import Token, TokenKind, has_pipe

_MEANING_ALL = ("NATURAL", "PIVOT", "UNPIVOT", "IDENTIFIER", "TABLE")
_REGEX_SIGNS = frozenset("*+|()[]")


@dataclass(frozen=True, slots=True)
class Need:
    """What a query needs of a table.

    Attributes:
        columns: Names as the table has them, in its order; None for all.
        conjuncts: Conditions, all of which hold for every row that matters.
    """

    columns: tuple[str, ...] | None
    conjuncts: tuple[exp.Expression, ...]


ALL = Need(None, ())


def needed(query: QueryText, reference: Reference, columns: Sequence[str]) -> Need:
    """What the query needs of the table that a reference names.

    Args:
        query: The query.
        reference: One of its references.
        columns: The table's columns.
    """
    if reference.renames or _means_all(query.tokens):
        return ALL
    select = _select_of(reference.node)
    if select is None or reference.node is None:
        has_star = any(_is_star(query.tokens, index) for index in range(len(query.tokens)))
        return ALL if has_star else Need(_named(query.tokens, columns), ())
    name = reference.node.alias or reference.parts[-1]
    conjuncts = tuple(
        implied
        for conjunct in _conjuncts(select, reference.node)
        if (implied := _implied(conjunct, reference, columns)) is not None
    )
    if _has_star_for(select, name):
        return Need(None, conjuncts)
    return Need(_named(query.tokens, columns), conjuncts)


def _means_all(tokens: Sequence[Token]) -> bool:
    return has_pipe(tokens) or any(
        token.is_word(*_MEANING_ALL)
        or (token.kind is TokenKind.QUOTED and _REGEX_SIGNS & set(token.name))
        for token in tokens
    )


def _named(tokens: Sequence[Token], columns: Sequence[str]) -> tuple[str, ...]:
    words = {token.name.lower() for token in tokens if token.is_name}
    return tuple(name for name in columns if name.lower() in words)


def _is_star(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token is a star other than that of count(*)."""
    if not tokens[index].is_symbol("*"):
        return False
    return not (
        index >= 2 and tokens[index - 1].is_symbol("(") and tokens[index - 2].is_word("COUNT")
    )


def _select_of(node: exp.Expression | None) -> exp.Select | None:
    """The SELECT that has the table directly in its FROM clause."""
    above = node.parent if node is not None else None
    if isinstance(above, exp.From | exp.Join) and isinstance(above.parent, exp.Select):
        return above.parent
    return None


def _has_star_for(select: exp.Select, name: str) -> bool:
    for star in select.find_all(exp.Star):
        if star.find_ancestor(exp.Select) is not select or isinstance(star.parent, exp.Count):
            continue
        if star.parent is select and isinstance(select.parent, exp.Exists):
            # Whether there is a row, no column says.
            continue
        table = star.parent.table if isinstance(star.parent, exp.Column) else ""
        if not table or table.lower() == name.lower():
            return True
    return False


def _conjuncts(select: exp.Select, node: exp.Table) -> Iterable[exp.Expression]:
    """Conditions that every row of the table must meet to matter."""
    joins: list[exp.Join] = select.args.get("joins") or []
    if node.args.get("sample") or isinstance(select.args.get("sample"), exp.Expression):
        return
    place = next((index for index, join in enumerate(joins) if join.this is node), None)
    own = joins[place] if place is not None else None
    later = joins if place is None else joins[place + 1 :]
    is_filled_by_later = any(join.side in {"RIGHT", "FULL"} for join in later)
    if own is not None and own.side not in {"RIGHT", "FULL"} and own.args.get("on") is not None:
        yield from _split(own.args["on"])
    # The columns of a semi or anti join's right side cannot be seen in WHERE.
    is_filled_by_own = own is not None and (own.side in {"LEFT", "FULL"} or own.kind in _HIDING)
    where = select.args.get("where")
    if where is not None and not is_filled_by_later and not is_filled_by_own:
        yield from _split(where.this)


_HIDING = {"SEMI", "ANTI"}


def _split(condition: exp.Expression) -> Iterable[exp.Expression]:
    if isinstance(condition, exp.Paren):
        yield from _split(condition.this)
    elif isinstance(condition, exp.And):
        yield from _split(condition.this)
        yield from _split(condition.expression)
    else:
        yield condition


def _implied(
    condition: exp.Expression, reference: Reference, columns: Sequence[str]
) -> exp.Expression | None:
    """What a condition says of one table's rows alone; None where it says nothing.

    `t.a = 1 AND u.b = 2 OR t.a = 3` implies `t.a = 1 OR t.a = 3`.
    """
    if _is_about(condition, reference, columns):
        return condition
    match condition:
        case exp.Paren():
            return _implied(condition.this, reference, columns)
        case exp.And() | exp.Or():
            left = _implied(condition.this, reference, columns)
            right = _implied(condition.expression, reference, columns)
            if left is not None and right is not None:
                return type(condition)(this=left.copy(), expression=right.copy())
            if isinstance(condition, exp.Or):
                return None
            return right if left is None else left
        case _:
            return None


def _is_about(conjunct: exp.Expression, reference: Reference, columns: Sequence[str]) -> bool:
    """Whether every column of a conjunct is the table's.

    A bare name that the table has is the table's or ambiguous, which Spark refuses; or it is the
    column that USING made of both sides, which equals that of the side that is not filled in.
    """
    if conjunct.find(exp.Query) is not None:
        return False
    known = {column.lower() for column in columns}
    found = list(conjunct.find_all(exp.Column))
    return bool(found) and all(
        column.name.lower() in known and _may_qualify(column, reference) for column in found
    )


def _may_qualify(column: exp.Column, reference: Reference) -> bool:
    """Whether what stands before a column's name is nothing, or the table's name or alias.

    In `a.b.c` the last may be a part of the column `b` of a table `a`.
    """
    qualifiers = tuple(part.name.lower() for part in column.parts[:-1])
    alias = reference.node.alias if reference.node is not None else ""
    name = (alias,) if alias else reference.parts
    return tuple(part.lower() for part in name)[-len(qualifiers) :] == qualifiers or not qualifiers
