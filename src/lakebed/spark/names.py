"""What does a name such as ``lake.db.`t$files` `` mean?"""

import re
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError

# `$` is taken bare too, as in spark.table("lake.db.orders$files").
_PART = re.compile(r"\s*(?:`(?P<quoted>(?:[^`]|``)*)`|(?P<bare>[^\s.`]+))\s*(?P<dot>\.|$)")


@dataclass(frozen=True, slots=True)
class TableName:
    """A table of an attached catalog."""

    catalog: str
    database: str
    table: str

    @property
    def identifier(self) -> str:
        """The name within its catalog, as `Catalog.load_table` takes it."""
        return f"{self.database}.{self.table}"

    def __str__(self) -> str:
        """The name as Spark prints it in messages."""
        return quoted((self.catalog, self.database, self.table))


def split_name(text: str) -> tuple[str, ...]:
    """The parts of a name with dots and backticks.

    Raises:
        InvalidArgumentError: The text is no name.
    """
    parts: list[str] = []
    position, more = 0, True
    while more:
        found = _PART.match(text, position)
        if found is None:
            raise InvalidArgumentError(
                f"{text!r} is no name; write catalog.database.table, with backticks round a part"
                " that holds other signs than letters, digits and _"
            )
        bare = found["bare"]
        parts.append(bare if bare is not None else found["quoted"].replace("``", "`"))
        position, more = found.end(), found["dot"] == "."
    return tuple(parts)


def quoted(parts: tuple[str, ...]) -> str:
    """The name with every part in backticks."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def literal(text: str) -> str:
    r"""The text as a literal; backslashes are doubled, for `\n` in a literal is a line's end."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
