"""Which system tables there are, and how one is found by name."""

import difflib
from collections.abc import Mapping

from lakebed.errors import NotFoundError
from lakebed.table.change_tables import (
    AuditLogTable,
    BinlogTable,
    ReadOptimizedTable,
    RowTrackingTable,
    ViewTable,
)
from lakebed.table.system.definition import AGGREGATION_FIELDS, OPTIONS, SCHEMAS
from lakebed.table.system.files import FILE_KEY_RANGES, FILES
from lakebed.table.system.groups import BUCKETS, PARTITIONS
from lakebed.table.system.history import BRANCHES, CONSUMERS, SNAPSHOTS, TAGS
from lakebed.table.system.indexes import FILE_INDEXES
from lakebed.table.system.kind import SystemTableKind
from lakebed.table.system.system_table import SystemTable
from lakebed.table.system.tree import MANIFESTS, STATISTICS, TABLE_INDEXES
from lakebed.table.table import Table

SYSTEM_TABLES: Mapping[str, SystemTableKind] = {
    kind.name: kind
    for kind in (
        AGGREGATION_FIELDS,
        BRANCHES,
        BUCKETS,
        CONSUMERS,
        FILES,
        FILE_INDEXES,
        FILE_KEY_RANGES,
        MANIFESTS,
        OPTIONS,
        PARTITIONS,
        SCHEMAS,
        SNAPSHOTS,
        STATISTICS,
        TABLE_INDEXES,
        TAGS,
    )
}


VIEW_TABLES: Mapping[str, type[ViewTable]] = {
    view.suffix(): view
    for view in (AuditLogTable, BinlogTable, ReadOptimizedTable, RowTrackingTable)
}


def system_table(table: Table, name: str) -> Table:
    """A system table of a data table, or of a branch, by the name behind the `$`, in any case.

    Raises:
        NotFoundError: There is none of that name; the message names near ones.
    """
    wanted = name.lower()
    if wanted in VIEW_TABLES:
        return VIEW_TABLES[wanted].over(table)
    if wanted in SYSTEM_TABLES:
        return SystemTable.over(table, SYSTEM_TABLES[wanted])
    names = sorted([*SYSTEM_TABLES, *VIEW_TABLES])
    near = difflib.get_close_matches(wanted, names, n=3)
    hint = f"There is {' and '.join(near)}" if near else f"There are {', '.join(names)}"
    raise NotFoundError("system table", f"{table.name}${name}", hint=hint)
