"""What an entry of a manifest says of a data file (format.md 6, 7)."""

import enum
from dataclasses import dataclass

from lakebed.format.binary_row.codec import EMPTY_ROW


class FileKind(enum.IntEnum):
    """`_KIND` of a manifest entry."""

    ADD = 0
    DELETE = 1


class FileSource(enum.IntEnum):
    """`_FILE_SOURCE`: what wrote the file."""

    APPEND = 0
    COMPACT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleStats:
    """Bounds and null counts of some columns, as serialized BinaryRows (format.md 6, 10).

    Attributes:
        min_values: Serialized row (arity prefix included) of the lower bounds.
        max_values: Likewise of the upper bounds.
        null_counts: One a column, None where unknown; None when there is no array at all.
    """

    min_values: bytes
    max_values: bytes
    null_counts: tuple[int | None, ...] | None


EMPTY_STATS = SimpleStats(min_values=EMPTY_ROW, max_values=EMPTY_ROW, null_counts=())


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFileMeta:
    """The `_FILE` record of a manifest entry; names and meaning as in format.md 7."""

    file_name: str
    file_size: int
    row_count: int
    min_key: bytes
    max_key: bytes
    key_stats: SimpleStats
    value_stats: SimpleStats
    min_sequence_number: int
    max_sequence_number: int
    schema_id: int
    level: int
    extra_files: tuple[str, ...] = ()
    creation_time: int | None = None
    delete_row_count: int | None = None
    embedded_file_index: bytes | None = None
    file_source: int | None = None
    value_stats_cols: tuple[str, ...] | None = None
    external_path: str | None = None
    first_row_id: int | None = None
    write_cols: tuple[str, ...] | None = None
    write_cols_sequences: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestEntry:
    """One ADD or DELETE of a data file.

    Attributes:
        kind: ADD or DELETE.
        partition: Serialized BinaryRow of the partition columns.
        bucket: The bucket.
        total_buckets: The bucket count that the file was written with; -1 dynamic or unaware.
        file: The file.
    """

    kind: FileKind
    partition: bytes
    bucket: int
    total_buckets: int
    file: DataFileMeta
