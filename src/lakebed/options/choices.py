"""Which values may an option with a closed set of values take?

The value of a member is the format's own spelling.
"""

import re
from dataclasses import dataclass
from enum import Enum

from lakebed.errors import InvalidArgumentError
from lakebed.options import values

_TRUNCATE = re.compile(r"truncate\(([0-9]{1,9})\)")


class TableType(Enum):
    """What a table is: rows in Paimon's own layout, or something that other engines look after."""

    TABLE = "table"
    FORMAT_TABLE = "format-table"
    MATERIALIZED_TABLE = "materialized-table"
    OBJECT_TABLE = "object-table"
    LANCE_TABLE = "lance-table"
    ICEBERG_TABLE = "iceberg-table"


class MergeEngine(Enum):
    """How rows of one key become one."""

    DEDUPLICATE = "deduplicate"
    PARTIAL_UPDATE = "partial-update"
    AGGREGATION = "aggregation"
    FIRST_ROW = "first-row"


class ChangelogProducer(Enum):
    """Where the stream of changes comes from."""

    NONE = "none"
    INPUT = "input"
    FULL_COMPACTION = "full-compaction"
    LOOKUP = "lookup"


class BucketFunction(Enum):
    """How a bucket key becomes a bucket: murmur hash, the key's own value, or Hive's hash."""

    DEFAULT = "default"
    MOD = "mod"
    HIVE = "hive"


class ScanMode(Enum):
    """Where a scan starts."""

    DEFAULT = "default"
    LATEST_FULL = "latest-full"
    FULL = "full"
    LATEST = "latest"
    LATEST_DELTA = "latest-delta"
    COMPACTED_FULL = "compacted-full"
    FROM_TIMESTAMP = "from-timestamp"
    FROM_CREATION_TIMESTAMP = "from-creation-timestamp"
    FROM_FILE_CREATION_TIME = "from-file-creation-time"
    FROM_SNAPSHOT = "from-snapshot"
    FROM_SNAPSHOT_FULL = "from-snapshot-full"
    INCREMENTAL = "incremental"


class IncrementMode(Enum):
    """What the changes between two snapshots are made of."""

    AUTO = "auto"
    DELTA = "delta"
    CHANGELOG = "changelog"
    DIFF = "diff"


class StatsKind(Enum):
    """How much of a column's statistics is kept."""

    NONE = "none"
    COUNTS = "counts"
    TRUNCATE = "truncate"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsMode:
    """Which statistics of a column a file's entry keeps.

    Attributes:
        kind: Nothing, null counts alone, or bounds too.
        length: For `truncate`, how many characters of a bound are kept; else None.
    """

    kind: StatsKind
    length: int | None = None

    @classmethod
    def parse(cls, text: str, key: str) -> "StatsMode":
        """Reads `none`, `counts`, `truncate(16)` or `full`, in any case."""
        lowered = text.lower()
        if (match := _TRUNCATE.fullmatch(lowered)) and int(match[1]) > 0:
            return cls(kind=StatsKind.TRUNCATE, length=int(match[1]))
        if lowered in {"none", "counts", "full"}:
            return cls(kind=StatsKind(lowered))
        allowed = "none, counts, truncate(n) with n from 1 on, or full"
        raise InvalidArgumentError(f"option {key!r} cannot be {text!r}: it takes {allowed}.")

    def __str__(self) -> str:
        """The format's spelling."""
        return f"truncate({self.length})" if self.length else self.kind.value


def parse_level_modes(text: str, key: str) -> dict[int, StatsMode]:
    """Statistics modes by level, such as `0:none,5:full`."""
    pairs = values.parse_map(text, key)
    if not all(level.isdecimal() for level in pairs):
        allowed = "a level and a mode each, such as 0:none,5:full"
        raise InvalidArgumentError(f"option {key!r} cannot be {text!r}: it takes {allowed}.")
    return {int(level): StatsMode.parse(mode, key) for level, mode in pairs.items()}
