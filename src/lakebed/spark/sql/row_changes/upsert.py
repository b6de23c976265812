"""Which MERGE is an upsert, so that the table need not be read?

One by the whole primary key, of which each row of the source becomes a row of the table, the same
whether or not there was one of its key:

    ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *

The same may be written with all columns instead of stars.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.options.choices import ChangelogProducer, MergeEngine
from lakebed.spark.changed_table import ChangedTable
from lakebed.spark.names import quoted
from lakebed.spark.nested_names import lacks_fields
from lakebed.spark.sql.row_changes.frames import aligned
from lakebed.spark.sql.row_changes.statements import InsertClause, Merge, UpdateClause
from lakebed.spark.sql.tokens import Token, closing_index, tokenize
from lakebed.spark.types import to_spark_schema


def upserted(
    changed: ChangedTable, statement: Merge, source: DataFrame, *, aliases: tuple[str, str]
) -> DataFrame | None:
    """The rows that a MERGE puts, whatever there is; None where that depends on what there is.

    It depends too where two of the rows have one key, which may be said of a row that is there.

    Args:
        changed: The table.
        statement: The statement.
        source: The rows of its source.
        aliases: Of the table and of the source.
    """
    table = changed.table
    columns = {name.lower(): name for name in source.columns}
    if not _puts_rows(changed, statement) or len(columns) < len(source.columns):
        return None
    equalities = Equalities.of(statement.condition, aliases)
    if not equalities.is_all or equalities.pairs.keys() != set(map(str.lower, table.primary_keys)):
        return None
    sources = _sources(statement, table.schema.names, equalities.pairs, aliases=aliases)
    if sources is None or not all(each in columns for each in sources.values()):
        return None
    selected = source.select(
        *(
            F.col(quoted((columns[sources[name.lower()]],))).alias(name)
            for name in table.schema.names
        )
    )
    if lacks_fields(selected.schema, to_spark_schema(table.schema.fields)):
        # What they are in the row that is there has to be read, or is an error to tell.
        return None
    return aligned(selected, table, kind="+I")


def _sources(
    statement: Merge, names: Sequence[str], keys: Mapping[str, str], *, aliases: tuple[str, str]
) -> dict[str, str] | None:
    """The column of the source that each column gets, whether or not there is a row of its key.

    Args:
        statement: The statement.
        names: The columns of the table.
        keys: Its key columns, and those of the source that are equal to them.
        aliases: Of the table and of the source.

    Returns:
        All of them in lower case; None where a column gets something else, or nothing.
    """
    (update,), (insert,) = statement.matched, statement.not_matched
    stars = {name.lower(): name.lower() for name in names}
    updated, inserted = dict(stars), dict(stars)
    if isinstance(update, UpdateClause) and update.assignments is not None:
        set_ = [(each.column, each.value) for each in update.assignments]
        assigned = _references(set_, aliases)
        updated = {**keys, **assigned} if assigned else {}
    if insert.columns is not None:
        values = zip(insert.columns, insert.values or (), strict=True)
        inserted = _references([((column,), value) for column, value in values], aliases)
    is_known = inserted.keys() == stars.keys() == updated.keys()
    has_keys = all(inserted.get(key) == source for key, source in keys.items())
    return inserted if is_known and has_keys and inserted == updated else None


def _references(
    values: Sequence[tuple[Sequence[str], str]], aliases: tuple[str, str]
) -> dict[str, str]:
    """The columns that get a bare column of the source, each once, with that column."""
    there, given = (alias.lower() for alias in aliases)
    found: dict[str, str] = {}
    for column, value in values:
        qualifier, name = ("", *column)[-2:]
        tokens = tokenize(value)
        is_bare = len(tokens) == 3 and tokens[1].is_symbol(".") and tokens[2].is_name
        is_ours = (
            len(column) <= 2 and qualifier.lower() in {"", there} and name.lower() not in found
        )
        if not (is_bare and is_ours and tokens[0].name.lower() == given):
            return {}
        found[name.lower()] = tokens[2].name.lower()
    return found


@dataclass(frozen=True, slots=True)
class Equalities:
    """What a condition says of columns that are equal.

    Attributes:
        pairs: Columns of the source by those of the table, in lower case.
        is_all: Whether it says nothing else.
    """

    pairs: Mapping[str, str]
    is_all: bool

    @classmethod
    def of(cls, condition: str, aliases: tuple[str, str]) -> "Equalities":
        """Those that hold wherever a condition is true.

        Args:
            condition: Its text.
            aliases: Of the table and of the source.
        """
        tokens = tokenize(condition)
        while tokens and tokens[0].is_symbol("(") and closing_index(tokens, 0) == len(tokens) - 1:
            tokens = tokens[1:-1]
        if any(token.is_word("OR") for token in tokens):
            return cls({}, is_all=False)
        found = [_pair(conjunct, aliases) for conjunct in _split(tokens)]
        pairs = dict(pair for pair in found if pair is not None)
        return cls(pairs, is_all=len(pairs) == len(found))


def _split(tokens: list[Token]) -> list[list[Token]]:
    """The parts between AND outside of parentheses."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += token.is_symbol("(") - token.is_symbol(")")
        if depth == 0 and token.is_word("AND"):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _pair(tokens: list[Token], aliases: tuple[str, str]) -> tuple[str, str] | None:
    """Columns of `t.a = s.b` or `s.b = t.a`."""
    names = [token.name.lower() for token in tokens if token.is_name]
    signs = [token.text for token in tokens if not token.is_name]
    if len(tokens) != 7 or signs != [".", "=", "."]:
        return None
    there, given = (alias.lower() for alias in aliases)
    if (names[0], names[2]) == (there, given):
        return names[1], names[3]
    if (names[0], names[2]) == (given, there):
        return names[3], names[1]
    return None


def _puts_rows(changed: ChangedTable, statement: Merge) -> bool:
    """Whether each row of the source is put: there is one clause for either case, always done."""
    options = changed.parts.options
    if not changed.table.primary_keys or options.merge_engine is not MergeEngine.DEDUPLICATE:
        return False
    if options.changelog_producer is ChangelogProducer.INPUT or statement.not_matched_by_source:
        return False
    clauses = (*statement.matched, *statement.not_matched)
    kinds = [UpdateClause, InsertClause]
    return list(map(type, clauses)) == kinds and all(each.condition is None for each in clauses)
