"""What a user asks of a system table, and the forms in which the answer comes."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_field
from lakebed.format.predicate.evaluation import filter_table
from lakebed.format.predicate.expressions import Expression, columns_of
from lakebed.format.schema import TableSchema
from lakebed.table.reading.forms import RowForms


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataScan(RowForms):
    """A reading of a system table; nothing is read before it is asked for. Picklable.

    Attributes:
        name: The system table.
        table_schema: Its columns.
        rows: Makes the rows; at least the columns named.
        columns: Names of the columns wanted, in the order wanted.
        predicate: Which rows are wanted; None for all.
        limit: How many rows at most; None for all.
    """

    name: str
    table_schema: TableSchema
    rows: Callable[[Collection[str]], pa.Table]
    columns: tuple[str, ...]
    predicate: Expression | None
    limit: int | None

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema of the rows."""
        return pa.schema([to_arrow_field(self.table_schema.field(name)) for name in self.columns])

    def to_arrow(self) -> pa.Table:
        """All rows as an Arrow table; types and nullability as in the schema."""
        rows = self._matching(self.columns).select(list(self.columns))
        if not self.columns:
            return rows
        return pa.Table.from_arrays(rows.columns, schema=self.schema)

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow batches."""
        yield from self.to_arrow().to_batches()

    def count(self) -> int:
        """Number of rows."""
        return self._matching(self.table_schema.names[:1]).num_rows

    def explain(self) -> str:
        """What would be read, as text."""
        return f"{self.name}: {', '.join(self.columns)} of the table's metadata"

    def _matching(self, columns: Collection[str]) -> pa.Table:
        asked = columns_of(self.predicate) if self.predicate is not None else set()
        # Arrow counts the rows of a table without columns as none, so one column always comes.
        wanted = {*columns, *asked} or {self.table_schema.names[0]}
        rows = filter_table(self.rows(wanted), self.predicate)
        return rows if self.limit is None else rows.slice(0, self.limit)
