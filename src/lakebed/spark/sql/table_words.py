"""Which names do the words before them make tables?

For what sqlglot cannot read, or reads as something else: the words of a text, in order, say where a
source of rows is due. It is behind FROM, JOIN and TABLE, behind a comma of a FROM clause, and in
parentheses in such a place.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lakebed.spark.sql.table_functions import is_function
from lakebed.spark.sql.tokens import Token

# FROM stands between the arguments of these.
_FROM_FUNCTIONS = ("EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "OVERLAY")
_QUERY_WORDS = ("WITH", "VALUES", "LATERAL", "MAP", "REDUCE")
# A FROM clause ends at these, or what follows is no source.
_ENDING = (
    *("WHERE", "GROUP", "HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET"),
    *("WINDOW", "SELECT", "UNION", "INTERSECT", "EXCEPT", "MINUS", "VIEW", "PIVOT", "UNPIVOT"),
)
# Behind these TABLE begins a query; elsewhere it may be a name.
_BEFORE_TABLE = (
    *("AS", "UNION", "ALL", "DISTINCT", "INTERSECT", "EXCEPT", "MINUS"),
    *("EXPLAIN", "EXTENDED", "FORMATTED", "COST", "CODEGEN"),
)


@dataclass(slots=True)
class _Level:
    """What is known between two parentheses.

    Attributes:
        function: The word before the opening one.
        is_due: Whether a source of rows comes next.
        is_table: Whether the word TABLE said so.
        is_list: Whether a comma makes another due.
    """

    function: str = ""
    is_due: bool = False
    is_table: bool = False
    is_list: bool = False


def named_tables(
    tokens: Sequence[Token], catalogs: Collection[str], *, is_parsed: bool
) -> list[tuple[int, tuple[str, ...]]]:
    """Index of the first token, and parts, of names in places of tables.

    Args:
        tokens: The text.
        catalogs: Names that make a name of three parts a table.
        is_parsed: Whether there is a tree, which tells all but names behind TABLE, functions that
            read tables, and names of three parts that begin with a catalog, where it misses them.
    """
    found = []
    levels = [_Level()]
    for index, token in enumerate(tokens):
        level = levels[-1]
        if token.is_symbol("("):
            levels.append(_opened(tokens, index, level))
        elif token.is_symbol(")"):
            if len(levels) > 1:
                levels.pop()
        elif token.is_symbol(",", "|"):
            level.is_list = level.is_list and token.is_symbol(",")
            level.is_due = level.is_list
        elif token.is_name and not _is_keyword(tokens, index, level) and level.is_due:
            parts = name_at(tokens, index)
            behind = index + 2 * len(parts) - 1
            is_call = behind < len(tokens) and tokens[behind].is_symbol("(")
            is_sure = level.is_table or (len(parts) == 3 and parts[0] in catalogs)
            is_ours = is_call and len(parts) == 1 and is_function(parts[0])
            if is_ours or (not is_call and (is_sure or not is_parsed)):
                found.append((index, parts))
            level.is_due = level.is_table = False
    return found


def _opened(tokens: Sequence[Token], index: int, level: _Level) -> _Level:
    """What holds behind an opening parenthesis."""
    is_argument = index > 0 and tokens[index - 1].is_word("TABLE")
    inner = _Level(
        function=tokens[index - 1].text.upper() if index else "",
        is_due=level.is_due or is_argument,
        is_table=level.is_table or is_argument,
    )
    level.is_due = level.is_table = False
    return inner


def _is_keyword(tokens: Sequence[Token], index: int, level: _Level) -> bool:
    """Whether a word is no name but says what comes next; notes what it says."""
    token = tokens[index]
    before = tokens[index - 1] if index else None
    if before is not None and before.is_symbol("."):
        return False
    if token.is_word("FROM"):
        is_operator = before is not None and before.is_word("DISTINCT")
        if level.function not in _FROM_FUNCTIONS and not is_operator:
            level.is_due = level.is_list = True
    elif token.is_word("JOIN"):
        level.is_due = True
    elif begins_query(tokens, index):
        level.is_due = level.is_table = True
    elif token.is_word(*_ENDING):
        level.is_due = level.is_list = False
    elif not (level.is_due and token.is_word(*_QUERY_WORDS)):
        return False
    else:
        level.is_due = False
    return True


def begins_query(tokens: Sequence[Token], index: int) -> bool:
    """Whether a word is the TABLE of a query such as `TABLE t`, not a name."""
    if not tokens[index].is_word("TABLE"):
        return False
    before = tokens[index - 1] if index else None
    if before is not None and not (before.is_word(*_BEFORE_TABLE) or before.is_symbol("(", ")")):
        return False
    behind = tokens[index + 1 : index + 2]
    return not behind or (not behind[0].is_word("AS") and not behind[0].is_symbol(")", ","))


def name_at(tokens: Sequence[Token], index: int) -> tuple[str, ...]:
    """The parts of the name that starts at a token."""
    parts = [tokens[index].name]
    while (
        index + 2 < len(tokens) and tokens[index + 1].is_symbol(".") and tokens[index + 2].is_name
    ):
        index += 2
        parts.append(tokens[index].name)
    return tuple(parts)
