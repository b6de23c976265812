"""What does an index manifest say, in columns and record by record (format.md 12)?

It lists every live index file of a snapshot: hash indexes, deletion vectors, global indexes. It is
written whole each time it changes, so its entries are all ADD.

A table may have an index file for each of its buckets, so they are read, chosen and written as
columns; an entry is made of those that are used.
"""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np
import pyarrow as pa

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.nested import part_of
from lakebed.format.arrow.types import to_arrow_schema, to_arrow_type
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn, joined
from lakebed.format.data_file_meta import FileKind
from lakebed.format.file_rows import reshape
from lakebed.format.manifest import ArrowField, avro_name, stored_columns
from lakebed.format.schema_definition import schema
from lakebed.format.type_text import parse_type
from lakebed.format.types import ArrayType, DataType, RowType

RECORD_VERSION = 1
DELETION_VECTORS = "DELETION_VECTORS"

_TYPES = {
    "kind": "INT NOT NULL",
    "partition": "BYTES NOT NULL",
    "bucket": "INT NOT NULL",
    "index_type": "STRING NOT NULL",
    "file_name": "STRING NOT NULL",
    "file_size": "BIGINT NOT NULL",
    "row_count": "BIGINT NOT NULL",
    "deletions_vectors_ranges": (
        "ARRAY<ROW<f0 STRING NOT NULL, f1 INT NOT NULL, f2 INT NOT NULL, _CARDINALITY BIGINT>>"
    ),
    "external_path": "STRING",
    "global_index": (
        "ROW<_ROW_RANGE_START BIGINT NOT NULL, _ROW_RANGE_END BIGINT NOT NULL, "
        "_INDEX_FIELD_ID INT NOT NULL, _EXTRA_FIELD_IDS ARRAY<INT NOT NULL>, _INDEX_META BYTES, "
        "_SOURCE_META BYTES>"
    ),
}
_PATHS = {name: avro_name(name) for name in _TYPES}
_RANGES = _PATHS["deletions_vectors_ranges"]

INDEX_MANIFEST_FIELDS = schema(
    [("_VERSION", "INT NOT NULL"), *((_PATHS[name], text) for name, text in _TYPES.items())]
).fields
"""What an index manifest holds, as the columns of an Avro file."""

_INDEX_FIELDS = [
    replace(field, name=name) for name, field in zip(_TYPES, INDEX_MANIFEST_FIELDS[1:], strict=True)
]
INDEX_COLUMNS = to_arrow_schema(_INDEX_FIELDS)
"""The columns of index files, named as in the file; what is nested has the file's own names."""

# As a decoder gives them: with nulls anywhere, and large types.
_DECODED_COLUMNS = pa.schema(
    [
        field.with_type(to_arrow_type(parse_type(text.replace(" NOT NULL", ""))))
        for field, text in zip(INDEX_COLUMNS, _TYPES.values(), strict=True)
    ]
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


def index_columns(decoded: pa.Table, path: str) -> pa.Table:
    """The index files that an index manifest lists, as `INDEX_COLUMNS`.

    Args:
        decoded: The records as columns, from `avro.read_columns`.
        path: The index manifest, for messages.

    Raises:
        CorruptTableError: A field is missing, null or of another type.
        UnsupportedError: A record is of another version.
    """
    _check_nested(decoded, path)
    found = stored_columns(
        decoded, path, schema=_DECODED_COLUMNS, paths=_PATHS, version=RECORD_VERSION
    )
    columns = []
    for column, field in zip(found.columns, _INDEX_FIELDS, strict=True):
        array, kind = joined(column), to_arrow_type(field.type)
        if _lacks_values(array, field.type):
            raise CorruptTableError(path, f"{field.name} of an index file has a null inside")
        columns.append(reshape(array, kind))
    return pa.Table.from_arrays(columns, schema=INDEX_COLUMNS)


def index_entries_from_columns(columns: pa.Table) -> list[IndexManifestEntry]:
    """An entry for each row of `INDEX_COLUMNS`; for the few index files that are used."""
    rows = columns.rename_columns(list(_PATHS.values())).to_pylist()
    return msgspec.convert(rows, list[IndexManifestEntry])


def index_entries_to_columns(entries: Sequence[IndexManifestEntry]) -> pa.Table:
    """The reverse of `index_entries_from_columns`."""
    columns = []
    for attribute, field in zip(IndexManifestEntry.__struct_fields__, INDEX_COLUMNS, strict=True):
        values = [getattr(entry, attribute) for entry in entries]
        plain = msgspec.to_builtins(values, builtin_types=(bytes,))
        columns.append(pa.array(plain, field.type))
    return pa.Table.from_arrays(columns, schema=INDEX_COLUMNS)


def index_records(columns: pa.Table) -> pa.Table:
    """The columns of an index manifest, `INDEX_MANIFEST_FIELDS`, of `INDEX_COLUMNS`."""
    version = pa.array(np.full(columns.num_rows, RECORD_VERSION, np.int32))
    stored = to_arrow_schema(INDEX_MANIFEST_FIELDS)
    return pa.Table.from_arrays([version, *columns.columns], schema=stored)


def deletion_vector_columns(columns: pa.Table) -> pa.Table:
    """The deletion vectors among index files, as `DELETION_VECTOR_COLUMNS`.

    Args:
        columns: As `INDEX_COLUMNS`.
    """
    files = columns.filter(pc.equal(columns["index_type"], DELETION_VECTORS))
    lists = joined(files["deletions_vectors_ranges"])
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    ranges = pc.list_flatten(lists)
    owners = files.take(np.repeat(np.arange(len(counts)), counts))
    found: dict[str, ArrowColumn] = {
        "partition": owners["partition"],
        "bucket": owners["bucket"],
        "index_file_name": owners["file_name"],
        "external_path": owners["external_path"],
        **{name: pc.struct_field(ranges, source) for name, source in _RANGE_COLUMNS.items()},
    }
    return pa.table(found).cast(DELETION_VECTOR_COLUMNS)


def _check_nested(decoded: pa.Table, path: str) -> None:
    """Refuses what a reader without columns made of a nullable record: parts of it, or nothing."""
    for field in decoded.schema:
        name, _, part = field.name.partition(".")
        is_lost = part or pa.types.is_null(field.type)
        if is_lost and name == _PATHS["global_index"]:
            raise UnsupportedError(
                f"{path}: its Avro schema has a type that index manifests have not. Read the table "
                "with another release"
            )


def _lacks_values(array: ArrowArray, kind: DataType) -> bool:
    """Whether a value inside is null where its type takes none; an element of a list never may."""
    present = array.drop_null()
    match kind:
        case ArrayType(element=element):
            elements = pc.list_flatten(present)
            return bool(elements.null_count) or _lacks_values(elements, element)
        case RowType(fields=fields):
            return any(
                (not field.type.nullable and part.null_count) or _lacks_values(part, field.type)
                for field in fields
                for part in [part_of(present, field.name)]
            )
        case _:
            return False
