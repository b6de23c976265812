"""Do deletion vectors mark rows that there are, as many as is said?"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.errors import LakebedError
from lakebed.format.deletion_vector import DeletionVectorRef, read_deletion_vector
from lakebed.table.checking.findings import Code, Finding
from lakebed.table.checking.reading import ReadingContext


@dataclass(frozen=True, slots=True)
class MarkedFile:
    """A data file and one of the deletion vectors that it has had.

    Attributes:
        path: The data file.
        row_count: Its rows.
        vector: The vector.
    """

    path: str
    row_count: int
    vector: DeletionVectorRef


@dataclass(frozen=True, slots=True)
class VectorReading:
    """Deletion vectors to be read.

    Attributes:
        files: The files that they mark rows of.
    """

    files: tuple[MarkedFile, ...]

    @property
    def size_bytes(self) -> int:
        """What is read."""
        return sum(each.vector.length for each in self.files)

    def read(self, context: ReadingContext) -> Sequence[Finding]:
        """What is wrong with them."""
        found = (_problem(each, context) for each in self.files)
        return [each for each in found if each is not None]


def _problem(file: MarkedFile, context: ReadingContext) -> Finding | None:
    try:
        read_deletion_vector(
            context.file_io, file.vector, data_file=file.path, row_count=file.row_count
        )
    except LakebedError as error:
        corrupt, missing = Code.DELETION_VECTOR, Code.MISSING_FILE
        return Finding.of_error(error, file.vector.path, corrupt=corrupt, missing=missing)
    return None
