"""How does Spark answer a query over Lakebed tables?

Each name of a Lakebed table is replaced, in place, by a parameter that stands for a frame; the rest
of the text goes to Spark as it was written. `spark.sql(text, **frames)` does the same on classic
Spark and on Spark Connect, and leaves no views behind.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from sqlglot import exp

from lakebed.format.predicate import Expression
from lakebed.format.types import AtomicType
from lakebed.spark.lake import NOW, Lake, Travel
from lakebed.spark.names import TableName, bare_or_quoted
from lakebed.spark.sql.conditions import scan_predicate
from lakebed.spark.sql.pruning import ALL, Need, needed
from lakebed.spark.sql.references import QueryText, Reference, analyse
from lakebed.spark.sql.tokens import TokenKind, tokenize
from lakebed.table.table import Table

_PARAMETER = "__lakebed_table_"


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


@dataclass(frozen=True, slots=True)
class _Use:
    """A table where a query reads it."""

    reference: Reference
    name: TableName
    table: Table


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
    travels = _travels(lake, uses)
    needs = [_need(query, use, given) for use in uses]
    try:
        return _run(lake, spliced, uses, travels=travels, needs=needs, given=given)
    except AnalysisException as error:
        is_pruned = any(need is not ALL for need in needs)
        if not is_pruned or not (error.getCondition() or "").startswith("UNRESOLVED_COLUMN"):
            raise
    # Once more with every column: the error then lists what the tables really have.
    return _run(lake, spliced, uses, travels=travels, needs=[ALL] * len(uses), given=given)


def _uses(lake: Lake, query: QueryText) -> list[_Use]:
    tables: dict[TableName, Table] = {}
    uses = []
    for reference in query.references:
        name = lake.resolve(reference.parts)
        if name is not None:
            if name not in tables:
                tables[name] = lake.load(name)
            uses.append(_Use(reference, name, tables[name]))
    return uses


def _need(query: QueryText, use: _Use, given: Arguments) -> Need:
    if any(isinstance(value, Column | str) for value in given.fields.values()):
        # The text is not whole yet: a field may name a column.
        return ALL
    need = needed(query, use.reference, use.table.schema.names)
    if need.columns == ():
        return Need((_smallest_column(use.table),), need.conjuncts)
    return need


def _smallest_column(table: Table) -> str:
    """A column to count rows by: a key column is read for the merge in any case."""
    if table.primary_keys:
        return table.primary_keys[0]
    atomic = (each.name for each in table.schema.fields if isinstance(each.type, AtomicType))
    return next(atomic, table.schema.names[0])


def _run(
    lake: Lake,
    spliced: str,
    uses: list[_Use],
    *,
    travels: list[Travel],
    needs: list[Need],
    given: Arguments,
) -> DataFrame:
    frames = {
        f"{_PARAMETER}{index}": lake.read(
            use.table,
            columns=need.columns,
            where=_predicate(lake, use, need.conjuncts, given=given),
            travel=travel,
            options=use.reference.options,
        )
        for index, (use, travel, need) in enumerate(zip(uses, travels, needs, strict=True))
    }
    return lake.sql(spliced, given.args, **frames, **given.fields)


def _predicate(
    lake: Lake, use: _Use, conjuncts: tuple[exp.Expression, ...], *, given: Arguments
) -> Expression | None:
    if not conjuncts:
        return None
    return scan_predicate(
        conjuncts, use.table.schema.row_type, time_zone=lake.time_zone, arguments=given.named
    )


def _travels(lake: Lake, uses: list[_Use]) -> list[Travel]:
    """What each use reads; uses of one table without a point in time read the same snapshot."""
    current = [use.name for use in uses if _travel(lake, use.reference) is NOW]
    pinned: dict[TableName, Travel] = {}
    for use in uses:
        if current.count(use.name) > 1 and use.name not in pinned:
            latest = use.table.latest_snapshot()
            pinned[use.name] = Travel(snapshot_id=latest.id) if latest is not None else NOW
    found = []
    for use in uses:
        travel = _travel(lake, use.reference)
        found.append(pinned.get(use.name, NOW) if travel is NOW else travel)
    return found


def _travel(lake: Lake, reference: Reference) -> Travel:
    if reference.version is not None:
        token = tokenize(reference.version)[0]
        if token.kind is TokenKind.STRING and not token.value.isdigit():
            return Travel(tag=token.value)
        return Travel(
            snapshot_id=int(token.value if token.kind is TokenKind.STRING else token.text)
        )
    if reference.timestamp is not None:
        instant = f"unix_millis(cast({reference.timestamp} AS TIMESTAMP))"
        return Travel(timestamp_ms=lake.sql(f"SELECT {instant}").collect()[0][0])
    return NOW


def _spliced(query: QueryText, uses: list[_Use], *, has_fields: bool) -> str:
    """The text with parameters for tables."""
    edits: list[_Edit] = []
    for index, use in enumerate(uses):
        reference = use.reference
        parameter = f"{{{_PARAMETER}{index}}}"
        alias = f" AS {bare_or_quoted(reference.parts[-1])}"
        if reference.alias_at == reference.clauses_end:
            parameter += alias
        elif reference.alias_at is not None:
            edits.append(_Edit(reference.alias_at, reference.alias_at, alias))
        edits.append(_Edit(reference.start, reference.clauses_end, parameter))
    edits += _qualifier_edits(query, uses)
    pieces = []
    position = 0
    for edit in sorted(edits, key=lambda each: each.start):
        pieces += [_kept(query.text[position : edit.start], has_fields=has_fields), edit.text]
        position = edit.end
    pieces.append(_kept(query.text[position:], has_fields=has_fields))
    return "".join(pieces)


def _kept(text: str, *, has_fields: bool) -> str:
    """Text that formatting leaves as it is; with fields the user doubled braces already."""
    return text if has_fields else text.replace("{", "{{").replace("}", "}}")


def _qualifier_edits(query: QueryText, uses: list[_Use]) -> list[_Edit]:
    """Columns written `catalog.database.table.column` keep their last two parts.

    A frame is known by its alias, not by the full name of the table.
    """
    if query.tree is None:
        return []
    names = {use.reference.parts for use in uses if use.reference.alias_at is not None}
    edits = []
    for column in query.tree.find_all(exp.Column):
        qualifiers = [
            column.args[key] for key in ("catalog", "db", "table") if column.args.get(key)
        ]
        parts = tuple(part.name for part in qualifiers)
        if len(parts) > 1 and any(name[-len(parts) :] == parts for name in names):
            start, end = qualifiers[0].meta.get("start"), qualifiers[-1].meta.get("start")
            if start is not None and end is not None:
                edits.append(_Edit(start, end, ""))
    return edits
