"""What is a snapshot, and how is its file read and written (format.md 3)?

A snapshot file is small JSON, written once. Unknown fields are ignored, as the format demands; a
newer `version` is refused. The field order here is the order of writing, and an optional field is
left out when it is None.
"""

import enum

import msgspec

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.json_text import format_json, parse_json_object

SNAPSHOT_VERSION = 3
# Before the field existed, files had no `version`.
_VERSION_IF_MISSING = 1


class CommitKind(enum.StrEnum):
    """What kind of change a snapshot is."""

    APPEND = "APPEND"
    COMPACT = "COMPACT"
    OVERWRITE = "OVERWRITE"
    ANALYZE = "ANALYZE"


class Operation(enum.StrEnum):
    """What the user asked for; informational."""

    WRITE = "WRITE"
    OVERWRITE = "OVERWRITE"
    DELETE = "DELETE"
    TRUNCATE = "TRUNCATE"
    UPDATE = "UPDATE"
    MERGE = "MERGE"
    CREATE_TABLE_AS_SELECT = "CREATE_TABLE_AS_SELECT"
    REPLACE_TABLE_AS_SELECT = "REPLACE_TABLE_AS_SELECT"
    CREATE_OR_REPLACE_TABLE_AS_SELECT = "CREATE_OR_REPLACE_TABLE_AS_SELECT"


class Snapshot(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One version of a table; names and meaning as in format.md 3.

    Attributes:
        version: Of the file format.
        base_manifest_list: File name of the list of manifests before this snapshot.
        delta_manifest_list: File name of the list of what this snapshot changed.
        total_record_count: Physical rows, delete rows and overwritten rows included.
        next_row_id: The row id that row tracking gives next.
        operation: An `Operation`, or the text of one that newer writers know.
    """

    version: int = SNAPSHOT_VERSION
    uuid: str | None = None
    id: int
    schema_id: int
    base_manifest_list: str
    base_manifest_list_size: int | None = None
    delta_manifest_list: str
    delta_manifest_list_size: int | None = None
    changelog_manifest_list: str | None = None
    changelog_manifest_list_size: int | None = None
    index_manifest: str | None = None
    commit_user: str
    writer_version: str | None = None
    commit_identifier: int
    commit_kind: CommitKind
    time_millis: int
    total_record_count: int
    delta_record_count: int
    changelog_record_count: int | None = None
    watermark: int | None = None
    statistics: str | None = None
    properties: dict[str, str] | None = None
    next_row_id: int | None = None
    operation: str | None = None

    def to_json(self) -> bytes:
        """The bytes of the snapshot file."""
        members: dict[str, object] = msgspec.to_builtins(self)
        if not self.properties:
            del members["properties"]
        present = {key: value for key, value in members.items() if value is not None}
        return format_json(present).encode()

    @classmethod
    def from_json(cls, data: bytes, path: str) -> "Snapshot":
        """The snapshot that a file holds.

        Raises:
            CorruptTableError: The file is no snapshot.
            UnsupportedError: It is of a newer version or of an unknown commit kind.
        """
        members = parse_json_object(data, path)
        version = members.setdefault("version", _VERSION_IF_MISSING)
        if isinstance(version, int) and version > SNAPSHOT_VERSION:
            raise UnsupportedError(
                f"{path}: the snapshot has version {version}, Lakebed reads up to "
                f"{SNAPSHOT_VERSION}. Read the table with a newer release"
            )
        kind = members.get("commitKind")
        if isinstance(kind, str) and kind not in CommitKind.__members__:
            raise UnsupportedError(
                f"{path}: commit kind {kind!r} is none of {', '.join(CommitKind)}. "
                "Read the table with a newer release"
            )
        try:
            return msgspec.convert(members, cls)
        except msgspec.ValidationError as error:
            raise CorruptTableError(path, f"not a snapshot: {error}") from error
