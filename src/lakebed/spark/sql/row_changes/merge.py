"""How is MERGE run?

    pairs     the table joined with the source, a column of structs each, computed once
    choices   the rows of both, of the source alone and of the table alone, each with the number of
              the first clause whose condition it meets
    rows      what the clauses make of them, in one write

A clause sees what Spark lets it see: both sides, or the one that there is. A merge by the primary
key that puts whole rows of the source, whether or not they are there, is an upsert: the table is
not read.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.format.snapshot import Operation
from lakebed.spark.changed_table import ChangedTable
from lakebed.spark.conditions import analysis_error, spark_errors, unknown_column
from lakebed.spark.evolution import MERGE, evolved, merging
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.schema_merging import SchemaMerging
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.default_words import default_of, is_default
from lakebed.spark.sql.row_changes.assignments import assigned
from lakebed.spark.sql.row_changes.expressions import (
    find_predicate,
    qualifiers_of,
    with_aliases,
)
from lakebed.spark.sql.row_changes.frames import Splicing, aligned, held
from lakebed.spark.sql.row_changes.outcomes import check_single, commit_outcomes
from lakebed.spark.sql.row_changes.source_range import reach_of
from lakebed.spark.sql.row_changes.stars import Stars
from lakebed.spark.sql.row_changes.statements import (
    DeleteClause,
    InsertClause,
    Merge,
    UpdateClause,
)
from lakebed.spark.sql.row_changes.upsert import Equalities, upserted
from lakebed.spark.sql.statements import Name
from lakebed.spark.sql.tokens import tokenize
from lakebed.table.row_updates import check_updatable
from lakebed.table.table import Table

_IS_THERE, _IS_GIVEN = "__lakebed_is_there", "__lakebed_is_given"
_CHOICE = "__lakebed_choice"
_SOURCE = "__lakebed_source"

Clause = UpdateClause | DeleteClause | InsertClause


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
    run = _Merge(
        changed=changed,
        statement=statement,
        splicing=splicing,
        source=source,
        aliases=(statement.alias or name.table, source_alias),
        names=names,
        fills=how is not None,
    )
    run.check()
    named = replace(statement, condition=with_aliases(statement.condition, names))
    rows = upserted(changed, named, source, aliases=run.aliases)
    if rows is None or not changed.commit_unique(rows, operation=Operation.MERGE):
        with run.prepared() as prepared:
            prepared.carry_out(may_be_unique=rows is None)
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


@dataclass(frozen=True, kw_only=True)
class _Merge:
    """A MERGE.

    Attributes:
        changed: The table.
        statement: The statement.
        splicing: Runs its pieces.
        source: The rows of the source.
        aliases: Of the table and of the source.
        names: Whole names that the statement may use instead of them.
        fills: Whether the source may lack columns that a star gives.
        reach: What is true of every row of the table that the source can meet; None for nothing.
    """

    changed: ChangedTable
    statement: Merge
    splicing: Splicing
    source: DataFrame
    aliases: tuple[str, str]
    names: dict[Name, str]
    fills: bool
    reach: str | None = None

    @property
    def table(self) -> Table:
        """The table."""
        return self.changed.table

    def check(self) -> None:
        """Refuses what the table would not do as told."""
        updates = [
            clause
            for clause in (*self.statement.matched, *self.statement.not_matched_by_source)
            if isinstance(clause, UpdateClause)
        ]
        for clauses in (self.statement.matched, self.statement.not_matched):
            if any(clause.condition is None for clause in clauses[:-1]):
                raise analysis_error(
                    "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
                    "When there are more than one MATCHED clauses in a MERGE statement, only the"
                    " last MATCHED clause can omit the condition.",
                )
        names = frozenset(name for clause in updates for name in self._values(clause))
        if updates and self.table.primary_keys:
            with spark_errors():
                check_updatable(self.changed.parts, self.changed.base, names)

    @contextmanager
    def prepared(self) -> Iterator["_Merge"]:
        """The same with a source that is computed once, and of the table what it can be about."""
        if self.statement.not_matched_by_source:
            yield self
            return
        lake = self.changed.lake
        # Read several times, the same rows, also of what is random or goes by who comes first.
        with held(lake, self.source) as source:
            condition = with_aliases(self.statement.condition, self.names)
            pairs = Equalities.of(condition, self.aliases).pairs
            reach = reach_of(source, self.table, pairs)
            where = None if reach is None else find_predicate(lake, self.table, reach)
            yield replace(
                self, source=source, changed=replace(self.changed, where=where), reach=reach
            )

    def carry_out(self, *, may_be_unique: bool) -> None:
        """Writes what the clauses make of the rows, of which no two may have the same key."""
        with held(self.changed.lake, self._pairs()) as pairs:
            both, given, there = self._choices(pairs)
            rows = [
                *self._new_rows(both, self.statement.matched),
                *self._new_rows(given, self.statement.not_matched),
                *self._new_rows(there, self.statement.not_matched_by_source),
            ]
            gone = []
            if not self.table.primary_keys:
                taken = [each for each in (both, there) if each is not None]
                gone = [each.where(f"{_CHOICE} >= 0").select(*self._places) for each in taken]
            check = self._check_of(both)
            commit_outcomes(self.changed, rows, gone, check=check, may_be_unique=may_be_unique)

    @property
    def _places(self) -> list[str]:
        return [f"{quoted((self.aliases[0], each))}" for each in self.changed.identity]

    @cached_property
    def _columns(self) -> list[str]:
        """The columns of the table that are read."""
        clauses = (*self.statement.matched, *self.statement.not_matched_by_source)
        takes_rows = any(isinstance(clause, UpdateClause) for clause in clauses)
        if takes_rows or (clauses and self.table.primary_keys):
            return list(self.table.schema.names)
        texts = [self.statement.condition, *(each.condition or "" for each in clauses)]
        words = {token.name.lower() for text in texts for token in tokenize(text) if token.is_name}
        keys = set(self.table.primary_keys)
        return [n for n in self.table.schema.names if n.lower() in words or n in keys]

    @property
    def _finds_rows_first(self) -> bool:
        """Whether the rows of the table that the source has are found before the two are joined.

        An outer join that keeps the source moves all rows of the table; this need not.
        """
        return bool(self.statement.matched) and not self.statement.not_matched_by_source

    def _pairs(self) -> DataFrame:
        there, given = self.aliases
        table = self.changed.frame(self._columns).withColumn(_IS_THERE, F.expr("true"))
        if self.reach is not None:
            table = table.where(self.reach)
        source = self.source.withColumn(_IS_GIVEN, F.expr("true"))
        condition = self._piece(self.statement.condition)
        sides = {
            there: f"{{lakebed_there}} AS {quoted((there,))}",
            given: f"{{lakebed_given}} AS {quoted((given,))}",
        }
        if not self.statement.matched and not self.statement.not_matched_by_source:
            text = (
                f"SELECT struct({quoted((given,))}.*) AS {quoted((given,))},"
                f" CAST(NULL AS BOOLEAN) AS {_IS_THERE}, {_IS_GIVEN}"
                f" FROM {sides[given]} LEFT ANTI JOIN {sides[there]} ON {condition}"
            )
        else:
            if self._finds_rows_first:
                table = self.splicing.query(
                    f"SELECT {quoted((there,))}.* FROM {sides[there]}"
                    f" LEFT SEMI JOIN {sides[given]} ON {condition}",
                    lakebed_there=table,
                    lakebed_given=source,
                )
            text = (
                f"SELECT struct({quoted((there,))}.*) AS {quoted((there,))},"
                f" struct({quoted((given,))}.*) AS {quoted((given,))}, {_IS_THERE}, {_IS_GIVEN}"
                f" FROM {sides[there]} {self._join} JOIN {sides[given]} ON {condition}"
            )
        pairs = self.splicing.query(text, lakebed_there=table, lakebed_given=source)
        # Named anew: `s.*` would mean the column that comes from the alias s, not the struct.
        return pairs.toDF(*pairs.columns)

    @property
    def _join(self) -> str:
        takes_given = bool(self.statement.not_matched)
        takes_there = bool(self.statement.not_matched_by_source)
        if takes_given and takes_there:
            return "FULL OUTER"
        return "RIGHT OUTER" if takes_given else "LEFT OUTER" if takes_there else "INNER"

    def _choices(
        self, pairs: DataFrame
    ) -> tuple[DataFrame | None, DataFrame | None, DataFrame | None]:
        """The rows of both, of the source alone and of the table alone; None without a clause."""
        there, given = self.aliases
        statement = self.statement
        paired = pairs.where(f"{_IS_THERE} AND {_IS_GIVEN}")
        alone, left = pairs.where(f"{_IS_THERE} IS NULL"), pairs.where(f"{_IS_GIVEN} IS NULL")
        return (
            self._chosen(paired, statement.matched, (there, given)),
            self._chosen(alone, statement.not_matched, (given,)),
            self._chosen(left, statement.not_matched_by_source, (there,)),
        )

    def _chosen(
        self, rows: DataFrame, clauses: Sequence[Clause], sides: tuple[str, ...]
    ) -> DataFrame | None:
        """Rows with the numbers of their clauses, and bare columns where one side has them."""
        if not clauses:
            return None
        seen = rows.select(*map(_quoted, sides), *self._bare_columns(rows, sides))
        cases = [
            f"WHEN {self._piece(clause.condition or 'TRUE')} THEN {number}"
            for number, clause in enumerate(clauses)
        ]
        return self.splicing.query(
            f"SELECT *, CASE {' '.join(cases)} ELSE -1 END AS {_CHOICE} FROM {{lakebed_seen}}",
            lakebed_seen=seen,
        )

    @staticmethod
    def _bare_columns(rows: DataFrame, sides: tuple[str, ...]) -> list[str]:
        """The columns that need no alias before them."""
        found = [
            (side, name) for side in sides for name in rows.select(f"{quoted((side,))}.*").columns
        ]
        taken = [*map(str.lower, sides), *(name.lower() for _, name in found)]
        return [quoted(each) for each in found if taken.count(each[1].lower()) == 1]

    def _check_of(self, both: DataFrame | None) -> Callable[[], None] | None:
        """Refuses a row of the table for which several rows of the source say what it becomes."""
        clauses = self.statement.matched
        only_deletes = len(clauses) == 1 and isinstance(clauses[0], DeleteClause)
        if both is None or (only_deletes and clauses[0].condition is None):
            return None
        places = [F.col(each) for each in self._places]
        return partial(check_single, both.where(f"{_CHOICE} >= 0"), places)

    def _new_rows(self, chosen: DataFrame | None, clauses: Sequence[Clause]) -> list[DataFrame]:
        found = []
        for number, clause in enumerate(clauses):
            if chosen is None or (isinstance(clause, DeleteClause) and not self.table.primary_keys):
                continue
            rows = chosen.where(f"{_CHOICE} = {number}")
            found.append(self._made(rows, clause))
        return found

    def _made(self, rows: DataFrame, clause: Clause) -> DataFrame:
        """The rows of the table that a clause makes."""
        there = self.aliases[0]
        values = {name: quoted((there, name)) for name in self.table.schema.names}
        kind = "-D"
        if isinstance(clause, UpdateClause):
            kind = "+U"
            values |= {name: self._piece(text) for name, text in self._values(clause).items()}
            values |= {name: quoted((there, name)) for name in self.changed.brought}
        elif isinstance(clause, InsertClause):
            values, kind = self._inserted(clause), "+I"
        text = ", ".join(f"{value} AS `_{index}`" for index, value in enumerate(values.values()))
        made = self.splicing.query(f"SELECT {text} FROM {{lakebed_rows}}", lakebed_rows=rows)
        table = self.changed.written if kind == "+U" else self.table
        return aligned(made, table, columns=list(values), kind=kind, fills=self.fills)

    def _values(self, clause: UpdateClause) -> dict[str, str]:
        """What an UPDATE assigns, less the key that it says again."""
        if clause.assignments is None:
            values = self._stars.updated()
        else:
            names = [name for name, alias in self.names.items() if alias == self.aliases[0]]
            there = self.aliases[0]
            values = assigned(self.table, clause.assignments, [*names, (there,)], alias=there)
        keys = self._same_keys()
        return {
            name: text for name, text in values.items() if _plain(text) != keys.get(name.lower())
        }

    def _same_keys(self) -> dict[str, str]:
        """The column of the source that the condition says equals a key column, by its name."""
        condition = with_aliases(self.statement.condition, self.names)
        keys = {key.lower() for key in self.table.primary_keys}
        return {
            column: f"{self.aliases[1]}.{other}".lower()
            for column, other in Equalities.of(condition, self.aliases).pairs.items()
            if column in keys
        }

    def _inserted(self, clause: InsertClause) -> dict[str, str]:
        names = self.table.schema.names
        if clause.columns is None or clause.values is None:
            return self._stars.inserted()
        own = {name.lower(): name for name in names}
        for column in clause.columns:
            if column.lower() not in own:
                raise unknown_column(column, names)
        pairs = zip(clause.columns, clause.values, strict=True)
        return {
            own[column.lower()]: default_of(self.table, own[column.lower()])
            if is_default(text)
            else self._piece(text)
            for column, text in pairs
        }

    @property
    def _stars(self) -> Stars:
        return Stars(
            table=self.table,
            source=self.source.schema,
            aliases=self.aliases,
            fills=self.fills,
        )

    def _piece(self, text: str) -> str:
        return self.splicing.piece(with_aliases(text, self.names))


def _quoted(name: str) -> str:
    return quoted((name,))


def _plain(text: str) -> str:
    """A text in which names are bare and in lower case."""
    return "".join(token.name.lower() if token.is_name else token.text for token in tokenize(text))
