"""What does the word DEFAULT stand for where a value is expected?

For the default of the column that gets the value, or NULL where it has none. It is put into the
text as a literal before Spark reads it, which would take the word for a column.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from lakebed.format.default_values import Default, kinds_of, parse_default
from lakebed.format.types import DataType, MapType, RowType
from lakebed.spark.conditions import unknown_column
from lakebed.spark.names import literal
from lakebed.spark.sql.splicing import Edit, spliced
from lakebed.spark.sql.tokens import Token, tokenize
from lakebed.spark.types import type_text
from lakebed.table.table import Table


def default_of(table: Table, column: str) -> str:
    """The default of a column as an expression.

    Raises:
        AnalysisException: The table has no such column.
    """
    field = next((each for each in table.schema.fields if each.name == column), None)
    if field is None:
        raise unknown_column(column, table.schema.names)
    if field.default_value is None:
        return "NULL"
    return _expression(parse_default(field.default_value, field.type), field.type)


def _expression(default: Default, kind: DataType) -> str:
    if default is None:
        return "NULL"
    made = literal(default) if isinstance(default, str) else _nested(default, kind)
    return f"CAST({made} AS {type_text(kind)})"


def _nested(parts: tuple[Default, ...], kind: DataType) -> str:
    expressions = list(map(_expression, parts, kinds_of(kind, len(parts))))
    if not isinstance(kind, RowType):
        return f"{'map' if isinstance(kind, MapType) else 'array'}({', '.join(expressions)})"
    names = (literal(field.name) for field in kind.fields)
    named = zip(names, expressions, strict=True)
    return f"named_struct({', '.join(chain.from_iterable(named))})"


def is_default(text: str) -> bool:
    """Whether a value is the word alone."""
    tokens = tokenize(text)
    return len(tokens) == 1 and tokens[0].is_word("DEFAULT")


def with_defaults(values: str, table: Table, columns: Sequence[str]) -> str:
    """The rows of VALUES with defaults in place of the word.

    Args:
        values: A text that begins with VALUES.
        table: The table that gets the rows.
        columns: Its columns that get the values, in their order.
    """
    edits = (
        Edit(token.start, token.end, default_of(table, columns[index]))
        for token, index in _words(tokenize(values))
        if index < len(columns)
    )
    return spliced(values, edits)


def _words(tokens: list[Token]) -> Iterator[tuple[Token, int]]:
    """DEFAULT where it is a whole value, with the place of the value in its row."""
    depth = index = 0
    for number, token in enumerate(tokens):
        depth += token.is_symbol("(") - token.is_symbol(")")
        if token.is_symbol("(") and depth == 1:
            index = 0
        index += depth == 1 and token.is_symbol(",")
        if depth == 1 and token.is_word("DEFAULT") and number + 1 < len(tokens):
            before, behind = tokens[number - 1], tokens[number + 1]
            if before.is_symbol("(", ",") and behind.is_symbol(")", ","):
                yield token, index
