"""What does an index manifest say, record by record (format.md 12)?

It lists every live index file of a snapshot: hash indexes, deletion vectors, global indexes. It is
written whole each time it changes, so its entries are all ADD.
"""

from collections.abc import Mapping

import msgspec
import numpy as np
import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn, nulls
from lakebed.format.data_file_meta import FileKind
from lakebed.format.manifest import (
    ArrowField,
    array_of,
    check_record_version,
    nullable,
    record_of,
    top_record,
)

RECORD_VERSION = 1
DELETION_VECTORS = "DELETION_VECTORS"
_RANGES = "_DELETIONS_VECTORS_RANGES"

INDEX_MANIFEST_SCHEMA = top_record(
    {
        "_VERSION": "int",
        "_KIND": "int",
        "_PARTITION": "bytes",
        "_BUCKET": "int",
        "_INDEX_TYPE": "string",
        "_FILE_NAME": "string",
        "_FILE_SIZE": "long",
        "_ROW_COUNT": "long",
        _RANGES: nullable(
            array_of(
                nullable(
                    record_of(
                        "record__DELETIONS_VECTORS_RANGES",
                        {
                            "f0": "string",
                            "f1": "int",
                            "f2": "int",
                            "_CARDINALITY": nullable("long"),
                        },
                    )
                )
            )
        ),
        "_EXTERNAL_PATH": nullable("string"),
        "_GLOBAL_INDEX": nullable(
            record_of(
                "record__GLOBAL_INDEX",
                {
                    "_ROW_RANGE_START": "long",
                    "_ROW_RANGE_END": "long",
                    "_INDEX_FIELD_ID": "int",
                    "_EXTRA_FIELD_IDS": nullable(array_of("int")),
                    "_INDEX_META": nullable("bytes"),
                    "_SOURCE_META": nullable("bytes"),
                },
            )
        ),
    }
)

_VECTOR_FIELDS: list[ArrowField] = [
    pa.field("partition", pa.binary()),
    pa.field("bucket", pa.int32()),
    pa.field("index_file_name", pa.string()),
    pa.field("external_path", pa.string()),
    pa.field("data_file_name", pa.string()),
    pa.field("offset", pa.int64()),
    pa.field("length", pa.int64()),
    pa.field("cardinality", pa.int64()),
]
DELETION_VECTOR_COLUMNS = pa.schema(_VECTOR_FIELDS)
"""The deletion vectors of an index manifest, a row each; the last column and `external_path` may be
null."""

_RANGE_COLUMNS = {
    "data_file_name": "f0",
    "offset": "f1",
    "length": "f2",
    "cardinality": "_CARDINALITY",
}


class DeletionVectorRange(msgspec.Struct, frozen=True, kw_only=True):
    """Where the deletion vector of a data file stands in its index file.

    Attributes:
        data_file_name: The data file whose rows are deleted.
        offset: Of the entry in the index file.
        length: Excludes size and checksum in the 32-bit form, includes them in the 64-bit form.
        cardinality: How many rows are deleted, where the writer said it.
    """

    data_file_name: str = msgspec.field(name="f0")
    offset: int = msgspec.field(name="f1")
    length: int = msgspec.field(name="f2")
    cardinality: int | None = msgspec.field(name="_CARDINALITY", default=None)


class GlobalIndexMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows and columns a global index covers.

    Attributes:
        row_range_start: First row id.
        row_range_end: Last row id.
        index_field_id: The column.
        extra_field_ids: Further columns.
        index_meta: What the kind of index keeps here.
        source_meta: What it was built from.
    """

    row_range_start: int = msgspec.field(name="_ROW_RANGE_START")
    row_range_end: int = msgspec.field(name="_ROW_RANGE_END")
    index_field_id: int = msgspec.field(name="_INDEX_FIELD_ID")
    extra_field_ids: tuple[int, ...] | None = msgspec.field(name="_EXTRA_FIELD_IDS", default=None)
    index_meta: bytes | None = msgspec.field(name="_INDEX_META", default=None)
    source_meta: bytes | None = msgspec.field(name="_SOURCE_META", default=None)


class IndexManifestEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One index file; names and meaning as in format.md 12.

    Attributes:
        kind: ADD in every stored entry.
        partition: Serialized BinaryRow of the partition columns.
        bucket: The bucket; 0 for append tables.
        index_type: `HASH`, `DELETION_VECTORS`, `btree` ...
        file_name: The index file.
        file_size: In bytes.
        row_count: Of DELETION_VECTORS, how many data files have one; of HASH, how many hashes.
        deletion_vectors_ranges: Where each data file's vector stands.
        external_path: Where the file is, if not in the index directory.
        global_index: What a global index covers.
    """

    kind: FileKind = msgspec.field(name="_KIND", default=FileKind.ADD)
    partition: bytes = msgspec.field(name="_PARTITION")
    bucket: int = msgspec.field(name="_BUCKET")
    index_type: str = msgspec.field(name="_INDEX_TYPE")
    file_name: str = msgspec.field(name="_FILE_NAME")
    file_size: int = msgspec.field(name="_FILE_SIZE")
    row_count: int = msgspec.field(name="_ROW_COUNT")
    deletion_vectors_ranges: tuple[DeletionVectorRange, ...] | None = msgspec.field(
        name=_RANGES, default=None
    )
    external_path: str | None = msgspec.field(name="_EXTERNAL_PATH", default=None)
    global_index: GlobalIndexMeta | None = msgspec.field(name="_GLOBAL_INDEX", default=None)


def index_entry_to_record(entry: IndexManifestEntry) -> dict[str, object]:
    """The Avro record of an entry, for `INDEX_MANIFEST_SCHEMA`."""
    values: dict[str, object] = msgspec.to_builtins(entry, builtin_types=(bytes,))
    if entry.deletion_vectors_ranges is not None or entry.global_index is not None:
        values = _without_tuples(values)
    return {"_VERSION": RECORD_VERSION, **values}


def index_entry_from_record(record: Mapping[str, object], path: str) -> IndexManifestEntry:
    """An entry from its Avro record.

    Args:
        record: The decoded record.
        path: The index manifest, for messages.

    Raises:
        CorruptTableError: A field is missing or of another type.
        UnsupportedError: The record is of another version.
    """
    check_record_version(record.get("_VERSION"), RECORD_VERSION, path=path)
    try:
        return msgspec.convert(record, IndexManifestEntry)
    except msgspec.ValidationError as error:
        raise CorruptTableError(path, f"not an index manifest record: {error}") from error


def deletion_vector_columns(decoded: pa.Table, path: str) -> pa.Table:
    """The deletion vectors that an index manifest lists, as `DELETION_VECTOR_COLUMNS`.

    Args:
        decoded: The records as columns, from `avro.read_columns`.
        path: The index manifest, for messages.

    Raises:
        CorruptTableError: A column is missing or of another type.
        UnsupportedError: A record is of another version.
    """
    if decoded.num_rows == 0 or _RANGES not in decoded.column_names:
        return DELETION_VECTOR_COLUMNS.empty_table()
    try:
        for version in pc.unique(decoded["_VERSION"]).to_pylist():
            check_record_version(version, RECORD_VERSION, path=path)
        entries = decoded.filter(pc.equal(decoded["_INDEX_TYPE"], DELETION_VECTORS))
        lists = entries[_RANGES].combine_chunks()
        if entries.num_rows == 0 or lists.null_count == len(lists):
            return DELETION_VECTOR_COLUMNS.empty_table()
        counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
        ranges = pc.list_flatten(lists)
        owners = entries.take(np.repeat(np.arange(len(counts)), counts))
        columns: dict[str, ArrowColumn] = {
            "partition": owners["_PARTITION"],
            "bucket": owners["_BUCKET"],
            "index_file_name": owners["_FILE_NAME"],
            "external_path": _column_or_null(owners, "_EXTERNAL_PATH", pa.string()),
        }
        for name, source in _RANGE_COLUMNS.items():
            is_there = ranges.type.get_field_index(source) >= 0
            columns[name] = (
                pc.struct_field(ranges, source) if is_there else nulls(len(ranges), pa.int64())
            )
        found = pa.table(columns).cast(DELETION_VECTOR_COLUMNS)
    except (KeyError, pa.ArrowException) as error:
        raise CorruptTableError(path, f"no index manifest: {error}") from error
    required = found.drop_columns(["external_path", "cardinality"])
    if any(column.null_count for column in required.columns):
        raise CorruptTableError(path, "a deletion vector lacks its file, offset or length")
    return found


def _column_or_null(rows: pa.Table, name: str, kind: pa.DataType) -> ArrowColumn:
    """A column; nulls where the writer was too old to have it."""
    return rows[name] if name in rows.column_names else nulls(rows.num_rows, kind)


def _without_tuples(record: Mapping[str, object]) -> dict[str, object]:
    """The record with lists for tuples, which an Avro writer takes for something else."""
    plain: dict[str, object] = {}
    for name, value in record.items():
        if isinstance(value, Mapping):
            plain[name] = _without_tuples(value)
        else:
            plain[name] = list(value) if isinstance(value, tuple) else value
    return plain
