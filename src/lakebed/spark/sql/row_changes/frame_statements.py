"""What is a merge of a frame into a table told: `DataFrame.mergeInto` and what is called behind it?

The calls are those of PySpark's `MergeIntoWriter`, which is of one shape on classic Spark and of
another on Spark Connect; here they are only written down, until `merge()` carries them out.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pyspark.sql import Column, DataFrame

from lakebed.spark.conditions import analysis_error
from lakebed.spark.names import TableName


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What becomes of rows of the table.

    Attributes:
        condition: Of which of them; None for all.
        values: What columns get; None for the columns of the source.
        is_deletion: Whether the rows go instead.
    """

    condition: Column | None
    values: Mapping[str, Column] | None = None
    is_deletion: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion:
    """What rows of the source become; `values` is None for their columns."""

    is_deletion: ClassVar[bool] = False

    condition: Column | None
    values: Mapping[str, Column] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameMerge:
    """A merge.

    Attributes:
        name: The table.
        source: The frame.
        condition: Which rows of both belong together.
        evolves: Whether the table gets the columns that only the source has.
        matched: Clauses for rows of both, of which the first that fits holds.
        not_matched: Clauses for rows of the source alone.
        not_matched_by_source: Clauses for rows of the table alone.
    """

    name: TableName
    source: DataFrame
    condition: Column
    evolves: bool = False
    matched: tuple[Change, ...] = ()
    not_matched: tuple[Insertion, ...] = ()
    not_matched_by_source: tuple[Change, ...] = ()


@dataclass(slots=True)
class FrameMergeWriter:
    """Collects the clauses of a merge.

    Attributes:
        statement: The merge as it is told so far.
        run: Carries it out.
    """

    statement: FrameMerge
    run: Callable[[FrameMerge], None] = field(repr=False)

    def whenMatched(self, condition: Column | None = None) -> "WhenMatched":
        """Rows of both, for which a condition is true."""
        return WhenMatched(self, condition)

    def whenNotMatched(self, condition: Column | None = None) -> "WhenNotMatched":
        """Rows of the source alone, for which a condition is true."""
        return WhenNotMatched(self, condition)

    def whenNotMatchedBySource(self, condition: Column | None = None) -> "WhenNotMatchedBySource":
        """Rows of the table alone, for which a condition is true."""
        return WhenNotMatchedBySource(self, condition)

    def withSchemaEvolution(self) -> "FrameMergeWriter":
        """Lets the table get the columns that only the source has."""
        self.statement = replace(self.statement, evolves=True)
        return self

    def merge(self) -> None:
        """Carries the merge out.

        Raises:
            AnalysisException: NO_MERGE_ACTION_SPECIFIED, and whatever the merge is refused for.
        """
        told = self.statement
        if not (told.matched or told.not_matched or told.not_matched_by_source):
            raise analysis_error(
                "NO_MERGE_ACTION_SPECIFIED",
                "df.mergeInto needs to be followed by at least one of whenMatched/whenNotMatched"
                "/whenNotMatchedBySource.",
            )
        self.run(told)


@dataclass(frozen=True, slots=True)
class _Changing(ABC):
    """What becomes of rows of the table."""

    writer: FrameMergeWriter
    condition: Column | None

    def update(self, assignments: Mapping[str, Column]) -> FrameMergeWriter:
        """Some columns get new values."""
        return self._with(Change(condition=self.condition, values=dict(assignments)))

    def delete(self) -> FrameMergeWriter:
        """The rows go."""
        return self._with(Change(condition=self.condition, is_deletion=True))

    @abstractmethod
    def _with(self, change: Change) -> FrameMergeWriter:
        """The merge with one more clause."""


@dataclass(frozen=True, slots=True)
class WhenMatched(_Changing):
    """What becomes of rows of both."""

    def updateAll(self) -> FrameMergeWriter:
        """Each column gets the source's of the same name."""
        return self._with(Change(condition=self.condition))

    def _with(self, change: Change) -> FrameMergeWriter:
        told = self.writer.statement
        self.writer.statement = replace(told, matched=(*told.matched, change))
        return self.writer


@dataclass(frozen=True, slots=True)
class WhenNotMatched:
    """What rows of the source alone become."""

    writer: FrameMergeWriter
    condition: Column | None

    def insertAll(self) -> FrameMergeWriter:
        """Each column gets the source's of the same name."""
        return self._with(Insertion(condition=self.condition))

    def insert(self, assignments: Mapping[str, Column]) -> FrameMergeWriter:
        """Columns get values; the others their default, or null."""
        return self._with(Insertion(condition=self.condition, values=dict(assignments)))

    def _with(self, insertion: Insertion) -> FrameMergeWriter:
        told = self.writer.statement
        self.writer.statement = replace(told, not_matched=(*told.not_matched, insertion))
        return self.writer


@dataclass(frozen=True, slots=True)
class WhenNotMatchedBySource(_Changing):
    """What becomes of rows of the table alone."""

    def updateAll(self) -> FrameMergeWriter:
        """Refused: there is no row of the source whose columns could be taken.

        Raises:
            AnalysisException: Always.
        """
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            "whenNotMatchedBySource().updateAll(): these rows have none of the source whose columns"
            " they could get; name columns and values with update({...})",
        )

    def _with(self, change: Change) -> FrameMergeWriter:
        told = self.writer.statement
        clauses = (*told.not_matched_by_source, change)
        self.writer.statement = replace(told, not_matched_by_source=clauses)
        return self.writer
