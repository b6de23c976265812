"""How does Spark answer a query over Lakebed tables?

Each name of a Lakebed table is replaced, in place, by a parameter that stands for a frame; the rest
of the text goes to Spark as it was written. `spark.sql(text, **frames)` does the same on classic
Spark and on Spark Connect, and leaves no views behind.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from sqlglot import exp

from lakebed.format.predicate.expressions import Expression
from lakebed.format.schema import TableSchema
from lakebed.format.types import AtomicType
from lakebed.spark.conditions import analysis_error
from lakebed.spark.lake import NOW, Lake, Travel
from lakebed.spark.names import TableName, quoted
from lakebed.spark.sql.conditions import scan_predicate
from lakebed.spark.sql.pruning import ALL, Need, needed
from lakebed.spark.sql.references import QueryText, Reference, analyse
from lakebed.spark.sql.table_words import name_at
from lakebed.spark.sql.tokens import TokenKind, tokenize
from lakebed.table.table import Table

Given = TypeVar("Given")
_PARAMETER = "__lakebed_table_"
# Options of a table that say what its readers see begin so.
_POINT_KEYS = ("scan.", "incremental-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """What a caller of `spark.sql` gave beside the text.

    Attributes:
        args: Values of parameter markers.
        fields: Values of `{fields}` in the text.
    """

    args: Mapping[str, object] | list[object] | None = None
    fields: Mapping[str, object] = field(default_factory=dict)

    @property
    def named(self) -> Mapping[str, object]:
        """Values of named parameter markers."""
        return self.args if isinstance(self.args, Mapping) else {}


NO_ARGUMENTS = Arguments()

Run = Callable[[Lake, Given, Arguments], DataFrame | None]
"""Runs a kind of statements; None where one is for Spark."""


@dataclass(frozen=True, slots=True)
class _Use:
    """A table where a query reads it.

    Attributes:
        reference: The place.
        name: The table's name.
        table: The table.
        travel: The point that is read.
        schema: The columns that it had then.
    """

    reference: Reference
    name: TableName
    table: Table
    travel: Travel
    schema: TableSchema


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def run_query(lake: Lake, text: str, given: Arguments = NO_ARGUMENTS) -> DataFrame:
    """The answer of Spark, with Lakebed tables read where the text names them."""
    query = analyse(text, catalogs=lake.registry.catalogs, has_fields=bool(given.fields))
    uses = _uses(lake, query)
    if not uses:
        return lake.sql(text, given.args, **given.fields)
    spliced = _spliced(query, uses, has_fields=bool(given.fields))
    needs = [_need(query, use, given) for use in uses]
    try:
        return _run(lake, spliced, uses, needs=needs, given=given)
    except AnalysisException as error:
        is_pruned = any(need is not ALL for need in needs)
        if not is_pruned or not (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
            raise
    # Once more with every column: the error then lists what the tables really have.
    return _run(lake, spliced, uses, needs=[ALL] * len(uses), given=given)


def _uses(lake: Lake, query: QueryText) -> list[_Use]:
    found = lake.resolve_all(reference.parts for reference in query.references)
    named = [
        (reference, name)
        for reference in query.references
        if (name := found[reference.parts]) is not None
    ]
    tables = {name: lake.load(name) for name in dict.fromkeys(name for _, name in named)}
    current = [name for reference, name in named if _is_current(reference, tables[name])]
    pinned = {
        name: _pin(tables[name]) for name in dict.fromkeys(current) if current.count(name) > 1
    }
    uses = []
    for reference, name in named:
        table = tables[name]
        if _is_current(reference, table):
            travel, schema = pinned.get(name, NOW), table.schema
        else:
            travel = _travel(lake, reference)
            schema = lake.schema_read(table, travel=travel, options=reference.options)
        uses.append(_Use(reference, name, table, travel, schema))
    return uses


def _is_current(reference: Reference, table: Table) -> bool:
    """Whether a table is read as it is now."""
    return (
        reference.version is None
        and reference.timestamp is None
        and not reference.options
        and not any(key.startswith(_POINT_KEYS) for key in table.options)
    )


def _pin(table: Table) -> Travel:
    """The newest snapshot, for all uses of the table in a query.

    Columns that were changed since are not in it; until the next commit, each use looks for itself.
    """
    latest = table.latest_snapshot()
    is_whole = latest is not None and latest.schema_id == table.schema.id
    return Travel(snapshot_id=latest.id) if latest is not None and is_whole else NOW


def _need(query: QueryText, use: _Use, given: Arguments) -> Need:
    if any(isinstance(value, Column | str) for value in given.fields.values()):
        # The text is not whole yet: a field may name a column.
        return ALL
    need = needed(query, use.reference, use.schema.names)
    if need.columns == ():
        return Need((_smallest_column(use.schema),), need.conjuncts)
    return need


def _smallest_column(schema: TableSchema) -> str:
    """A column to count rows by: a key column is read for the merge in any case."""
    if schema.primary_keys:
        return schema.primary_keys[0]
    atomic = (each.name for each in schema.fields if isinstance(each.type, AtomicType))
    return next(atomic, schema.names[0])


def _run(
    lake: Lake,
    spliced: str,
    uses: list[_Use],
    *,
    needs: list[Need],
    given: Arguments,
) -> DataFrame:
    frames: dict[str, DataFrame] = {}
    # Spark reads once what is the same, if it has one frame for it.
    same: dict[object, DataFrame] = {}
    for index, (use, need) in enumerate(zip(uses, needs, strict=True)):
        where = _predicate(lake, use, need.conjuncts, given=given)
        options = use.reference.options
        what = (use.name, use.travel, frozenset(options.items()), need.columns, where)
        if what not in same:
            same[what] = lake.read(
                use.table, columns=need.columns, where=where, travel=use.travel, options=options
            )
        frames[f"{_PARAMETER}{index}"] = same[what]
    return lake.sql(spliced, given.args, **frames, **given.fields)


def _predicate(
    lake: Lake, use: _Use, conjuncts: tuple[exp.Expression, ...], *, given: Arguments
) -> Expression | None:
    if not conjuncts:
        return None
    return scan_predicate(
        conjuncts, use.schema.row_type, time_zone=lake.time_zone, arguments=given.named
    )


def _travel(lake: Lake, reference: Reference) -> Travel:
    if reference.version is not None:
        token = tokenize(reference.version)[0]
        return Travel(version=token.value if token.kind is TokenKind.STRING else token.text)
    if reference.timestamp is not None:
        instant = f"unix_millis(try_cast({reference.timestamp} AS TIMESTAMP))"
        timestamp_ms = lake.sql(f"SELECT {instant}").collect()[0][0]
        if timestamp_ms is None:
            raise analysis_error(
                "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT",
                f"The time travel timestamp expression {reference.timestamp} is invalid. Cannot be"
                ' casted to the "TIMESTAMP" type.',
                {"expr": reference.timestamp},
            )
        return Travel(timestamp_ms=timestamp_ms)
    return NOW


def _spliced(query: QueryText, uses: list[_Use], *, has_fields: bool) -> str:
    """The text with parameters for tables."""
    edits: list[_Edit] = []
    for index, use in enumerate(uses):
        reference = use.reference
        parameter = f"{{{_PARAMETER}{index}}}"
        alias = f" AS {quoted((reference.parts[-1],))}"
        if reference.alias_at == reference.clauses_end:
            parameter += alias
        elif reference.alias_at is not None:
            edits.append(_Edit(reference.alias_at, reference.alias_at, alias))
        edits.append(_Edit(reference.start, reference.clauses_end, parameter))
    edits += _qualifier_edits(query, uses)
    pieces = []
    position = 0
    for edit in sorted(edits, key=lambda each: each.start):
        pieces += [kept(query.text[position : edit.start], has_fields=has_fields), edit.text]
        position = edit.end
    pieces.append(kept(query.text[position:], has_fields=has_fields))
    return "".join(pieces)


def kept(text: str, *, has_fields: bool) -> str:
    """Text that formatting leaves as it is.

    Args:
        text: A piece of a statement.
        has_fields: Whether it is formatted in any case, so that the user doubled braces already.
    """
    return text if has_fields else text.replace("{", "{{").replace("}", "}}")


def _qualifier_edits(query: QueryText, uses: list[_Use]) -> list[_Edit]:
    """Columns written `catalog.database.table.column` begin with the table.

    A frame is known by its alias, not by the full name of the table.
    """
    names = {
        _lowered((use.name.catalog, use.name.database, use.name.table))
        for use in uses
        if use.reference.alias_at is not None
    }
    references = {reference.start for reference in query.references}
    tokens = query.tokens
    edits = []
    for index, token in enumerate(tokens):
        is_first = token.is_name and not (index and tokens[index - 1].is_symbol("."))
        if not is_first or token.start in references:
            continue
        parts = _lowered(name_at(tokens, index))
        for skipped in (2, 1):
            qualifier = parts[: skipped + 1]
            last = index + 2 * skipped
            if (
                len(qualifier) == skipped + 1
                and any(name[2 - skipped :] == qualifier for name in names)
                and last + 1 < len(tokens)
                and tokens[last + 1].is_symbol(".")
            ):
                edits.append(_Edit(token.start, tokens[last].start, ""))
                break
    return edits


def _lowered(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.lower() for part in parts)
