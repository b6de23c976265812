"""How do the flat columns of manifest entries become the records of a manifest (format.md 7)?

The other way round is `manifest.entry_columns`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import ArrowArray, joined
from lakebed.format.file_rows import reshape
from lakebed.format.manifest import RECORD_VERSION, STATS_COLUMNS, avro_name
from lakebed.format.schema_definition import schema

# The stubs know no arrays of structs whose fields are found out at run time.
_arrow: Any = pa

_STATS = (
    "ROW<_MIN_VALUES BYTES NOT NULL, _MAX_VALUES BYTES NOT NULL, _NULL_COUNTS ARRAY<BIGINT>>"
    " NOT NULL"
)
_FILE_TYPES = {
    "file_name": "STRING NOT NULL",
    "file_size": "BIGINT NOT NULL",
    "row_count": "BIGINT NOT NULL",
    "min_key": "BYTES NOT NULL",
    "max_key": "BYTES NOT NULL",
    "key_stats": _STATS,
    "value_stats": _STATS,
    "min_sequence_number": "BIGINT NOT NULL",
    "max_sequence_number": "BIGINT NOT NULL",
    "schema_id": "BIGINT NOT NULL",
    "level": "INT NOT NULL",
    "extra_files": "ARRAY<STRING NOT NULL> NOT NULL",
    "creation_time": "TIMESTAMP(3)",
    "delete_row_count": "BIGINT",
    "embedded_file_index": "BYTES",
    "file_source": "INT",
    "value_stats_cols": "ARRAY<STRING NOT NULL>",
    "external_path": "STRING",
    "first_row_id": "BIGINT",
    "write_cols": "ARRAY<STRING NOT NULL>",
    "write_cols_sequences": "ARRAY<BIGINT NOT NULL>",
}
_FILE = ", ".join(f"{avro_name(name)} {text}" for name, text in _FILE_TYPES.items())

MANIFEST_FIELDS = schema(
    [
        ("_VERSION", "INT NOT NULL"),
        ("_KIND", "INT NOT NULL"),
        ("_PARTITION", "BYTES NOT NULL"),
        ("_BUCKET", "INT NOT NULL"),
        ("_TOTAL_BUCKETS", "INT NOT NULL"),
        ("_FILE", f"ROW<{_FILE}> NOT NULL"),
    ]
).fields
"""What a manifest holds, as the columns of an Avro file."""

_SCHEMA = to_arrow_schema(MANIFEST_FIELDS)


def manifest_rows(entries: pa.Table) -> pa.Table:
    """The columns of a manifest, `MANIFEST_FIELDS`, of `manifest.ENTRY_COLUMNS`."""
    flat = {name: joined(entries.column(name)) for name in entries.column_names}
    version = pa.array(np.full(entries.num_rows, RECORD_VERSION, np.int32))
    columns = [version, *(_part(field, flat) for field in list(_SCHEMA)[1:])]
    return pa.Table.from_arrays(columns, schema=_SCHEMA)


def _part(field: "pa.Field[pa.DataType]", flat: Mapping[str, ArrowArray]) -> ArrowArray:
    """A field of the record, from the columns that make it up."""
    name = field.name.removeprefix("_").lower()
    if not isinstance(field.type, pa.StructType):
        return _typed(flat[name], field.type)
    inside: Sequence[pa.Field[pa.DataType]] = list(field.type)
    if name in STATS_COLUMNS:
        parts = [
            _typed(flat[column], part.type)
            for column, part in zip(STATS_COLUMNS[name], inside, strict=True)
        ]
    else:
        parts = [_part(part, flat) for part in inside]
    made: ArrowArray = _arrow.StructArray.from_arrays(parts, fields=inside)
    return made


def _typed(column: ArrowArray, kind: pa.DataType) -> ArrowArray:
    return reshape(column, kind) if pa.types.is_nested(kind) else column.cast(kind)
