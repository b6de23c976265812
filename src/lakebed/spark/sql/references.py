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
from lakebed.spark.sql.table_functions import is_function
from lakebed.spark.sql.table_words import begins_query, named_tables
from lakebed.spark.sql.tokens import Token, TokenKind, closing_index, has_pipe, tokenize
from lakebed.spark.sql.with_clauses import common_tables

_VERSION = ("VERSION", "SYSTEM_VERSION")
_TIME = ("TIMESTAMP", "SYSTEM_TIME")
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
        arguments: What the name is called with, where it is a function's; else None.
        alias_at: Where an alias may be put; None where there is one, or none may be.
        alias: The alias that there is.
        renames: Whether an alias has names for the columns too.
        node: Its node in the tree, if the text could be read.
    """

    parts: tuple[str, ...]
    start: int
    end: int
    clauses_end: int
    version: str | None = None
    timestamp: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] | None = None
    alias_at: int | None = None
    alias: str | None = None
    renames: bool = False
    node: exp.Table | None = None

    @property
    def name(self) -> str:
        """The name that columns of the table may have before them."""
        return self.alias if self.alias is not None else self.parts[-1]


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
    arguments: tuple[str, ...] | None = None


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
    tree = None
    if not has_pipe(tokens):
        # Steps of pipes are moved about by sqlglot, and lose their places.
        tree = _parse(_masked(text, tokens, clauses, has_fields=has_fields))
    by_start = {} if tree is None else _in_tree(tree)
    if has_fields:
        # What stands for a frame has the place of a name, and is none.
        by_start = {at: found for at, found in by_start.items() if "{" not in text[at : found.end]}
    for index, token in enumerate(tokens):
        if begins_query(tokens, index):
            # sqlglot may read `(TABLE t)` as a table of this name with an alias.
            by_start.pop(token.start, None)
    for index, parts in named_tables(tokens, catalogs, is_parsed=tree is not None):
        start, end = tokens[index].start, tokens[index + 2 * len(parts) - 2].end
        by_start.setdefault(start, Reference(parts=parts, start=start, end=end, clauses_end=end))
    common = common_tables(tokens)
    ends = {token.end: index for index, token in enumerate(tokens)}
    references = [
        _completed(reference, clauses.get(reference.end), tokens, behind=ends[reference.end] + 1)
        for start, reference in sorted(by_start.items())
        if len(reference.parts) > 1
        or not any(table.is_meant(reference.parts[0], start) for table in common)
    ]
    return QueryText(text=text, tokens=tokens, tree=tree, references=tuple(references))


def _clauses_behind(text: str, tokens: list[Token], index: int) -> _Clauses | None:
    """Time travel, options or the arguments of a function from a token on."""
    start = index
    if is_call(tokens, index - 1):
        call = tokens[index : closing_index(tokens, index) + 1]
        return _Clauses(end=call[-1].end, arguments=_arguments(text, call))
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


def is_call(tokens: list[Token], index: int) -> bool:
    """Whether a token begins the call of a function that reads a table."""
    return (
        is_function(tokens[index].name)
        and tokens[index + 1 : index + 2] != []
        and tokens[index + 1].is_symbol("(")
        and not (index and tokens[index - 1].is_symbol("."))
    )


def _arguments(text: str, tokens: list[Token]) -> tuple[str, ...]:
    """What stands between the commas of a list in parentheses, which are the tokens' ends."""
    depth = 0
    found = []
    start = tokens[0].end
    for token in tokens:
        if token.is_symbol("(", "["):
            depth += 1
        elif token.is_symbol(")", "]"):
            depth -= 1
        if (token.is_symbol(",") and depth == 1) or depth == 0:
            found.append(text[start : token.start].strip())
            start = token.end
    return tuple(found) if found != [""] else ()


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


def _masked(
    text: str, tokens: list[Token], clauses: dict[int, _Clauses], *, has_fields: bool
) -> str:
    """The text in the same places, without what sqlglot does not know, and without comments."""
    signs = [" "] * len(text)
    for token in tokens:
        signs[token.start : token.end] = token.text
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
        start, end = identifiers[0].meta["start"], identifiers[-1].meta["end"] + 1
        found[start] = Reference(parts=parts, start=start, end=end, clauses_end=end, node=node)
    return found


def _is_read(node: exp.Table) -> bool:
    """Whether the name is of a source of rows, not of what a statement makes or changes."""
    if isinstance(node.parent, exp.Merge):
        return node.arg_key == "using"
    return isinstance(node.parent, exp.From | exp.Join | exp.Subquery)


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
    has_alias = _is_alias(tokens, behind)
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
        arguments=clauses.arguments if clauses else None,
        alias_at=None if has_alias or is_bare or is_argument else alias_at,
        alias=_alias_name(tokens, behind) if has_alias else None,
        renames=_renames(tokens, behind),
        node=reference.node,
    )


def _is_alias(tokens: list[Token], index: int) -> bool:
    """Whether an alias comes next."""
    return index < len(tokens) and (
        tokens[index].is_word("AS")
        or (tokens[index].is_name and tokens[index].text.upper() not in _NO_ALIAS)
    )


def _alias_name(tokens: list[Token], index: int) -> str | None:
    index += tokens[index].is_word("AS")
    return tokens[index].name if index < len(tokens) else None


def _renames(tokens: list[Token], index: int) -> bool:
    """Whether an alias comes next that has names for columns, round parentheses maybe."""
    while index < len(tokens) and tokens[index].is_symbol(")"):
        index += 1
    if not _is_alias(tokens, index):
        return False
    index += 2 if tokens[index].is_word("AS") else 1
    return index < len(tokens) and tokens[index].is_symbol("(")
