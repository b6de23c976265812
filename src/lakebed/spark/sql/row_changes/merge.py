"""How is MERGE run?

The table is joined with the source, and what the clauses make of the pairs (`merge_clauses.py`) is
computed in the tasks that write it. A merge by the primary key that puts whole rows of the source,
whether or not they are there, is an upsert: the table is not read.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.snapshot import Operation
from lakebed.spark.changed_table import ChangedTable
from lakebed.spark.conditions import spark_errors
from lakebed.spark.evolution import MERGE, evolved, merging
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.schema_merging import SchemaMerging
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.row_changes.clause_values import ClauseValues
from lakebed.spark.sql.row_changes.expressions import (
    find_predicate,
    qualifiers_of,
    with_aliases,
)
from lakebed.spark.sql.row_changes.frames import Splicing, held
from lakebed.spark.sql.row_changes.merge_clauses import (
    GIVEN,
    IS_GIVEN,
    IS_THERE,
    THERE,
    Clauses,
)
from lakebed.spark.sql.row_changes.outcomes import commit_outcomes
from lakebed.spark.sql.row_changes.source_range import Reach, reach_of
from lakebed.spark.sql.row_changes.statements import (
    InsertClause,
    Merge,
    UpdateClause,
)
from lakebed.spark.sql.row_changes.upsert import upserted
from lakebed.spark.sql.statements import Name
from lakebed.spark.sql.tokens import tokenize
from lakebed.table.table import Table

_SOURCE = "__lakebed_source"
# Of a hundred columns of text, some 200 MB.
_FEW_ROWS = 100_000


def merge(lake: Lake, statement: Merge, given: Arguments) -> DataFrame | None:
    """MERGE; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    splicing = Splicing(lake, given)
    source = splicing.query(
        f"{splicing.piece(statement.with_clause)} SELECT * FROM {splicing.piece(statement.source)}"
    )
    if statement.source_columns:
        source = source.toDF(*statement.source_columns)
    how = _merging(lake, table, statement)
    if how is not None:
        table = evolved(table, source.schema, how)
    with spark_errors():
        changed = ChangedTable.of(lake, table)
    names: dict[Name, str] = dict.fromkeys(
        qualifiers_of(name, statement.alias), statement.alias or name.table
    )
    source_alias = statement.source_alias or (_SOURCE, *statement.source_name)[-1]
    if statement.source_alias is None and statement.source_name:
        names[statement.source_name] = source_alias
    values = ClauseValues(
        table=table,
        statement=replace(statement, condition=with_aliases(statement.condition, names)),
        splicing=splicing,
        source=source.schema,
        aliases=(statement.alias or name.table, source_alias),
        names=names,
        fills=how is not None,
    )
    clauses = Clauses(changed, values)
    clauses.check()
    rows = upserted(changed, values.statement, source, aliases=values.aliases)
    if rows is None or not changed.commit_unique(rows, operation=Operation.MERGE):
        with _prepared(clauses, source) as run:
            run.carry_out(may_be_unique=rows is None)
    return lake.empty()


def _merging(lake: Lake, table: Table, statement: Merge) -> SchemaMerging | None:
    """How the table gets the columns that a star would give it; None where it does not."""
    has_star = any(
        (isinstance(clause, UpdateClause) and clause.assignments is None)
        or (isinstance(clause, InsertClause) and clause.columns is None)
        for clause in (*statement.matched, *statement.not_matched)
    )
    if not has_star:
        return None
    return merging(lake, table, {MERGE: "true"} if statement.evolves else {})


@contextmanager
def _prepared(clauses: Clauses, source: DataFrame) -> Iterator["_Merge"]:
    """A merge whose source is computed once, and of the table what it can be about."""
    if clauses.statement.not_matched_by_source:
        yield _Merge(clauses, source)
        return
    changed = clauses.changed
    # Read several times, the same rows, also of what is random or goes by who comes first.
    with held(changed.lake, source):
        reach = reach_of(source, changed.table, clauses.values.equalities.pairs)
        if reach is None:
            yield _Merge(clauses, source)
            return
        where = find_predicate(changed.lake, changed.table, reach.condition)
        yield _Merge(replace(clauses, changed=replace(changed, where=where)), source, reach)


@dataclass(frozen=True)
class _Merge:
    """A MERGE.

    Attributes:
        clauses: The clauses.
        source: The rows of the source.
        reach: What is known of the rows of the table that it can meet; None for nothing.
    """

    clauses: Clauses
    source: DataFrame
    reach: Reach | None = None

    @property
    def _changed(self) -> ChangedTable:
        return self.clauses.changed

    @property
    def _statement(self) -> Merge:
        return self.clauses.statement

    def carry_out(self, *, may_be_unique: bool) -> None:
        """Writes what the clauses make of the rows, of which no two may have the same key."""
        outcomes = self.clauses.outcomes(self._pairs())
        check = outcomes.check_single if self.clauses.may_change_twice else None
        is_read_once = self._changed.reads_rows_once and (may_be_unique or check is None)
        with nullcontext() if is_read_once else held(self._changed.lake, outcomes.made):
            commit_outcomes(
                self._changed,
                outcomes.rows(),
                outcomes.gone(),
                check=check,
                may_be_unique=may_be_unique,
            )

    @property
    def _columns(self) -> list[str]:
        """The columns of the table that are read."""
        told, table = self._statement, self._changed.table
        clauses = (*told.matched, *told.not_matched_by_source)
        takes_rows = any(isinstance(clause, UpdateClause) for clause in clauses)
        if takes_rows or (clauses and table.primary_keys):
            return list(table.schema.names)
        texts = [told.condition, *(each.condition or "" for each in clauses)]
        words = {token.name.lower() for text in texts for token in tokenize(text) if token.is_name}
        keys = set(table.primary_keys)
        return [n for n in table.schema.names if n.lower() in words or n in keys]

    def _pairs(self) -> DataFrame:
        told, splicing = self._statement, self.clauses.values.splicing
        there, given = (quoted((alias,)) for alias in self.clauses.values.aliases)
        table = self._changed.frame(self._columns).withColumn(IS_THERE, F.expr("true"))
        if self.reach is not None:
            table = table.where(self.reach.condition)
        source = self.source.withColumn(IS_GIVEN, F.expr("true"))
        condition = splicing.piece(told.condition)
        row_there = f"struct({there}.* EXCEPT ({IS_THERE})) AS {THERE}"
        row_given = f"struct({given}.* EXCEPT ({IS_GIVEN})) AS {GIVEN}"
        left, right = f"{{lakebed_there}} AS {there}", f"{{lakebed_given}} AS {given}"
        if not told.matched and not told.not_matched_by_source:
            text = (
                f"SELECT {row_given}, CAST(NULL AS BOOLEAN) AS {IS_THERE},"
                f" {IS_GIVEN} FROM {right} LEFT ANTI JOIN {left} ON {condition}"
            )
            return splicing.query(text, lakebed_there=table, lakebed_given=source)
        if self._finds_rows_first:
            table = splicing.query(
                f"SELECT {there}.* FROM {left} LEFT SEMI JOIN {right} ON {condition}",
                lakebed_there=table,
                lakebed_given=source,
            )
        hint = f"/*+ BROADCAST({there}) */ " if self._finds_few_rows else ""
        text = (
            f"SELECT {hint}{row_there}, {row_given}, {IS_THERE},"
            f" {IS_GIVEN} FROM {left} {self._join} JOIN {right} ON {condition}"
        )
        return splicing.query(text, lakebed_there=table, lakebed_given=source)

    @property
    def _finds_rows_first(self) -> bool:
        """Whether the rows of the table that the source has are found before the two are joined.

        An outer join that keeps the source moves all rows of the table; this need not.
        """
        return bool(self._statement.matched) and not self._statement.not_matched_by_source

    @property
    def _finds_few_rows(self) -> bool:
        """Whether they are so few that every task of the join can have them all.

        Where rows of the source name the key of what they meet, there are no more than of those;
        Spark knows of no such bound, and would move both sides.
        """
        keys = {key.lower() for key in self._changed.table.primary_keys}
        names_key = bool(keys) and keys <= set(self.clauses.values.equalities.pairs)
        return (
            self._finds_rows_first
            and names_key
            and self.reach is not None
            and self.reach.row_count <= _FEW_ROWS
        )

    @property
    def _join(self) -> str:
        takes_given = bool(self._statement.not_matched)
        takes_there = bool(self._statement.not_matched_by_source)
        if takes_given and takes_there:
            return "FULL OUTER"
        return "RIGHT OUTER" if takes_given else "LEFT OUTER" if takes_there else "INNER"
