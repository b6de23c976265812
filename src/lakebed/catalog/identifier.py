"""How a table's name is read: `db.table`, `db.table$snapshots`, `db.table$branch_b1$files`."""

import re
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError

_NAME = re.compile(r"[^\s/\\.$`'\"?*:;<>|\x00-\x1f][^/\\$`'\"?*:;<>|\x00-\x1f]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """A table's full name.

    Attributes:
        database: The database.
        table: The table.
        suffix: What follows the first `$`: a system table or a branch; None for the table itself.
    """

    database: str
    table: str
    suffix: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Identifier":
        """Reads `db.table` with an optional `$...`.

        Raises:
            InvalidArgumentError: Not of that form.
        """
        name, _, suffix = text.partition("$")
        database, dot, table = name.partition(".")
        if not dot or not database or not table:
            raise InvalidArgumentError(f"{text!r} is no table name; write database.table")
        return cls(
            database=check_name(database, "database"),
            table=check_name(table, "table"),
            suffix=suffix or None,
        )

    def __str__(self) -> str:
        """The name as it is written."""
        return f"{self.database}.{self.table}" + (f"${self.suffix}" if self.suffix else "")


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
