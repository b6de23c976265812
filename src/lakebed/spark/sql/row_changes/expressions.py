"""What becomes of the expressions of an UPDATE or MERGE before Spark reads them?

They are spliced into queries of ours, over frames that stand under the aliases of the statement; so
a column that is written with its table's whole name gets the alias instead.
"""

from collections.abc import Mapping

from lakebed.errors import LakebedError
from lakebed.format.predicate.expressions import Expression
from lakebed.format.predicate.parser import parse_predicate
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted
from lakebed.spark.sql.splicing import Edit, spliced
from lakebed.spark.sql.statements import Name
from lakebed.spark.sql.table_words import name_at
from lakebed.spark.sql.tokens import tokenize
from lakebed.table.table import Table


def qualifiers_of(name: TableName, alias: str | None) -> list[Name]:
    """What may stand before a column of a table: its alias, or where it has none its name."""
    return [(alias,)] if alias else [(name.catalog, name.database, name.table)]


def bare(text: str, alias: str) -> str:
    """A text without the alias before columns."""
    tokens = tokenize(text)
    edits = []
    for index, token in enumerate(tokens[:-1]):
        is_first = index == 0 or not tokens[index - 1].is_symbol(".")
        is_qualifier = token.is_name and token.name.lower() == alias.lower()
        if is_first and is_qualifier and tokens[index + 1].is_symbol("."):
            edits.append(Edit(token.start, tokens[index + 1].end, ""))
    return spliced(text, edits)


def find_predicate(lake: Lake, table: Table, text: str) -> Expression | None:
    """A condition as a scan takes it; None where only Spark can tell what it means."""
    try:
        return parse_predicate(
            text,
            table.schema.row_type,
            time_zone=lake.time_zone,
            case_sensitive=lake.is_case_sensitive,
        )
    except LakebedError:
        return None


def with_aliases(text: str, names: Mapping[Name, str]) -> str:
    """A text in which the aliases stand for whole names before columns.

    Args:
        text: An expression.
        names: Aliases by the parts of the names, of which the last ones alone mean the table too.
    """
    tokens = tokenize(text)
    edits: list[Edit] = []
    index = 0
    while index < len(tokens):
        parts = name_at(tokens, index) if tokens[index].is_name else ()
        found = qualifier_of(parts, names)
        if found is None:
            index += max(2 * len(parts) - 1, 1)
            continue
        alias, count = found
        end = tokens[index + 2 * count - 2].end
        edits.append(Edit(tokens[index].start, end, quoted((alias,))))
        index += 2 * len(parts) - 1
    return spliced(text, edits)


def qualifier_of(parts: Name, names: Mapping[Name, str]) -> tuple[str, int] | None:
    """The alias that stands for the first parts of a name, and how many these are."""
    for name, alias in names.items():
        for start in range(len(name)):
            qualifier = name[start:]
            head = parts[: len(qualifier)]
            is_longer = len(parts) > len(qualifier)
            if is_longer and [p.lower() for p in head] == [p.lower() for p in qualifier]:
                return alias, len(qualifier)
    return None
