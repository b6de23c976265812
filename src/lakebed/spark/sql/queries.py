"""How does Spark answer a query over Lakebed tables?

Each name of a Lakebed table is replaced, in place, by a parameter that stands for a frame; the rest
of the text goes to Spark as it was written. `spark.sql(text, **frames)` does the same on classic
Spark and on Spark Connect, and leaves no views behind.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from sqlglot import exp

from lakebed.format.predicate.expressions import Expression
from lakebed.format.schema import TableSchema
from lakebed.format.types import AtomicType
from lakebed.spark.conditions import analysis_error
from lakebed.spark.lake import NOW, Lake, Travel, hidden_columns
from lakebed.spark.names import TableName, quoted
from lakebed.spark.sql.arguments import NO_ARGUMENTS, Arguments, kept
from lakebed.spark.sql.conditions import scan_predicate
from lakebed.spark.sql.explanations import is_explanation, with_scans
from lakebed.spark.sql.hidden_columns import Scopes
from lakebed.spark.sql.pruning import ALL, Need, needed
from lakebed.spark.sql.references import QueryText, Reference, analyse
from lakebed.spark.sql.splicing import Edit, spliced
from lakebed.spark.sql.table_functions import called_table
from lakebed.spark.sql.table_words import name_at
from lakebed.spark.sql.tokens import TokenKind, tokenize
from lakebed.table.reading.scan import Scan
from lakebed.table.table import Table

Given = TypeVar("Given")
_PARAMETER = "__lakebed_table_"
# Options of a table that say what its readers see begin so.
_POINT_KEYS = ("scan.", "incremental-")


Run = Callable[[Lake, Given, Arguments], DataFrame | None]
"""Runs a kind of statements; None where one is for Spark."""


@dataclass(frozen=True, slots=True)
class _Use:
    """A table where a query reads it.

    Attributes:
        reference: The place.
        name: The table's name.
        table: The table.
        options: Options of the scan.
        travel: The point that is read.
        schema: The columns that it had then.
        hidden: Columns that the query names and no star means.
    """

    reference: Reference
    name: TableName
    table: Table
    options: Mapping[str, str]
    travel: Travel
    schema: TableSchema
    hidden: tuple[str, ...]


def run_query(lake: Lake, text: str, given: Arguments = NO_ARGUMENTS) -> DataFrame:
    """The answer of Spark, with Lakebed tables read where the text names them."""
    query = analyse(text, catalogs=lake.registry.catalogs, has_fields=bool(given.fields))
    uses = _uses(lake, query, given)
    if not uses:
        return lake.sql(text, given.args, **given.fields)
    named = _with_parameters(query, uses, has_fields=bool(given.fields))
    needs = [_need(query, use, given) for use in uses]
    scans = _scans(lake, uses, needs, given=given)
    try:
        answer = _run(lake, named, scans, given=given)
    except AnalysisException as error:
        is_pruned = any(need is not ALL for need in needs)
        if not is_pruned or not (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
            raise
        # Once more with every column: the error then lists what the tables really have.
        scans = _scans(lake, uses, [ALL] * len(uses), given=given)
        answer = _run(lake, named, scans, given=given)
    if not is_explanation(text):
        return answer
    names = [str(use.name) for use in uses]
    return with_scans(lake, answer, list(zip(names, scans, strict=True)))


def _uses(lake: Lake, query: QueryText, given: Arguments) -> list[_Use]:
    plain = (reference.parts for reference in query.references if reference.arguments is None)
    found = lake.resolve_all(plain)
    named = [
        (reference, *named)
        for reference in query.references
        if (named := _named(lake, reference, given, found=found)) is not None
    ]
    tables = {name: lake.load(name) for name in dict.fromkeys(name for _, name, _ in named)}
    current = [
        name for reference, name, options in named if _is_current(reference, tables[name], options)
    ]
    pinned = {
        name: _pin(tables[name]) for name in dict.fromkeys(current) if current.count(name) > 1
    }
    scopes = Scopes.of(query.tokens)
    uses = []
    for reference, name, options in named:
        table = tables[name]
        if _is_current(reference, table, options):
            travel, schema = pinned.get(name, NOW), table.schema
        else:
            travel = _travel(lake, reference)
            schema = lake.schema_read(table, travel=travel, options=options)
        hidden = scopes.named(reference, hidden_columns(table))
        uses.append(_Use(reference, name, table, options, travel, schema, hidden))
    return uses


def _named(
    lake: Lake,
    reference: Reference,
    given: Arguments,
    *,
    found: Mapping[tuple[str, ...], TableName | None],
) -> tuple[TableName, Mapping[str, str]] | None:
    """The table of an attached catalog that a reference names, and options of its scan."""
    if reference.arguments is not None:
        return called_table(lake, reference.parts[0], reference.arguments, given=given)
    name = found[reference.parts]
    return None if name is None else (name, reference.options)


def _is_current(reference: Reference, table: Table, options: Mapping[str, str]) -> bool:
    """Whether a table is read as it is now."""
    return (
        reference.version is None
        and reference.timestamp is None
        and not options
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


def _scans(lake: Lake, uses: list[_Use], needs: list[Need], *, given: Arguments) -> list[Scan]:
    """The scan of each use; the same one where the same is read."""
    same: dict[object, Scan] = {}
    scans = []
    for use, need in zip(uses, needs, strict=True):
        where = _predicate(lake, use, need.conjuncts, given=given)
        options = frozenset(use.options.items())
        what = (use.name, use.travel, options, need.columns, where, use.hidden)
        if what not in same:
            same[what] = lake.scan(
                use.table,
                columns=need.columns,
                where=where,
                travel=use.travel,
                options=use.options,
                hidden=use.hidden,
            )
        scans.append(same[what])
    return scans


def _run(lake: Lake, text: str, scans: list[Scan], *, given: Arguments) -> DataFrame:
    # Spark reads once what is the same, if it has one frame for it.
    # Classic Spark drops a view of each frame behind the query, and with it what it has cached of
    # just that plan; so it is not just that.
    every = {id(scan): scan for scan in scans}.values()
    rows = {id(scan): lake.rows(scan).where(F.lit(True)) for scan in every}  # noqa: FBT003 - a value
    frames = {f"{_PARAMETER}{index}": rows[id(scan)] for index, scan in enumerate(scans)}
    return lake.sql(text, given.args, **frames, **given.fields)


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


def _with_parameters(query: QueryText, uses: list[_Use], *, has_fields: bool) -> str:
    """The text with parameters for tables."""
    edits: list[Edit] = []
    for index, use in enumerate(uses):
        reference = use.reference
        parameter = f"{{{_PARAMETER}{index}}}"
        alias = f" AS {quoted((reference.parts[-1],))}"
        if reference.alias_at == reference.clauses_end:
            parameter += alias
        elif reference.alias_at is not None:
            edits.append(Edit(reference.alias_at, reference.alias_at, alias))
        edits.append(Edit(reference.start, reference.clauses_end, parameter))
    edits += _qualifier_edits(query, uses)
    hidden = [(use.reference, use.hidden) for use in uses if use.hidden]
    if hidden:
        edits += Scopes.of(query.tokens).left_out(hidden)
    return spliced(query.text, edits, between=functools.partial(kept, has_fields=has_fields))


def _qualifier_edits(query: QueryText, uses: list[_Use]) -> list[Edit]:
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
                edits.append(Edit(token.start, tokens[last].start, ""))
                break
    return edits


def _lowered(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.lower() for part in parts)
