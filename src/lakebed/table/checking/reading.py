"""What is read to prove a table, in pieces that run in threads or in Spark's tasks.

A piece never fails: what it cannot read, it finds. What it hands back is small.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Protocol

from lakebed.format.schema import TableSchema
from lakebed.storage.file_io import FileIO
from lakebed.table.checking.findings import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTruth:
    """What the rows of a data file say.

    Attributes:
        path: The file.
        columns: What an entry should say of it, by `manifest.ENTRY_COLUMNS`' names; bounds are
            those of the values, full.
    """

    path: str
    columns: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingContext:
    """What all pieces need.

    Attributes:
        file_io: The store.
        schemas: The schemas of each branch, by id.
        table_schema: The schema of the table.
        options: Options of the table.
        bucket_function: `bucket-function.type`.
        merge_memory: Budget in bytes of a piece (`lakebed.merge.memory`).
        time_zone: Where local times become instants (`lakebed.time-zone`).
    """

    file_io: FileIO
    schemas: Mapping[str, Mapping[int, TableSchema]]
    table_schema: TableSchema
    options: Mapping[str, str]
    bucket_function: str
    merge_memory: int
    time_zone: tzinfo


class Piece(Protocol):
    """Something to be read; can be pickled."""

    @property
    def size_bytes(self) -> int:
        """What is read, about."""
        ...

    def read(self, context: ReadingContext) -> Sequence[FileTruth | Finding]:
        """What is so, and what is wrong."""
        ...


def read_piece(piece: Piece, *, context: ReadingContext) -> Sequence[FileTruth | Finding]:
    """What a piece finds; what is sent to tasks."""
    return piece.read(context)
