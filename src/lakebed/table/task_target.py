"""Where do the rows of a task of a distributed engine go?

In a module of its own: a worker imports what its target needs, and nothing that only drivers use.
"""

from dataclasses import dataclass

from lakebed.table.parts import TableParts, WriteBase
from lakebed.table.routers import rows_writer
from lakebed.table.stored_keys import RowsAmongKeys
from lakebed.table.writing.cross_partition import CrossPartitionBuckets
from lakebed.table.writing.rows_writer import RowsWriter


@dataclass(frozen=True, slots=True)
class TableTarget:
    """Where the rows of a task go; travels to tasks.

    Attributes:
        parts: The table.
        base: The table's state when writing began.
    """

    parts: TableParts
    base: WriteBase

    def open(self) -> RowsWriter | RowsAmongKeys:
        """Starts writing in this task."""
        rows = rows_writer(self.parts, self.base)
        if self.base.tasks > 1 and isinstance(rows.router, CrossPartitionBuckets):
            return RowsAmongKeys(rows, rows.router)
        return rows
