"""What are the parts of UPDATE and MERGE?"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.spark.sql.statements import Name, Statement


@dataclass(frozen=True, slots=True)
class Assignment:
    """A column, by the parts of its name, and the text of what it gets."""

    column: Name
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Statement):
    """UPDATE.

    Attributes:
        name: The table.
        alias: Its alias.
        assignments: What columns get.
        condition: Text behind WHERE; None for all rows.
    """

    name: Name
    alias: str | None
    assignments: Sequence[Assignment]
    condition: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteClause:
    """THEN DELETE."""

    condition: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateClause:
    """THEN UPDATE SET; `assignments` is None for a star."""

    condition: str | None
    assignments: Sequence[Assignment] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertClause:
    """THEN INSERT; both are None for a star."""

    condition: str | None
    columns: Sequence[str] | None
    values: Sequence[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge(Statement):
    """MERGE INTO.

    Attributes:
        name: The table.
        alias: Its alias.
        with_clause: Text of a WITH clause before MERGE.
        source: Text of the relation behind USING, without its alias.
        source_alias: Its alias; None where it has none.
        source_columns: Column aliases of the source.
        source_name: Its name, where it is a name.
        evolves: Whether the table gets the columns that only the source has.
        condition: Text behind ON.
        matched: Clauses for rows of both.
        not_matched: Clauses for rows of the source alone.
        not_matched_by_source: Clauses for rows of the table alone.
    """

    name: Name
    alias: str | None
    with_clause: str
    source: str
    source_alias: str | None
    source_columns: Sequence[str]
    source_name: Name
    evolves: bool = False
    condition: str
    matched: Sequence[UpdateClause | DeleteClause]
    not_matched: Sequence[InsertClause]
    not_matched_by_source: Sequence[UpdateClause | DeleteClause]
