"""What do a manifest list and a manifest say, record by record (format.md 6, 7)?

Pure conversions between the Avro records, their flat Arrow columns and `ManifestFileMeta`,
`ManifestEntry`. Reading and writing files is `manifest_file`'s.

Fields are found by name: unknown ones are skipped, trailing ones that older writers lacked are
null.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.data_file_meta import DataFileMeta, FileKind, ManifestEntry, SimpleStats

ArrowField: TypeAlias = "pa.Field[pa.DataType]"
ChunkedColumn: TypeAlias = "pa.ChunkedArray[Any]"

RECORD_VERSION = 2
_NAMESPACE = "org.apache.paimon.avro.generated"
_NAMED_STATS = ("_MIN_VALUES", "_MAX_VALUES", "_NULL_COUNTS")


def nullable(kind: object) -> list[object]:
    """The Avro type of a nullable value."""
    return ["null", kind]


def array_of(items: object) -> dict[str, object]:
    """The Avro type of a list."""
    return {"type": "array", "items": items}


def avro_fields(types: Mapping[str, object]) -> list[dict[str, object]]:
    """Avro fields of these names and types; nullable ones default to null."""
    return [
        {"name": name, "type": kind, "default": None}
        if isinstance(kind, list)
        else {"name": name, "type": kind}
        for name, kind in types.items()
    ]


def record_of(name: str, types: Mapping[str, object]) -> dict[str, object]:
    """The Avro type of a record inside the top one."""
    return {"type": "record", "name": name, "fields": avro_fields(types)}


def top_record(types: Mapping[str, object]) -> dict[str, object]:
    """The Avro schema of a metadata file."""
    return {
        "type": "record",
        "name": "record",
        "namespace": _NAMESPACE,
        "fields": avro_fields(types),
    }


def _stats_of(name: str) -> dict[str, object]:
    nulls = nullable(array_of(nullable("long")))
    return record_of(name, dict(zip(_NAMED_STATS, ("bytes", "bytes", nulls), strict=True)))


MANIFEST_LIST_SCHEMA = top_record(
    {
        "_VERSION": "int",
        "_FILE_NAME": "string",
        "_FILE_SIZE": "long",
        "_NUM_ADDED_FILES": "long",
        "_NUM_DELETED_FILES": "long",
        "_PARTITION_STATS": _stats_of("record__PARTITION_STATS"),
        "_SCHEMA_ID": "long",
        "_MIN_BUCKET": nullable("int"),
        "_MAX_BUCKET": nullable("int"),
        "_MIN_LEVEL": nullable("int"),
        "_MAX_LEVEL": nullable("int"),
        "_MIN_ROW_ID": nullable("long"),
        "_MAX_ROW_ID": nullable("long"),
    }
)

MANIFEST_SCHEMA = top_record(
    {
        "_VERSION": "int",
        "_KIND": "int",
        "_PARTITION": "bytes",
        "_BUCKET": "int",
        "_TOTAL_BUCKETS": "int",
        "_FILE": record_of(
            "record__FILE",
            {
                "_FILE_NAME": "string",
                "_FILE_SIZE": "long",
                "_ROW_COUNT": "long",
                "_MIN_KEY": "bytes",
                "_MAX_KEY": "bytes",
                "_KEY_STATS": _stats_of("record__FILE__KEY_STATS"),
                "_VALUE_STATS": _stats_of("record__FILE__VALUE_STATS"),
                "_MIN_SEQUENCE_NUMBER": "long",
                "_MAX_SEQUENCE_NUMBER": "long",
                "_SCHEMA_ID": "long",
                "_LEVEL": "int",
                "_EXTRA_FILES": array_of("string"),
                "_CREATION_TIME": nullable({"type": "long", "logicalType": "timestamp-millis"}),
                "_DELETE_ROW_COUNT": nullable("long"),
                "_EMBEDDED_FILE_INDEX": nullable("bytes"),
                "_FILE_SOURCE": nullable("int"),
                "_VALUE_STATS_COLS": nullable(array_of("string")),
                "_EXTERNAL_PATH": nullable("string"),
                "_FIRST_ROW_ID": nullable("long"),
                "_WRITE_COLS": nullable(array_of("string")),
                "_WRITE_COLS_SEQUENCES": nullable(array_of("long")),
            },
        ),
    }
)

_ARROW_TYPES: dict[object, pa.DataType] = {
    "int": pa.int32(),
    "long": pa.int64(),
    "string": pa.string(),
    "bytes": pa.binary(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFileMeta:
    """What a manifest list says of a manifest; names and meaning as in format.md 6."""

    file_name: str
    file_size: int
    num_added_files: int
    num_deleted_files: int
    partition_stats: SimpleStats
    schema_id: int
    min_bucket: int | None = None
    max_bucket: int | None = None
    min_level: int | None = None
    max_level: int | None = None
    min_row_id: int | None = None
    max_row_id: int | None = None


def _arrow_type(kind: object) -> pa.DataType:
    """Of a plain or nullable value or list; a logical type is what is stored."""
    if isinstance(kind, list):
        return _arrow_type(kind[1])
    if isinstance(kind, dict) and kind["type"] == "array":
        return pa.list_(_arrow_type(kind["items"]))
    return _ARROW_TYPES[kind["type"] if isinstance(kind, dict) else kind]


def _leaves(schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, ArrowField]]:
    """The path in the record and the column of every value of the manifest schema."""
    for field in schema["fields"]:
        path, kind = prefix + field["name"], field["type"]
        if isinstance(kind, dict) and kind["type"] == "record":
            yield from _leaves(kind, f"{path}.")
        elif path != "_VERSION":
            name = path.removeprefix("_FILE.").lower()
            name = name.replace("_stats._", "_").replace("_values", "").removeprefix("_")
            yield path, pa.field(name, _arrow_type(kind), nullable=isinstance(kind, list))


_PATHS = {field.name: path for path, field in _leaves(MANIFEST_SCHEMA)}

ENTRY_COLUMNS = pa.schema([field for _, field in _leaves(MANIFEST_SCHEMA)])
"""The columns of manifest entries for planning, named as the fields of `ManifestEntry` and
`DataFileMeta`; statistics are `key_min`, `key_max`, `key_null_counts`, `value_min`, ..."""

STATS_COLUMNS = {
    "key_stats": ("key_min", "key_max", "key_null_counts"),
    "value_stats": ("value_min", "value_max", "value_null_counts"),
}
_FILE_FIELDS = tuple(field.name for field in fields(DataFileMeta))
_META_FIELDS = tuple(field.name for field in fields(ManifestFileMeta))


def entry_schema(names: Collection[str] | None = None) -> pa.Schema:
    """The named ones of `ENTRY_COLUMNS`, all by default, in their order."""
    return pa.schema([f for f in ENTRY_COLUMNS if names is None or f.name in names])


def entry_paths(names: Collection[str]) -> set[str]:
    """What to decode of a manifest to get some of `ENTRY_COLUMNS`."""
    return {"_VERSION", "_KIND", *(_PATHS[name] for name in names)}


def entry_columns(
    decoded: pa.Table, path: str, *, names: Collection[str] | None = None
) -> pa.Table:
    """The flat columns of a manifest, as `ENTRY_COLUMNS`.

    Args:
        decoded: Columns named by their path in the record.
        path: The manifest, for messages.
        names: The columns out, all by default.

    Raises:
        CorruptTableError: A column is missing, null or of another type.
        UnsupportedError: A record is of another version.
    """
    return stored_columns(
        decoded, path, schema=entry_schema(names), paths=_PATHS, version=RECORD_VERSION
    )


def stored_columns(
    decoded: pa.Table,
    path: str,
    *,
    schema: pa.Schema,
    paths: Mapping[str, str],
    version: int,
) -> pa.Table:
    """The flat columns of a file of entries that have a version and a kind.

    Args:
        decoded: Columns named by their path in the record.
        path: The file, for messages.
        schema: The columns out; nullable ones may be missing in the file.
        paths: Their path in the record, by name.
        version: Of the records.

    Raises:
        CorruptTableError: A column is missing, null or of another type.
        UnsupportedError: A record is of another version.
    """
    if decoded.num_rows == 0:
        return schema.empty_table()
    stored = dict(zip(decoded.column_names, decoded.columns, strict=True))
    versions = _stored(stored, "_VERSION", pa.field("_VERSION", pa.int32()), path=path)
    for found in (None,) if versions.null_count else _ends(versions):
        check_record_version(found, version, path=path)
    least, most = _ends(_stored(stored, "_KIND", ENTRY_COLUMNS.field("kind"), path=path))
    if least < FileKind.ADD or most > FileKind.DELETE:
        raise CorruptTableError(path, "a manifest entry is neither ADD (0) nor DELETE (1)")
    columns = []
    for field in schema:
        source = paths[field.name]
        if field.nullable and source not in stored:
            columns.append(pa.nulls(decoded.num_rows, field.type))
        else:
            columns.append(_stored(stored, source, field, path=path))
    return pa.Table.from_arrays(columns, schema=schema)


def entries_from_columns(columns: pa.Table) -> list[ManifestEntry]:
    """An object for each row of `ENTRY_COLUMNS`; for the few entries that survive planning."""
    return [_entry_from_row(row) for row in columns.to_pylist()]


def entries_to_columns(entries: Iterable[ManifestEntry]) -> pa.Table:
    """The reverse of `entries_from_columns`."""
    return pa.Table.from_pylist([_entry_to_row(entry) for entry in entries], schema=ENTRY_COLUMNS)


def entry_to_record(entry: ManifestEntry) -> dict[str, object]:
    """The Avro record of an entry, for `MANIFEST_SCHEMA`."""
    return {
        "_VERSION": RECORD_VERSION,
        "_KIND": int(entry.kind),
        "_PARTITION": entry.partition,
        "_BUCKET": entry.bucket,
        "_TOTAL_BUCKETS": entry.total_buckets,
        "_FILE": {avro_name(name): _avro_value(getattr(entry.file, name)) for name in _FILE_FIELDS},
    }


def meta_to_record(meta: ManifestFileMeta) -> dict[str, object]:
    """The Avro record of a manifest, for `MANIFEST_LIST_SCHEMA`."""
    values = {avro_name(name): _avro_value(getattr(meta, name)) for name in _META_FIELDS}
    return {"_VERSION": RECORD_VERSION, **values}


def meta_from_record(record: Mapping[str, object], path: str) -> ManifestFileMeta:
    """A manifest from its Avro record.

    Args:
        record: The decoded record.
        path: The manifest list, for messages.

    Raises:
        CorruptTableError: A field is missing or of another type.
        UnsupportedError: The record is of another version.
    """
    check_record_version(record.get("_VERSION"), RECORD_VERSION, path=path)
    values = {
        name: record.get(avro_name(name)) for name in _META_FIELDS if name != "partition_stats"
    }
    stats = record.get("_PARTITION_STATS")
    try:
        return msgspec.convert(
            {**values, "partition_stats": _stats_members(stats)}, ManifestFileMeta
        )
    except msgspec.ValidationError as error:
        raise CorruptTableError(path, f"not a manifest list record: {error}") from error


def check_record_version(version: object, expected: int, *, path: str) -> None:
    """Refuses a record of another `_VERSION`.

    Raises:
        CorruptTableError: There is no number.
        UnsupportedError: It is another number.
    """
    if not isinstance(version, int):
        raise CorruptTableError(path, "a record has no _VERSION")
    if version != expected:
        raise UnsupportedError(
            f"{path}: records have version {version}, Lakebed reads {expected}. "
            "Read the table with another release"
        )


def avro_name(name: str) -> str:
    """The name of a field in the file."""
    return f"_{name.upper()}"


def _avro_value(value: object) -> object:
    if isinstance(value, SimpleStats):
        values = (value.min_values, value.max_values, _avro_value(value.null_counts))
        return dict(zip(_NAMED_STATS, values, strict=True))
    return list(value) if isinstance(value, tuple) else value


def _stats_members(record: object) -> object:
    """The stats as members by Python name; anything else as it is, to be refused."""
    if not isinstance(record, Mapping):
        return record
    return {name.lower().removeprefix("_"): value for name, value in record.items()}


def _ends(numbers: ChunkedColumn) -> tuple[int, int]:
    """The least and the greatest of some numbers."""
    ends: Any = pc.min_max(numbers)
    return ends["min"].as_py(), ends["max"].as_py()


def _stored(
    columns: Mapping[str, ChunkedColumn], name: str, field: ArrowField, *, path: str
) -> ChunkedColumn:
    """A column of the file as a field of `ENTRY_COLUMNS`."""
    if name not in columns:
        raise CorruptTableError(path, f"the manifest has no field {name}")
    column = columns[name]
    if column.type != field.type:
        try:
            column = column.cast(field.type)
        except pa.ArrowException as error:
            raise CorruptTableError(
                path, f"{field.name} of the manifest is no {field.type}: {error}"
            ) from error
    if not field.nullable and column.null_count:
        raise CorruptTableError(path, f"{field.name} of a manifest entry is null")
    return column


def _entry_from_row(row: dict[str, Any]) -> ManifestEntry:
    file: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in row.items()
        if name in _FILE_FIELDS
    }
    for name, columns in STATS_COLUMNS.items():
        low, high, nulls = (row[column] for column in columns)
        file[name] = SimpleStats(
            min_values=low, max_values=high, null_counts=None if nulls is None else tuple(nulls)
        )
    return ManifestEntry(
        kind=FileKind(row["kind"]),
        partition=row["partition"],
        bucket=row["bucket"],
        total_buckets=row["total_buckets"],
        file=DataFileMeta(**file),
    )


def _entry_to_row(entry: ManifestEntry) -> dict[str, object]:
    row: dict[str, object] = {
        "kind": int(entry.kind),
        "partition": entry.partition,
        "bucket": entry.bucket,
        "total_buckets": entry.total_buckets,
    }
    for name in _FILE_FIELDS:
        value = getattr(entry.file, name)
        if isinstance(value, SimpleStats):
            values = (value.min_values, value.max_values, value.null_counts)
            row.update(zip(STATS_COLUMNS[name], values, strict=True))
        else:
            row[name] = value
    return row
