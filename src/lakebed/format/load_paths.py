"""What are the files called in which COPY INTO remembers what it has loaded, and where are they?

They are the table's, whatever branch is loaded into.
"""

import hashlib
from dataclasses import dataclass

_PREFIX = "load-"
_DIGEST_DIGITS = 16


@dataclass(frozen=True, slots=True)
class LoadPaths:
    """Where they are for one table.

    Attributes:
        location: The table's directory, without a slash at its end.
    """

    location: str

    @property
    def history_directory(self) -> str:
        """Where the records of loaded files are listed."""
        return f"{self.location}/copy-into/history"

    def record(self, file_path: str, loaded_ms: int) -> str:
        """The record of a file that was loaded at a time."""
        return f"{self.history_directory}/{record_prefix(file_path)}{loaded_ms}"

    @property
    def pending_directory(self) -> str:
        """Where loads are listed that have not ended."""
        return f"{self.location}/copy-into/lakebed-pending"

    def pending(self, unique: str) -> str:
        """What one load is about to commit, by a name that no other has."""
        return f"{self.pending_directory}/{_PREFIX}{unique}"


def record_prefix(file_path: str) -> str:
    """How the names of all records of a file begin."""
    digest = hashlib.sha256(file_path.encode()).hexdigest()[:_DIGEST_DIGITS]
    return f"{_PREFIX}{digest}-"


def prefix_of(file_name: str) -> str:
    """The part of a record's name that is the same for all of its file."""
    return file_name.rpartition("-")[0] + "-"


def is_pending(file_name: str) -> bool:
    """Whether a file is of a load that has not ended; drafts are of none."""
    return file_name.startswith(_PREFIX)
