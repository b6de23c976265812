"""What does the word DEFAULT stand for where a value is expected?

For the default of the column that gets the value, or NULL where it has none. It is put into the
text as a literal before Spark reads it, which would take the word for a column.
"""

from collections.abc import Iterator, Sequence

from lakebed.spark.conditions import unknown_column
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
    text = field.default_value.replace("\\", "\\\\").replace("'", "\\'")
    return f"CAST('{text}' AS {type_text(field.type)})"


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
    pieces, position = [], 0
    for token, index in _words(tokenize(values)):
        if index < len(columns):
            pieces += [values[position : token.start], default_of(table, columns[index])]
            position = token.end
    return "".join([*pieces, values[position:]])


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
