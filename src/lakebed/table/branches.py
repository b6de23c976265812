"""A table seen from one of its branches (format.md 1)."""

from dataclasses import replace

from lakebed.format.paths import MAIN_BRANCH, TablePaths
from lakebed.table.metadata.branches import Branches
from lakebed.table.table import Table


def branch_table(table: Table, name: str) -> Table:
    """A table seen from a branch: with its schemas, snapshots, tags and options.

    Args:
        table: The table, or one of its branches.
        name: The branch; `main` is the table itself.

    Raises:
        NotFoundError: There is no such branch; the message names those there are.
    """
    branches = Branches(table.file_io, TablePaths(table.location))
    schema = branches.find_schema(name)
    if schema is None:
        raise branches.missing(name)
    base = table.name.partition("$")[0]
    full = base if name == MAIN_BRANCH else f"{base}$branch_{name}"
    return replace(table, name=full, schema=schema, branch=name)
