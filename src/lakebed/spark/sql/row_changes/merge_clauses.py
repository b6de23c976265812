"""What do the clauses of a MERGE make of a pair of rows?

    pairs      rows of the table and of the source as structs, and which of both are there
    chosen     each pair with the number of the first clause that fits, and with the values of each
               clause, which are NULL but for the pairs that have its number
    outcomes   the values of the pair's own clause, as a row of the table

All of that is one pass over the pairs. A clause sees what Spark lets it see: both sides, or the one
that there is; so the clauses of each kind of pair are put into a query that shows no more.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql import types as spark_types

from lakebed.spark.alignment import columns_by_name
from lakebed.spark.changed_table import ChangedTable
from lakebed.spark.conditions import analysis_error, spark_errors
from lakebed.spark.names import quoted
from lakebed.spark.sql.row_changes.clause_values import ClauseValues
from lakebed.spark.sql.row_changes.frames import others_of
from lakebed.spark.sql.row_changes.outcomes import check_single
from lakebed.spark.sql.row_changes.statements import (
    DeleteClause,
    InsertClause,
    Merge,
    UpdateClause,
)
from lakebed.table.row_updates import check_updatable
from lakebed.table.table import Table
from lakebed.table.writing.row_kinds import ROW_KIND

THERE, GIVEN = "__lakebed_there_row", "__lakebed_given_row"
"""Columns of pairs: the row of the table, and that of the source."""
IS_THERE, IS_GIVEN = "__lakebed_is_there", "__lakebed_is_given"
"""Columns of pairs: true where there is one, and else null."""
_CHOICE = "__lakebed_choice"

Clause = UpdateClause | DeleteClause | InsertClause


@dataclass(frozen=True, slots=True)
class _Kind:
    """Pairs of a kind, and what is done to them.

    Attributes:
        condition: What is true of such pairs alone.
        shown: The columns that clauses see, by their aliases.
        clauses: The clauses, by their numbers.
    """

    condition: str
    shown: dict[str, str]
    clauses: dict[int, Clause]

    @property
    def choice(self) -> str:
        """The column with the number of the clause that fits."""
        return f"{_CHOICE}_{min(self.clauses)}"


@dataclass(frozen=True, slots=True)
class _Row:
    """The row that a clause makes.

    Attributes:
        values: What columns of the table get, by their names.
        kind: The kind of the row.
        table: The table, with all columns of such rows.
    """

    values: dict[str, str]
    kind: str
    table: Table


@dataclass(frozen=True)
class Clauses:
    """The clauses of a MERGE.

    Attributes:
        changed: The table.
        values: What they give to its columns.
    """

    changed: ChangedTable
    values: ClauseValues

    @property
    def table(self) -> Table:
        """The table."""
        return self.changed.table

    @property
    def statement(self) -> Merge:
        """The statement."""
        return self.values.statement

    def check(self) -> None:
        """Refuses what the table would not do as told."""
        for clauses in (self.statement.matched, self.statement.not_matched):
            if any(clause.condition is None for clause in clauses[:-1]):
                raise analysis_error(
                    "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
                    "When there are more than one MATCHED clauses in a MERGE statement, only the"
                    " last MATCHED clause can omit the condition.",
                )
        updates = [each for each in self._all if isinstance(each, UpdateClause)]
        names = frozenset(name for clause in updates for name in self.values.updated(clause))
        if updates and self.table.primary_keys:
            with spark_errors():
                check_updatable(self.changed.parts, self.changed.base, names)

    def outcomes(self, pairs: DataFrame) -> "Outcomes":
        """What becomes of pairs.

        Args:
            pairs: The rows of the table that are read (`THERE`), those of the source (`GIVEN`), and
                which of both are there (`IS_THERE`, `IS_GIVEN`).
        """
        made = {number: self._row_of(clause) for number, clause in enumerate(self._all)}
        rows = {number: row for number, row in made.items() if row is not None}
        kinds = list(self._kinds)
        chosen = reduce(partial(self._choose, rows=rows), kinds, pairs)
        choices = [F.col(kind.choice) for kind in kinds]
        told = chosen.withColumn(_CHOICE, F.coalesce(*choices)).where(f"{_CHOICE} IS NOT NULL")
        places = self.changed.identity if THERE in pairs.columns else ()
        columns = [
            *(F.col(quoted((THERE, name))).alias(_place(i)) for i, name in enumerate(places)),
            *self._columns(chosen.schema, rows),
        ]
        return Outcomes(told.select(_CHOICE, *columns), self)

    @property
    def matched(self) -> list[int]:
        """The numbers of the clauses for rows of both."""
        return list(range(len(self.statement.matched)))

    @property
    def changing(self) -> list[int]:
        """Of those for rows of the table."""
        return [n for n, each in enumerate(self._all) if not isinstance(each, InsertClause)]

    @property
    def keeping_ids(self) -> list[int]:
        """Of those whose rows keep the ids that they have."""
        if not self.changed.is_tracked:
            return []
        return [n for n, each in enumerate(self._all) if isinstance(each, UpdateClause)]

    @property
    def making_others(self) -> list[int]:
        """Of those that make rows without an id, or that go where the table has a primary key."""
        goes = () if self.table.primary_keys else (DeleteClause,)
        keeping = self.keeping_ids
        return [
            n for n, each in enumerate(self._all) if not isinstance(each, goes) and n not in keeping
        ]

    @property
    def may_change_twice(self) -> bool:
        """Whether it matters that several rows of the source meet one of the table."""
        clauses = self.statement.matched
        goes_anyhow = len(clauses) == 1 and isinstance(clauses[0], DeleteClause)
        return bool(clauses) and not (goes_anyhow and clauses[0].condition is None)

    @cached_property
    def _all(self) -> list[Clause]:
        told = self.statement
        return [*told.matched, *told.not_matched, *told.not_matched_by_source]

    @property
    def _kinds(self) -> Iterator[_Kind]:
        there, given = self.values.aliases
        told = self.statement
        numbered = iter(enumerate(self._all))
        for condition, shown, clauses in (
            (f"{IS_THERE} AND {IS_GIVEN}", {there: THERE, given: GIVEN}, told.matched),
            (f"{IS_THERE} IS NULL", {given: GIVEN}, told.not_matched),
            (f"{IS_GIVEN} IS NULL", {there: THERE}, told.not_matched_by_source),
        ):
            if clauses:
                yield _Kind(condition, shown, dict(islice(numbered, len(clauses))))

    def _choose(self, pairs: DataFrame, kind: _Kind, *, rows: Mapping[int, _Row]) -> DataFrame:
        """The pairs with the choice among the clauses of a kind, and with the values of each.

        Values are computed for the pairs of their clause alone: for others they may be errors.
        """
        choice = kind.choice
        cases = [
            f"WHEN {self.values.piece(clause.condition or 'TRUE')} THEN {number}"
            for number, clause in kind.clauses.items()
        ]
        values = [
            f"CASE WHEN {choice} = {number} THEN {value} END AS {_value(number, index)}"
            for number in kind.clauses
            if number in rows
            for index, value in enumerate(rows[number].values.values())
        ]
        text = ", ".join([*(quoted((name,)) for name in pairs.columns), choice, *values])
        return self.values.splicing.query(
            f"SELECT {text} FROM (SELECT *, CASE WHEN {kind.condition} THEN CASE {' '.join(cases)}"
            f" END END AS {choice} FROM {{lakebed_seen}})",
            lakebed_seen=_seen(pairs, kind),
        )

    def _columns(
        self, schema: spark_types.StructType, rows: Mapping[int, _Row]
    ) -> Iterator[Column]:
        """The columns of the row of a pair, each that of its clause."""
        if not rows:
            return
        found = {number: self._aligned(schema, number, row) for number, row in rows.items()}
        is_chosen = {number: F.col(_CHOICE) == number for number in rows}
        for name in self.changed.written.schema.names:
            own = {number: columns[name] for number, columns in found.items() if name in columns}
            if own:
                yield _of_its_clause(own, is_chosen).alias(name)
        if self.table.primary_keys:
            kinds = {number: F.lit(row.kind) for number, row in rows.items()}
            yield _of_its_clause(kinds, is_chosen).alias(ROW_KIND)

    def _aligned(self, schema: spark_types.StructType, number: int, row: _Row) -> dict[str, Column]:
        """What a clause gives to the columns of the table."""
        sources = []
        for index, name in enumerate(row.values):
            value = _value(number, index)
            field = spark_types.StructField(name, schema[value].dataType)
            sources.append((field, F.col(value)))
        fixed = others_of(row.table, row.values)
        return columns_by_name(sources, row.table, fixed=fixed, fills=self.values.fills)

    def _row_of(self, clause: Clause) -> _Row | None:
        """The row that a clause makes; None where it makes none."""
        if isinstance(clause, InsertClause):
            return _Row(self.values.inserted(clause), "+I", self.table)
        there = self.values.aliases[0]
        values = {name: quoted((there, name)) for name in self.table.schema.names}
        if isinstance(clause, UpdateClause):
            values |= {
                name: self.values.piece(text) for name, text in self.values.updated(clause).items()
            }
            values |= {name: quoted((there, name)) for name in self.changed.brought}
            return _Row(values, "+U", self.changed.written)
        return _Row(values, "-D", self.table) if self.table.primary_keys else None


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What clauses made of pairs.

    Attributes:
        made: A row for each pair that a clause fits: the clause's number, where the row of the
            table is, and the row that there is to be.
        clauses: The clauses.
    """

    made: DataFrame
    clauses: Clauses

    def rows(self) -> list[DataFrame]:
        """The rows that are written; those that keep their ids are a frame of their own."""
        table, written = self.clauses.table, self.clauses.changed.written
        kinds = [ROW_KIND] if table.primary_keys else []
        groups = (
            (self.clauses.making_others, [*table.schema.names, *kinds]),
            (self.clauses.keeping_ids, written.schema.names),
        )
        return [
            self._of(numbers).select(*(F.col(quoted((name,))) for name in names))
            for numbers, names in groups
            if numbers
        ]

    def gone(self) -> list[DataFrame]:
        """The places of rows of a table without a primary key that are changed or go."""
        numbers = self.clauses.changing
        if self.clauses.table.primary_keys or not numbers:
            return []
        places = enumerate(self.clauses.changed.identity)
        return [self._of(numbers).select(*(F.col(_place(i)).alias(name) for i, name in places))]

    def check_single(self) -> None:
        """Refuses a row of the table for which several rows of the source say what it becomes."""
        count = len(self.clauses.changed.identity)
        check_single(self._of(self.clauses.matched), [F.col(_place(i)) for i in range(count)])

    def _of(self, numbers: Sequence[int]) -> DataFrame:
        return self.made.where(F.col(_CHOICE).isin(list(numbers)))


def _place(index: int) -> str:
    return f"__lakebed_place_{index}"


def _value(number: int, index: int) -> str:
    return f"__lakebed_value_{number}_{index}"


def _of_its_clause(columns: Mapping[int, Column], is_chosen: Mapping[int, Column]) -> Column:
    """Of each pair the column of its clause."""
    (first, value), *others = ((is_chosen[number], column) for number, column in columns.items())
    return reduce(lambda column, case: column.when(*case), others, F.when(first, value))


def _seen(pairs: DataFrame, kind: _Kind) -> DataFrame:
    """Pairs with what clauses may name: rows by aliases, columns bare where one side has them."""
    schema = pairs.schema
    found = [
        (side, field.name) for side in kind.shown.values() for field in _struct(schema, side).fields
    ]
    taken = Counter([*map(str.lower, kind.shown), *(name.lower() for _, name in found)])
    return pairs.select(
        *(F.col(name) for name in pairs.columns),
        *(F.col(side).alias(alias) for alias, side in kind.shown.items()),
        *(
            F.col(quoted((side, name))).alias(name)
            for side, name in found
            if taken[name.lower()] == 1
        ),
    )


def _struct(schema: spark_types.StructType, name: str) -> spark_types.StructType:
    kind = schema[name].dataType
    assert isinstance(kind, spark_types.StructType)
    return kind
