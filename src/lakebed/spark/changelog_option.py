"""What does `read.changelog` = true show?

The rows with their kinds, as `$audit_log` does: a column `rowkind` before the others.
"""

from collections.abc import Mapping

from lakebed.options.values import parse_boolean
from lakebed.table.change_tables import AuditLogTable, ViewTable
from lakebed.table.system.system_table import ReadOnlyTable
from lakebed.table.table import Table

_CHANGELOG = "read.changelog"


def shown_by(table: Table, options: Mapping[str, str]) -> tuple[Table, dict[str, str]]:
    """The table that options ask for, and the options that are left.

    Raises:
        InvalidArgumentError: The option is neither true nor false.
    """
    left = {key: text for key, text in options.items() if key.lower() != _CHANGELOG}
    given = next((text for key, text in options.items() if key.lower() == _CHANGELOG), "false")
    is_view = isinstance(table, ViewTable | ReadOnlyTable)
    if parse_boolean(given, _CHANGELOG) and not is_view:
        return AuditLogTable.over(table), left
    return table, left
