"""Which tables does a query read, and where does its text name them?

sqlglot says what is a table and what a column; it never writes SQL here. Its tree is of the text
with some clauses blanked out that it does not know, so that places in the tree are places in the
text. Where sqlglot cannot read a text, the words before a name must do.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from lakebed.spark.sql.clauses import properties
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.tokens import Token, TokenKind, closing_index, tokenize

_VERSION = ("VERSION", "SYSTEM_VERSION")
_TIME = ("TIMESTAMP", "SYSTEM_TIME")
_BEFORE_TABLE = ("FROM", "JOIN", "TABLE")
# FROM stands between the arguments of these.
_FROM_FUNCTIONS = ("EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "OVERLAY")
_NO_ALIAS = frozenset(
    {"ANTI", "CLUSTER", "CROSS", "DISTRIBUTE", "EXCEPT", "FULL", "GROUP", "HAVING", "INNER"}
    | {"INSERT", "INTERSECT", "JOIN", "LATERAL", "LEFT", "LIMIT", "MINUS", "NATURAL", "OFFSET"}
    | {"ON", "ORDER", "PIVOT", "QUALIFY", "RIGHT", "SELECT", "SEMI", "SET", "SORT", "TABLESAMPLE"}
    | {"UNION", "UNPIVOT", "USING", "WHEN", "WHERE", "WINDOW"}
)
_FIELD = re.compile(r"\{\{|\}\}|\{[^{}]*\}")
_QUERY = re.compile(
    r"[\s(]*(?:SELECT|WITH|FROM|TABLE|VALUES|CREATE|INSERT|MERGE|CACHE)\b", re.IGNORECASE
)
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(?:(?:EXTENDED|FORMATTED|COST|CODEGEN)\s+)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A name in a place where a table is read.

    Attributes:
        parts: The parts of the name.
        start: Where the name starts in the text.
        end: The place behind the name.
        clauses_end: The place behind what belongs to the name: time travel and options.
        version: Operand of VERSION AS OF, as written.
        timestamp: Operand of TIMESTAMP AS OF, as written.
        options: What stands behind WITH.
        alias_at: Where an alias may be put; None where there is one, or none may be.
        node: Its node in the tree, if the text could be read.
    """

    parts: tuple[str, ...]
    start: int
    end: int
    clauses_end: int
    version: str | None = None
    timestamp: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    alias_at: int | None = None
    node: exp.Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryText:
    """A query and what it names.

    Attributes:
        text: The query.
        tokens: Its tokens.
        tree: Its tree; None when sqlglot could not read it.
        references: The tables that it reads.
    """

    text: str
    tokens: list[Token]
    tree: exp.Expression | None
    references: tuple[Reference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Clauses:
    """What stands behind a name and belongs to it."""

    end: int
    version: str | None = None
    timestamp: str | None = None
    options: dict[str, str] = field(default_factory=dict)


def analyse(text: str, *, catalogs: Collection[str], has_fields: bool = False) -> QueryText:
    """The tables that a query reads.

    Args:
        text: The query.
        catalogs: Names that make a name of three parts a table.
        has_fields: Whether the text holds `{fields}` that are yet to be formatted.
    """
    tokens = tokenize(text)
    clauses = {
        token.end: found
        for index, token in enumerate(tokens)
        if token.is_name and (found := _clauses_behind(text, tokens, index + 1)) is not None
    }
    tree = _parse(_masked(text, clauses, has_fields=has_fields))
    by_start = {} if tree is None else _in_tree(tree)
    for index, parts in _in_tokens(tokens, catalogs, is_parsed=tree is not None):
        start, end = tokens[index].start, tokens[index + 2 * len(parts) - 2].end
        by_start.setdefault(start, Reference(parts=parts, start=start, end=end, clauses_end=end))
    ends = {token.end: index for index, token in enumerate(tokens)}
    references = [
        _completed(reference, clauses.get(reference.end), tokens, behind=ends[reference.end] + 1)
        for _, reference in sorted(by_start.items())
    ]
    return QueryText(text=text, tokens=tokens, tree=tree, references=tuple(references))


def _clauses_behind(text: str, tokens: list[Token], index: int) -> _Clauses | None:
    """Time travel or options from a token on."""
    start = index
    if index < len(tokens) and tokens[index].is_word("FOR"):
        index += 1
    words = tokens[index : index + 3]
    if len(words) == 3 and words[1].is_word("AS") and words[2].is_word("OF"):
        last = _operand_end(tokens, index + 3)
        if last is None or tokens[start - 1].is_word("SELECT", "DISTINCT", "ALL"):
            return None
        operand = text[tokens[index + 3].start : tokens[last].end]
        if words[0].is_word(*_VERSION):
            return _Clauses(end=tokens[last].end, version=operand)
        if words[0].is_word(*_TIME):
            return _Clauses(end=tokens[last].end, timestamp=operand)
        return None
    if (
        index + 1 < len(tokens)
        and tokens[index].is_word("WITH", "OPTIONS")
        and tokens[index + 1].is_symbol("(")
    ):
        last = closing_index(tokens, index + 1)
        inner = text[tokens[index + 1].start : tokens[last].end]
        return _Clauses(end=tokens[last].end, options=properties(Cursor(inner)))
    return None


def _operand_end(tokens: list[Token], index: int) -> int | None:
    """Index of the last token of a literal or a call, and of what is added to it."""
    if index >= len(tokens):
        return None
    last = index
    if tokens[index].is_symbol("("):
        last = closing_index(tokens, index)
    elif tokens[index].kind is TokenKind.WORD and index + 1 < len(tokens):
        following = tokens[index + 1]
        if following.is_symbol("("):
            last = closing_index(tokens, index + 1)
        elif following.kind is TokenKind.STRING:
            last = index + 1
        if tokens[index].is_word("INTERVAL") and last + 1 < len(tokens):
            last += 1
    if last + 1 < len(tokens) and tokens[last + 1].is_symbol("+", "-"):
        return _operand_end(tokens, last + 2)
    return last


def _masked(text: str, clauses: dict[int, _Clauses], *, has_fields: bool) -> str:
    """The text in the same places, without what sqlglot does not know."""
    signs = list(text)
    for start, found in clauses.items():
        signs[start : found.end] = " " * (found.end - start)
    masked = "".join(signs)
    if has_fields:
        masked = _FIELD.sub(_field_name, masked)
    explain = _EXPLAIN.match(masked)
    if explain is not None:
        masked = " " * explain.end() + masked[explain.end() :]
    return masked


def _field_name(found: re.Match[str]) -> str:
    if len(found[0]) == 2:
        return "  "
    return "_" * len(found[0])


def _parse(text: str) -> exp.Expression | None:
    if not _QUERY.match(text):
        # sqlglot would log a warning for what it does not know.
        return None
    try:
        tree: object = sqlglot.parse_one(text, dialect="spark")
    except (SqlglotError, RecursionError):
        return None
    if isinstance(tree, exp.Command) or not isinstance(tree, exp.Expression):
        return None
    return tree


def _in_tree(tree: exp.Expression) -> dict[int, Reference]:
    found = {}
    for node in tree.find_all(exp.Table):
        identifiers = node.parts
        if not _is_read(node) or not all(
            isinstance(part, exp.Identifier) and "start" in part.meta for part in identifiers
        ):
            continue
        parts = tuple(part.name for part in identifiers)
        if len(parts) == 1 and _is_common_table(node, parts[0]):
            continue
        start, end = identifiers[0].meta["start"], identifiers[-1].meta["end"] + 1
        found[start] = Reference(parts=parts, start=start, end=end, clauses_end=end, node=node)
    return found


def _is_read(node: exp.Table) -> bool:
    """Whether the name is of a source of rows, not of what a statement makes or changes."""
    if isinstance(node.parent, exp.Merge):
        return node.arg_key == "using"
    return isinstance(node.parent, exp.From | exp.Join | exp.Subquery)


def _is_common_table(node: exp.Expression, name: str) -> bool:
    """Whether a WITH clause round the node defines the name."""
    above = node.parent
    while above is not None:
        clause = above.args.get("with_")
        if clause is not None and any(
            table.alias.lower() == name.lower() for table in clause.expressions
        ):
            return True
        above = above.parent
    return False


def _in_tokens(
    tokens: list[Token], catalogs: Collection[str], *, is_parsed: bool
) -> list[tuple[int, tuple[str, ...]]]:
    """Names that the words before them make tables: index of the first token, and parts."""
    found = []
    enclosing: list[str] = []
    for index, token in enumerate(tokens):
        if token.is_symbol("("):
            enclosing.append(tokens[index - 1].text.upper() if index else "")
        elif token.is_symbol(")") and enclosing:
            enclosing.pop()
        if not token.is_name or index == 0:
            continue
        parts = _name_at(tokens, index)
        is_explicit = len(parts) == 3 and parts[0] in catalogs
        before = tokens[index - 1]
        if before.is_word("FROM") and (
            (enclosing and enclosing[-1] in _FROM_FUNCTIONS)
            or tokens[index - 2].is_word("DISTINCT")
        ):
            continue
        follows_word = before.is_word(*_BEFORE_TABLE) or (
            before.is_symbol("(") and bool(enclosing) and enclosing[-1] == "TABLE"
        )
        if (follows_word and (is_explicit or not is_parsed)) or (
            is_explicit and not is_parsed and before.is_symbol(",", "(")
        ):
            found.append((index, parts))
    return found


def _name_at(tokens: list[Token], index: int) -> tuple[str, ...]:
    parts = [tokens[index].name]
    while (
        index + 2 < len(tokens) and tokens[index + 1].is_symbol(".") and tokens[index + 2].is_name
    ):
        index += 2
        parts.append(tokens[index].name)
    return tuple(parts)


def _completed(
    reference: Reference, clauses: _Clauses | None, tokens: list[Token], *, behind: int
) -> Reference:
    end = reference.end
    if clauses is not None:
        end = clauses.end
        while behind < len(tokens) and tokens[behind].start < end:
            behind += 1
    alias_at = end
    if behind < len(tokens) and tokens[behind].is_word("TABLESAMPLE"):
        opening = behind + (2 if tokens[behind + 1 : behind + 2][0].is_word("SYSTEM") else 1)
        closing = closing_index(tokens, opening)
        alias_at, behind = tokens[closing].end, closing + 1
    first = next((i for i, token in enumerate(tokens) if token.start == reference.start), 0)
    has_alias = behind < len(tokens) and (
        tokens[behind].is_word("AS")
        or (tokens[behind].is_name and tokens[behind].text.upper() not in _NO_ALIAS)
    )
    is_bare = first > 0 and tokens[first - 1].is_word("TABLE")
    is_argument = first > 1 and tokens[first - 2].is_word("TABLE")
    return Reference(
        parts=reference.parts,
        start=reference.start,
        end=reference.end,
        clauses_end=end,
        version=clauses.version if clauses else None,
        timestamp=clauses.timestamp if clauses else None,
        options=clauses.options if clauses else {},
        alias_at=None if has_alias or is_bare or is_argument else alias_at,
        node=reference.node,
    )
