"""How do pieces of a statement become queries over frames, and their answers rows of a table?"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.spark.alignment import align_by_name
from lakebed.spark.conditions import unknown_column
from lakebed.spark.lake import Lake
from lakebed.spark.names import split_name
from lakebed.spark.sql.arguments import Arguments, kept
from lakebed.spark.sql.queries import run_query
from lakebed.table.table import Table
from lakebed.table.writing.row_kinds import ROW_KIND

# Begins the names of columns that only such queries have.
_OWN_PREFIX = "__lakebed_"


@dataclass(frozen=True, slots=True)
class Splicing:
    """Runs queries that hold pieces of a user's statement.

    Attributes:
        lake: The session.
        given: What the user gave beside the statement.
    """

    lake: Lake
    given: Arguments

    def piece(self, text: str) -> str:
        """A piece of the statement as it stands in a query."""
        return kept(text, has_fields=bool(self.given.fields))

    def query(self, text: str, **frames: DataFrame) -> DataFrame:
        """The answer to a query, in which `{name}` stands for a frame."""
        fields: Mapping[str, object] = {**frames, **self.given.fields}
        try:
            return run_query(self.lake, text, Arguments(args=self.given.args, fields=fields))
        except AnalysisException as error:
            given = error.getMessageParameters() or {}
            proposed = [name.strip() for name in given.get("proposal", "").split(",")]
            if any(_OWN_PREFIX in name for name in proposed):
                others = [name.strip("`") for name in proposed if _OWN_PREFIX not in name]
                raise unknown_column(split_name(given["objectName"]), others) from None
            raise


@contextmanager
def held(lake: Lake, frame: DataFrame) -> Iterator[DataFrame]:
    """A frame whose rows are computed once, as long as the block runs."""
    with lake.registry.few_cached.held(lake.spark):
        frame.persist()
        try:
            yield frame
        finally:
            frame.unpersist()


def aligned(
    values: DataFrame,
    table: Table,
    *,
    columns: Sequence[str] | None = None,
    kind: str,
    fills: bool = False,
) -> DataFrame:
    """Values as rows of a table, of which each column is there.

    Args:
        values: A column for each of `columns`, in their order; fields inside them go by name.
        table: The table.
        columns: Columns of the table; None for all. The others get their default, or null.
        kind: The kind of the rows, which they bring along where the table has a primary key.
        fills: Whether fields of a STRUCT that the values lack are null, rather than an error.
    """
    names = list(table.schema.names if columns is None else columns)
    rows = align_by_name(values.toDF(*names), table, fixed=others_of(table, names), fills=fills)
    rows = rows.select(*(F.col(f"`{name}`") for name in table.schema.names))
    return rows.withColumn(ROW_KIND, F.lit(kind)) if table.primary_keys else rows


def others_of(table: Table, names: Iterable[str]) -> dict[str, Column]:
    """The columns of a table that a row says nothing of, with what they get."""
    lower = {name.lower() for name in names}
    return {name: F.lit(None) for name in table.schema.names if name.lower() not in lower}
