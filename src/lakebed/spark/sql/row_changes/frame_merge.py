"""How is `DataFrame.mergeInto` run?

As MERGE is in SQL (`merge.py`), of columns instead of texts:

    pairs     the table joined with the source, both with the names that columns may use for them,
              computed once
    sides     the rows of both, of the source alone and of the table alone, each with no columns but
              those that its clauses may name, and with the number of the first that fits
    rows      what the clauses make of them, in one write

A column means the table's where it is written with the table's name, whole or the end of it, and
the source's where it is taken from that frame or from an alias in it, or where only the source has
one of that name. The whole name works since the rows have a struct of that shape, `lake.db.t`,
where some column mentions it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.spark.changed_table import ChangedTable
from lakebed.spark.conditions import analysis_error, spark_errors
from lakebed.spark.evolution import MERGE, evolved, merging
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted, split_name
from lakebed.spark.sql.row_changes.assignments import assigned
from lakebed.spark.sql.row_changes.expressions import qualifier_of, qualifiers_of
from lakebed.spark.sql.row_changes.frame_statements import Change, FrameMerge, Insertion
from lakebed.spark.sql.row_changes.frames import aligned, held
from lakebed.spark.sql.row_changes.outcomes import check_single, commit_outcomes
from lakebed.spark.sql.row_changes.stars import Stars
from lakebed.spark.sql.row_changes.statements import Assignment
from lakebed.spark.sql.statements import Name
from lakebed.table.row_updates import check_updatable
from lakebed.table.table import Table

_IS_THERE, _IS_GIVEN = "__lakebed_is_there", "__lakebed_is_given"
_CHOICE = "__lakebed_choice"
_VALUE = "__lakebed_value_"
# Structs of the columns of the table and of the source, for texts that name them.
_THERE, _GIVEN = "__lakebed_there", "__lakebed_given"
_STAR = "*"

Clause = Change | Insertion


def merge_frame(lake: Lake, statement: FrameMerge) -> None:
    """Merges a frame into a table.

    Raises:
        AnalysisException: What a clause says cannot be.
        SparkRuntimeException: MERGE_CARDINALITY_VIOLATION.
    """
    table = lake.load(statement.name)
    has_star = any(map(_is_star, _clauses_of(statement)))
    how = merging(lake, table, {MERGE: "true"} if statement.evolves else {}) if has_star else None
    if how is not None:
        table = evolved(table, statement.source.schema, how)
    with spark_errors():
        changed = ChangedTable.of(lake, table)
    merge = _FrameMerge(
        changed=changed,
        statement=statement,
        there=_named(changed, statement),
        given=statement.source.select(_STAR, F.expr("true").alias(_IS_GIVEN)),
        fills=how is not None,
    )
    merge.check()
    merge.carry_out()


def _clauses_of(statement: FrameMerge) -> tuple[Clause, ...]:
    return (*statement.matched, *statement.not_matched, *statement.not_matched_by_source)


def _is_star(clause: Clause) -> bool:
    return clause.values is None and not clause.is_deletion


def _named(changed: ChangedTable, statement: FrameMerge) -> DataFrame:
    """The rows of the table under the names that columns use for it."""
    name, columns = statement.name, changed.table.schema.names
    mentioned = " ".join(str(column) for column in _columns_of(statement)).replace("`", "")
    taken = {column.lower() for column in columns}
    rows = changed.frame(columns).select(_STAR, F.expr("true").alias(_IS_THERE))
    inner = F.struct(*(F.col(quoted((each,))) for each in columns)).alias(name.table)
    path = name.table
    for outer in (name.database, name.catalog):
        path = f"{outer}.{path}"
        # Only where it stands there, since the source may have a column that is called like it.
        is_used = re.search(rf"(?<![\w.]){re.escape(path)}\.", mentioned, re.IGNORECASE)
        if is_used and outer.lower() not in taken:
            rows = rows.select(_STAR, F.struct(inner).alias(outer))
        inner = F.struct(inner).alias(outer)
    return rows.alias(name.table)


def _columns_of(statement: FrameMerge) -> Iterator[Column]:
    """All that a user gave."""
    yield statement.condition
    for clause in _clauses_of(statement):
        if clause.condition is not None:
            yield clause.condition
        yield from (clause.values or {}).values()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """Rows that some clauses are about.

    Attributes:
        rows: The rows, each with the number of the clause that fits, or -1.
        clauses: The clauses.
        is_there: Whether the rows have columns of the table.
        is_given: Whether they have those of the source.
    """

    rows: DataFrame
    clauses: Sequence[Clause]
    is_there: bool
    is_given: bool


@dataclass(frozen=True, kw_only=True)
class _FrameMerge:
    """A merge.

    Attributes:
        changed: The table.
        statement: The merge.
        there: The rows of the table.
        given: The rows of the source.
        fills: Whether the source may lack columns that a star gives.
    """

    changed: ChangedTable
    statement: FrameMerge
    there: DataFrame
    given: DataFrame
    fills: bool

    @property
    def table(self) -> Table:
        """The table."""
        return self.changed.table

    def check(self) -> None:
        """Refuses what the table would not do as told, but for new values of its key."""
        clauses = (*self.statement.matched, *self.statement.not_matched_by_source)
        updates = [clause for clause in clauses if not clause.is_deletion]
        names = {name for clause in updates for name in self._texts(clause)}
        if updates and self.table.primary_keys:
            with spark_errors():
                checked = frozenset(names - set(self.table.primary_keys))
                check_updatable(self.changed.parts, self.changed.base, checked)

    def carry_out(self) -> None:
        """Writes what the clauses make of the rows."""
        lake, told = self.changed.lake, self.statement
        with ExitStack() as stack:
            if told.matched and not told.not_matched_by_source:
                # Read twice, and the same rows, also of what is random or goes by who comes first.
                stack.enter_context(held(lake, self.given))
            pairs = stack.enter_context(held(lake, self._pairs()))
            sides = list(self._sides(pairs))
            for side in sides:
                self._check_side(side)
            check = next((check for side in sides if (check := self._check_of(side))), None)
            rows = [made for side in sides for made in self._made(side)]
            gone = []
            if not self.table.primary_keys:
                changed = [side.rows.where(f"{_CHOICE} >= 0") for side in sides if side.is_there]
                gone = [each.select(*self._places) for each in changed]
            commit_outcomes(self.changed, rows, gone, check=check)

    @property
    def _places(self) -> list[Column]:
        return [self.there[quoted((each,))] for each in self.changed.identity]

    def _pairs(self) -> DataFrame:
        there, given, on = self.there, self.given, self.statement.condition
        takes_given = bool(self.statement.not_matched)
        takes_there = bool(self.statement.not_matched_by_source)
        if takes_given and not self.statement.matched and not takes_there:
            return given.join(there, on, "left_anti")
        if takes_there:
            return there.join(given, on, "full_outer" if takes_given else "left_outer")
        # An outer join that keeps the source moves all rows of the table; this need not. The source
        # is on the left: of columns that are on both sides Spark gives those on the right new ids.
        found = there.join(given, on, "left_semi")
        return given.join(found, on, "left_outer" if takes_given else "inner")

    def _sides(self, pairs: DataFrame) -> Iterator[_Side]:
        told = self.statement
        if told.matched:
            both = pairs.where(f"{_IS_THERE} AND {_IS_GIVEN}")
            yield self._side(both, told.matched, is_there=True, is_given=True)
        if told.not_matched:
            is_apart = _IS_THERE not in pairs.columns
            alone = pairs if is_apart else pairs.where(f"{_IS_THERE} IS NULL")
            rows = alone.select(self.given[_STAR])
            yield self._side(rows, told.not_matched, is_there=False, is_given=True)
        if told.not_matched_by_source:
            rows = pairs.where(f"{_IS_GIVEN} IS NULL").select(self.there[_STAR])
            yield self._side(rows, told.not_matched_by_source, is_there=True, is_given=False)

    @staticmethod
    def _side(
        rows: DataFrame, clauses: Sequence[Clause], *, is_there: bool, is_given: bool
    ) -> _Side:
        choice = F.lit(-1)
        for number, clause in reversed(list(enumerate(clauses))):
            condition = F.expr("true") if clause.condition is None else clause.condition
            choice = F.when(condition, F.lit(number)).otherwise(choice)
        chosen = rows.select(_STAR, choice.alias(_CHOICE))
        return _Side(rows=chosen, clauses=clauses, is_there=is_there, is_given=is_given)

    def _check_of(self, side: _Side) -> Callable[[], None] | None:
        """Refuses a row of the table for which several rows of the source say what it becomes."""
        first = side.clauses[0]
        goes_anyhow = len(side.clauses) == 1 and first.is_deletion and first.condition is None
        if goes_anyhow or not (side.is_there and side.is_given):
            return None
        return partial(check_single, side.rows.where(f"{_CHOICE} >= 0"), self._places)

    def _check_side(self, side: _Side) -> None:
        """Refuses other values for a key."""
        for number, clause in enumerate(side.clauses):
            if isinstance(clause, Change) and not clause.is_deletion:
                self._check_keys(side, number, clause)

    def _check_keys(self, side: _Side, number: int, clause: Change) -> None:
        texts = self._texts(clause)
        keys = [key for key in self.table.primary_keys if key in texts]
        if not keys:
            return
        rows = self._valued(side, number, clause)
        for key in keys:
            moved = f"NOT ({texts[key]} <=> {quoted((_THERE, key))})"
            if rows.where(F.expr(moved)).limit(1).count():
                with spark_errors():
                    check_updatable(self.changed.parts, self.changed.base, frozenset([key]))

    def _made(self, side: _Side) -> Iterator[DataFrame]:
        """The rows of the table that the clauses of a side make."""
        for number, clause in enumerate(side.clauses):
            if clause.is_deletion and not self.table.primary_keys:
                continue
            values = {name: quoted((_THERE, name)) for name in self.table.schema.names}
            kind = "-D"
            if isinstance(clause, Insertion):
                values, kind = self._texts(clause), "+I"
            elif not clause.is_deletion:
                keys = self.table.primary_keys
                new = self._texts(clause).items()
                values |= {name: text for name, text in new if name not in keys}
                values |= {name: quoted((_THERE, name)) for name in self.changed.brought}
                kind = "+U"
            rows = self._valued(side, number, clause)
            made = rows.select(
                *(F.expr(text).alias(f"_{index}") for index, text in enumerate(values.values()))
            )
            table = self.changed.written if kind == "+U" else self.table
            yield aligned(made, table, columns=list(values), kind=kind, fills=self.fills)

    def _valued(self, side: _Side, number: int, clause: Clause) -> DataFrame:
        """The rows of a clause: its values, and what is there and given as structs."""
        wholes = [self.there[_STAR]] if side.is_there else []
        columns = [F.struct(each).alias(_THERE) for each in wholes]
        if side.is_given:
            columns.append(F.struct(self.given[_STAR]).alias(_GIVEN))
        values = (clause.values or {}).values()
        columns += [value.alias(f"{_VALUE}{index}") for index, value in enumerate(values)]
        return side.rows.where(F.col(_CHOICE) == number).select(*columns)

    def _texts(self, clause: Clause) -> dict[str, str]:
        """What columns get, in the words of `_valued`; nothing for a deletion."""
        if clause.is_deletion:
            return {}
        if clause.values is None:
            stars = Stars(
                table=self.table,
                source=self.statement.source.schema,
                aliases=(_THERE, _GIVEN),
                fills=self.fills,
            )
            return stars.updated() if isinstance(clause, Change) else stars.inserted()
        with spark_errors():
            paths = [split_name(column) for column in clause.values]
        qualifiers = qualifiers_of(self.statement.name, None)
        if isinstance(clause, Insertion):
            _check_whole(paths, qualifiers)
        assignments = [Assignment(path, f"{_VALUE}{index}") for index, path in enumerate(paths)]
        return assigned(self.table, assignments, qualifiers, alias=_THERE)


def _check_whole(paths: Iterable[Name], qualifiers: Sequence[Name]) -> None:
    """Refuses a new row that is told a part of a column."""
    for path in paths:
        found = qualifier_of(path, dict.fromkeys(qualifiers, ""))
        rest = path if found is None else path[found[1] :]
        if len(rest) > 1:
            raise analysis_error(
                "LAKEBED_INVALID_ARGUMENT",
                f"insert(): {'.'.join(path)!r} is a part of a column; a new row gets whole columns,"
                " a STRUCT with F.struct",
            )
