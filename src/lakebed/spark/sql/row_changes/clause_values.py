"""What do the clauses of a MERGE give to the columns of the table? Texts that Spark evaluates."""

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import types as spark_types

from lakebed.spark.conditions import unknown_column
from lakebed.spark.sql.default_words import default_of, is_default
from lakebed.spark.sql.row_changes.assignments import assigned
from lakebed.spark.sql.row_changes.expressions import with_aliases
from lakebed.spark.sql.row_changes.frames import Splicing
from lakebed.spark.sql.row_changes.stars import Stars
from lakebed.spark.sql.row_changes.statements import InsertClause, Merge, UpdateClause
from lakebed.spark.sql.row_changes.upsert import Equalities
from lakebed.spark.sql.statements import Name
from lakebed.spark.sql.tokens import tokenize
from lakebed.table.table import Table


@dataclass(frozen=True, kw_only=True)
class ClauseValues:
    """The values of the clauses of a MERGE.

    Attributes:
        table: The table.
        statement: The statement, whose condition names the two by their aliases.
        splicing: Runs its pieces.
        source: The columns of the source.
        aliases: Of the table and of the source.
        names: Whole names that the statement may use instead of them.
        fills: Whether the source may lack columns that a star gives.
    """

    table: Table
    statement: Merge
    splicing: Splicing
    source: spark_types.StructType
    aliases: tuple[str, str]
    names: dict[Name, str]
    fills: bool

    def updated(self, clause: UpdateClause) -> dict[str, str]:
        """What an UPDATE assigns, less the key that it says again."""
        if clause.assignments is None:
            values = self._stars.updated()
        else:
            names = [name for name, alias in self.names.items() if alias == self.aliases[0]]
            there = self.aliases[0]
            values = assigned(self.table, clause.assignments, [*names, (there,)], alias=there)
        keys = self._same_keys
        return {
            name: text for name, text in values.items() if _plain(text) != keys.get(name.lower())
        }

    @cached_property
    def equalities(self) -> Equalities:
        """The columns of both that must be equal."""
        return Equalities.of(self.statement.condition, self.aliases)

    @cached_property
    def _same_keys(self) -> dict[str, str]:
        """The column of the source that the condition says equals a key column, by its name."""
        keys = {key.lower() for key in self.table.primary_keys}
        return {
            column: f"{self.aliases[1]}.{other}".lower()
            for column, other in self.equalities.pairs.items()
            if column in keys
        }

    def inserted(self, clause: InsertClause) -> dict[str, str]:
        """What an INSERT gives; columns that it does not name are not told.

        Raises:
            AnalysisException: The table has no such column.
        """
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
            else self.piece(text)
            for column, text in pairs
        }

    @property
    def _stars(self) -> Stars:
        return Stars(table=self.table, source=self.source, aliases=self.aliases, fills=self.fills)

    def piece(self, text: str) -> str:
        """A piece of the statement as it stands in a query that has both aliases."""
        return self.splicing.piece(with_aliases(text, self.names))


def _plain(text: str) -> str:
    """A text in which names are bare and in lower case."""
    return "".join(token.name.lower() if token.is_name else token.text for token in tokenize(text))
