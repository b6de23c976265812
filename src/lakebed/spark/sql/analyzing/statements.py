"""What are the parts of an ANALYZE TABLE?"""

from dataclasses import dataclass

from lakebed.spark.sql.statements import Name, Statement


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzeTable(Statement):
    """ANALYZE TABLE ... COMPUTE STATISTICS.

    Attributes:
        name: The table.
        columns: The columns to look at; None for all.
    """

    name: Name
    columns: tuple[str, ...] | None = ()
