"""Which branches a table has, and a table seen from one (format.md 1)."""

from dataclasses import dataclass, replace

from lakebed.errors import NotFoundError
from lakebed.format.paths import MAIN_BRANCH, TablePaths, branch_name_of
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.schemas import Schemas
from lakebed.table.table import Table


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of one table, its main one left out."""

    file_io: FileIO
    paths: TablePaths

    def list_names(self) -> list[str]:
        """Names of all branches, in order."""
        found = (
            branch_name_of(status.name) for status in self.file_io.list(self.paths.branch_directory)
        )
        return sorted(name for name in found if name is not None)


def branch_table(table: Table, name: str) -> Table:
    """A table seen from a branch: with its schemas, snapshots, tags and options.

    Args:
        table: The table, or one of its branches.
        name: The branch; `main` is the table itself.

    Raises:
        NotFoundError: There is no such branch; the message names those there are.
    """
    paths = TablePaths(table.location, branch=name)
    schema = None if "/" in name else Schemas(table.file_io, paths).latest()
    if schema is None:
        names = ", ".join(Branches(table.file_io, paths).list_names())
        hint = f"There is {names}" if names else "The table has no branch"
        raise NotFoundError("branch", name, hint=hint)
    base = table.name.partition("$")[0]
    full = base if name == MAIN_BRANCH else f"{base}$branch_{name}"
    return replace(table, name=full, schema=schema, branch=name)
