"""What does ANALYZE say of a table and of its columns (format.md 15)?"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lakebed.format.json_text import format_json


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """What is known of a column; None of what is not.

    Attributes:
        column_id: Field id.
        distinct_count: How many values there are, about.
        min: The least value as the format spells it: a date as days since 1970, a time in UTC.
        max: The greatest value.
        null_count: Rows without a value.
        average_length: Bytes of a value, rounded up.
        max_length: Bytes of the longest value.
    """

    column_id: int
    distinct_count: int | None = None
    min: str | None = None
    max: str | None = None
    null_count: int | None = None
    average_length: int | None = None
    max_length: int | None = None

    def members(self) -> dict[str, object]:
        """Its members in the file, in the file's order."""
        members = {
            "colId": self.column_id,
            "distinctCount": self.distinct_count,
            "min": self.min,
            "max": self.max,
            "nullCount": self.null_count,
            "avgLen": self.average_length,
            "maxLen": self.max_length,
        }
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatistics:
    """What is known of the rows of a snapshot.

    Attributes:
        snapshot_id: The snapshot that was looked at.
        schema_id: The schema whose columns are spoken of.
        row_count: Rows as they are read.
        size: About how many bytes of files they take.
        columns: By name.
    """

    snapshot_id: int
    schema_id: int
    row_count: int
    size: int
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)

    def to_json(self) -> bytes:
        """The file."""
        members = {
            "snapshotId": self.snapshot_id,
            "schemaId": self.schema_id,
            "mergedRecordCount": self.row_count,
            "mergedRecordSize": self.size,
            "colStats": {name: each.members() for name, each in self.columns.items()},
        }
        return format_json(members).encode()
