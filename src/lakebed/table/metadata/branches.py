"""Which branches does a table have, and what can one be called (format.md 1)?

A branch is found by the files of its schemas, apart from a moment in which it is being made or
deleted: then a mark lies beside these (`TablePaths.unfinished_mark`), and they are as not there.
"""

from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.paths import MAIN_BRANCH, TablePaths, branch_name_of
from lakebed.format.schema import TableSchema
from lakebed.storage.file_io import FileIO
from lakebed.table.metadata.schemas import Schemas


@dataclass(frozen=True, slots=True)
class Branches:
    """The branches of one table, its main one left out."""

    file_io: FileIO
    paths: TablePaths

    def list_names(self) -> list[str]:
        """Names of all branches, in order; also of those that are half made or half deleted."""
        found = (
            branch_name_of(status.name) for status in self.file_io.list(self.paths.branch_directory)
        )
        return sorted(name for name in found if name is not None)

    def find_schema(self, name: str) -> TableSchema | None:
        """The newest schema of a branch, the main one too; None where there is no such branch."""
        return None if "/" in name else Schemas(self.file_io, self.paths.of_branch(name)).latest()

    def missing(self, name: str) -> NotFoundError:
        """The error that tells that there is no such branch, and which there are."""
        names = self.list_names()
        if name in names:
            hint = "It is half made or half deleted: make it, or delete it, once more"
        else:
            hint = f"There is {', '.join(names)}" if names else "The table has no branch"
        return NotFoundError("branch", name, hint=hint)


def check_branch_name(name: str) -> None:
    """Refuses what no branch but the main one can be called.

    Raises:
        InvalidArgumentError: The name is that of the main branch, blank, a number or a path.
    """
    if name == MAIN_BRANCH:
        raise InvalidArgumentError(f"{name!r} is the main branch; choose another name")
    if not name.strip():
        raise InvalidArgumentError(f"{name!r} cannot name a branch: it is blank")
    if name.isdigit():
        raise InvalidArgumentError(f"{name!r} cannot name a branch: it is a number")
    if "/" in name or "$" in name:
        raise InvalidArgumentError(f"{name!r} cannot name a branch: it has a '/' or a '$'")
