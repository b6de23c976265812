"""What is a schema, and how is its file read and written (format.md 4)?

A schema file is written once and never changed; a change of the table is a file with the next id.
Fields are known by id over time: names may come back, ids never do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from lakebed.errors import CorruptTableError, InvalidArgumentError, UnsupportedError
from lakebed.format.json_text import format_json, parse_json_object
from lakebed.format.type_json import field_to_json, fields_from_json
from lakebed.format.types import DataField, RowType

SCHEMA_VERSION = 3
KEY_FIELD_PREFIX = "_KEY_"
KEY_FIELD_ID_OFFSET = 1073741823
# Files of the first version had no `version`; defaults of options changed with the later ones.
_VERSION_IF_MISSING = 1
_DEFAULTS_OF_VERSION = {1: {"bucket": "1", "file.format": "orc"}, 2: {"file.format": "orc"}}


class _SchemaFile(msgspec.Struct, kw_only=True, rename="camel"):
    """The members of a schema file, but for the fields."""

    version: int = _VERSION_IF_MISSING
    id: int
    highest_field_id: int
    partition_keys: tuple[str, ...]
    primary_keys: tuple[str, ...]
    options: dict[str, str]
    comment: str | None = None
    time_millis: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """One schema of a table; names and meaning as in format.md 4.

    Attributes:
        version: Of the file format.
        id: From 0 on, one more with each change.
        fields: The columns.
        highest_field_id: The greatest field id ever used, nested fields and dropped ones included.
        partition_keys: Names of the partition columns.
        primary_keys: Names of the key columns; may include partition columns.
        options: The table's options, as text.
        comment: The table's comment.
        time_millis: When it was written.
    """

    version: int = SCHEMA_VERSION
    id: int
    fields: tuple[DataField, ...]
    highest_field_id: int
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    time_millis: int = 0

    @property
    def row_type(self) -> RowType:
        """The columns as a type."""
        return RowType(fields=self.fields)

    @property
    def names(self) -> list[str]:
        """The names of the columns in order."""
        return [column.name for column in self.fields]

    @property
    def trimmed_primary_keys(self) -> tuple[str, ...]:
        """The primary key less the partition columns: what tells rows of a bucket apart."""
        return tuple(name for name in self.primary_keys if name not in self.partition_keys)

    @property
    def bucket_keys(self) -> tuple[str, ...]:
        """The columns that decide the bucket: option `bucket-key`, or the trimmed primary key."""
        text = self.options.get("bucket-key", "")
        return tuple(text.split(",")) if text.strip() else self.trimmed_primary_keys

    @property
    def partition_type(self) -> RowType:
        """The partition columns as a type, in the order of `partition_keys`."""
        return RowType(fields=tuple(map(self.field, self.partition_keys)))

    def field(self, name: str) -> DataField:
        """The column of that exact name.

        Raises:
            InvalidArgumentError: There is none.
        """
        found = self.row_type.field(name)
        if found is None:
            raise InvalidArgumentError(f"no column {name!r}; there are: {', '.join(self.names)}")
        return found

    def key_fields(self) -> tuple[DataField, ...]:
        """The `_KEY_` fields of data files: the trimmed primary key under names of its own."""
        return tuple(_key_field(self.field(name)) for name in self.trimmed_primary_keys)

    def to_json(self) -> bytes:
        """The bytes of the schema file."""
        members: dict[str, object] = {
            "version": self.version,
            "id": self.id,
            "fields": [field_to_json(column) for column in self.fields],
            "highestFieldId": self.highest_field_id,
            "partitionKeys": self.partition_keys,
            "primaryKeys": self.primary_keys,
            "options": self.options,
        }
        if self.comment is not None:
            members["comment"] = self.comment
        members["timeMillis"] = self.time_millis
        return format_json(members).encode()

    @classmethod
    def from_json(cls, data: bytes, path: str) -> "TableSchema":
        """The schema that a file holds, with the defaults of its version.

        Raises:
            CorruptTableError: The file is no schema.
            UnsupportedError: It is of a newer version, or has a type that Lakebed lacks.
        """
        members = parse_json_object(data, path)
        version = members.get("version")
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise UnsupportedError(
                f"{path}: the schema has version {version}, Lakebed reads up to {SCHEMA_VERSION}. "
                "Read the table with a newer release"
            )
        try:
            file = msgspec.convert(members, _SchemaFile)
            fields = fields_from_json(members.get("fields"))
        except (msgspec.ValidationError, InvalidArgumentError, RecursionError) as error:
            raise CorruptTableError(path, f"not a schema: {error}") from error
        except UnsupportedError as error:
            raise UnsupportedError(f"{path}: {error}") from error
        schema = cls(fields=fields, **_members(file))
        _check_keys(schema, path)
        return schema


def _members(file: _SchemaFile) -> dict[str, Any]:
    members = msgspec.structs.asdict(file)
    members["options"] = {**_DEFAULTS_OF_VERSION.get(file.version, {}), **file.options}
    return members


def _check_keys(schema: TableSchema, path: str) -> None:
    names = schema.names
    if len(set(names)) < len(names):
        raise CorruptTableError(path, f"two columns have one name: {', '.join(names)}")
    for name in (*schema.partition_keys, *schema.primary_keys, *schema.bucket_keys):
        if name not in names:
            raise CorruptTableError(path, f"key column {name!r} is no column of the table")


def _key_field(column: DataField) -> DataField:
    return replace(
        column,
        id=column.id + KEY_FIELD_ID_OFFSET,
        name=KEY_FIELD_PREFIX + column.name,
        default_value=None,
    )
