"""What stands behind a table's name with a `$`: a branch, a system table, or that of a branch."""

from lakebed.catalog.identifier import ObjectName
from lakebed.table.branches import branch_table
from lakebed.table.system.registry import system_table
from lakebed.table.table import Table


def object_of(table: Table, named: ObjectName) -> Table:
    """The table, a branch of it, or a system table of either.

    Args:
        table: The table that is named.
        named: What of it.

    Raises:
        NotFoundError: There is no such branch or system table; the message names near ones.
    """
    if named.branch is not None:
        table = branch_table(table, named.branch)
    return table if named.system_table is None else system_table(table, named.system_table)
