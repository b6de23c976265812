"""How a table's name is read: `db.table`, `db.table$snapshots`, `db.table$branch_b1$files`."""

import re
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError
from lakebed.format.paths import MAIN_BRANCH

_NAME = re.compile(r"[^\s/\\.$`'\"?*:;<>|\x00-\x1f][^/\\$`'\"?*:;<>|\x00-\x1f]*")


_BRANCH_PREFIX = "branch_"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectName:
    """What is named in a database or directory: a table, a branch of it, a system table of either.

    Attributes:
        table: The table.
        branch: The branch; None for the table's main one.
        system_table: The system table; None for the table itself.
    """

    table: str
    branch: str | None = None
    system_table: str | None = None

    @classmethod
    def parse(cls, text: str) -> "ObjectName":
        """Reads `table`, `table$branch_b1`, `table$files` or `table$branch_b1$files`.

        Raises:
            InvalidArgumentError: Not of that form.
        """
        table, *suffixes = text.split("$")
        branch = None
        if suffixes and suffixes[0].startswith(_BRANCH_PREFIX):
            branch = suffixes.pop(0).removeprefix(_BRANCH_PREFIX)
        if len(suffixes) > 1 or not all(suffixes) or branch == "":
            raise InvalidArgumentError(
                f"{text!r} names no table; behind a table's name stands $branch_<branch>, "
                "$<system table>, or one after the other"
            )
        return cls(
            table=table,
            branch=None if branch == MAIN_BRANCH else branch,
            system_table=suffixes[0] if suffixes else None,
        )

    @property
    def is_plain(self) -> bool:
        """Whether it is a table that is meant, and no view of one."""
        return self.branch is None and self.system_table is None

    def __str__(self) -> str:
        """The name as it is written."""
        branch = f"${_BRANCH_PREFIX}{self.branch}" if self.branch else ""
        return self.table + branch + (f"${self.system_table}" if self.system_table else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """A table's full name.

    Attributes:
        database: The database.
        object: What is named in it.
    """

    database: str
    object: ObjectName

    @classmethod
    def parse(cls, text: str) -> "Identifier":
        """Reads `db.table` with an optional `$...`.

        Raises:
            InvalidArgumentError: Not of that form.
        """
        database, dot, rest = text.partition(".")
        if not dot or not database or not rest or rest.startswith("$"):
            raise InvalidArgumentError(f"{text!r} is no table name; write database.table")
        check_name(database, "database")
        parsed = ObjectName.parse(rest)
        check_name(parsed.table, "table")
        return cls(database=database, object=parsed)

    @property
    def table(self) -> str:
        """The table."""
        return self.object.table

    @property
    def table_name(self) -> str:
        """The full name of the table, whatever branch or system table of it is meant."""
        return f"{self.database}.{self.table}"

    def __str__(self) -> str:
        """The name as it is written."""
        return f"{self.database}.{self.object}"


def check_name(name: str, kind: str) -> str:
    """The name, if it can be a directory's on every store.

    Raises:
        InvalidArgumentError: It cannot.
    """
    if not _NAME.fullmatch(name) or name.strip() != name or name in {".", ".."}:
        raise InvalidArgumentError(
            f"{name!r} cannot name a {kind}: slashes, dots at the start, $, quotes, wildcards and "
            "blanks at the ends are not allowed"
        )
    return name
