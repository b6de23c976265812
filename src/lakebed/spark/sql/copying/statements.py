"""What are the parts of a COPY INTO?"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from lakebed.spark.sql.statements import Name, Statement

FormatOptions = Mapping[str, str | tuple[str, ...]]
"""What stands in FILE_FORMAT: names in upper case, each with its text or its list of texts."""


class OnError(enum.StrEnum):
    """What becomes of rows that cannot be loaded."""

    ABORT_STATEMENT = "ABORT_STATEMENT"
    CONTINUE = "CONTINUE"
    SKIP_FILE = "SKIP_FILE"


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyIntoTable(Statement):
    """COPY INTO a table.

    Attributes:
        name: The table.
        columns: The columns that the files have; None for all.
        path: Where the files are.
        file_format: What is said of them.
        pattern: A regular expression that the names of files hold.
        is_forced: Whether files are loaded that were loaded before.
        on_error: What becomes of rows that cannot be loaded.
    """

    name: Name
    columns: tuple[str, ...] | None = None
    path: str
    file_format: FormatOptions
    pattern: str | None = None
    is_forced: bool = False
    on_error: OnError = OnError.ABORT_STATEMENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyIntoFiles(Statement):
    """COPY INTO a path.

    Attributes:
        path: The directory to make.
        query: Text of the rows.
        file_format: What the files are to be.
        is_overwrite: Whether what is there is replaced.
    """

    path: str
    query: str
    file_format: FormatOptions
    is_overwrite: bool = False
