"""The live data files of a table: `$files` and `$file_key_ranges`.

A table may have a million files, so their columns are made from the columns of the manifests, some
ten thousand files at a time, and only those that are asked for.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import ArrowArray, ArrowColumn, joined, nulls, python_values, taken
from lakebed.format.binary_row.codec import EMPTY_ROW, decode_rows
from lakebed.format.data_file_meta import FileSource
from lakebed.format.paths import format_of
from lakebed.format.schema import TableSchema
from lakebed.table.system.file_bounds import bounds_text
from lakebed.table.system.groups import readable_entries
from lakebed.table.system.kind import MetadataView, SystemTableKind, system_schema, table_of
from lakebed.table.system.value_text import list_text, row_texts, stored_text

_FILES_AT_ONCE = 50_000
# Enough of a file's name for its format and a compression behind it.
_EXTENSIONS = r"\A.*?((?:\.[^.]*){0,2})\z"

_KEY_RANGE_COLUMNS = {
    "partition": "STRING",
    "bucket": "INT NOT NULL",
    "file_path": "STRING NOT NULL",
    "file_format": "STRING NOT NULL",
    "schema_id": "BIGINT NOT NULL",
    "level": "INT NOT NULL",
    "record_count": "BIGINT NOT NULL",
    "file_size_in_bytes": "BIGINT NOT NULL",
    "min_key": "STRING",
    "max_key": "STRING",
}
_FILE_SCHEMA = system_schema(
    {
        **_KEY_RANGE_COLUMNS,
        "null_value_counts": "STRING NOT NULL",
        "min_value_stats": "STRING NOT NULL",
        "max_value_stats": "STRING NOT NULL",
        "min_sequence_number": "BIGINT",
        "max_sequence_number": "BIGINT",
        "creation_time": "TIMESTAMP(3)",
        "deleteRowCount": "BIGINT",
        "file_source": "STRING",
        "first_row_id": "BIGINT",
        "write_cols": "ARRAY<STRING>",
    },
    key=["file_path"],
)
_KEY_RANGE_SCHEMA = system_schema(
    {**_KEY_RANGE_COLUMNS, "first_row_id": "BIGINT"}, key=["file_path"]
)

# Columns that are those of the manifests, under other names.
_STORED = {
    "bucket": "bucket",
    "schema_id": "schema_id",
    "level": "level",
    "record_count": "row_count",
    "file_size_in_bytes": "file_size",
    "min_sequence_number": "min_sequence_number",
    "max_sequence_number": "max_sequence_number",
    "deleteRowCount": "delete_row_count",
    "first_row_id": "first_row_id",
    "write_cols": "write_cols",
}


def _file_rows(view: MetadataView, wanted: Collection[str]) -> pa.Table:
    return _rows_of(view, _FILE_SCHEMA, wanted)


def _key_range_rows(view: MetadataView, wanted: Collection[str]) -> pa.Table:
    return _rows_of(view, _KEY_RANGE_SCHEMA, wanted)


FILES = SystemTableKind(name="files", schema=_FILE_SCHEMA, rows=_file_rows)
FILE_KEY_RANGES = SystemTableKind(
    name="file_key_ranges", schema=_KEY_RANGE_SCHEMA, rows=_key_range_rows
)


def _rows_of(view: MetadataView, schema: TableSchema, wanted: Collection[str]) -> pa.Table:
    needed = {"schema_id"}.union(*(_NEEDED.get(name, {_STORED.get(name, name)}) for name in wanted))
    entries = readable_entries(view, view.live_entries(needed))
    fields = [field for field in schema.fields if field.name in wanted]
    schemas = {each: view.parts.schemas.load(each) for each in _schema_ids(entries)}
    tables = [
        table_of(fields, _columns(_FileColumns(view, schemas, part), [f.name for f in fields]))
        for start in range(0, entries.num_rows, _FILES_AT_ONCE)
        if (part := entries.slice(start, _FILES_AT_ONCE).combine_chunks())
    ]
    return pa.concat_tables(tables) if tables else to_arrow_schema(fields).empty_table()


def _schema_ids(entries: pa.Table) -> list[int]:
    return python_values(pc.unique(entries.column("schema_id")))


@dataclass(frozen=True, slots=True)
class _FileColumns:
    """Some files, and what their columns are made of.

    Attributes:
        view: The table.
        schemas: The schemas that wrote the files, by id.
        entries: The files.
    """

    view: MetadataView
    schemas: Mapping[int, TableSchema]
    entries: pa.Table

    def stored(self, name: str) -> ArrowArray:
        """A column of the manifests."""
        return joined(self.entries.column(name))

    def partition(self) -> ArrowColumn:
        fields = self.view.parts.schema.partition_type.fields
        zone = self.view.parts.session.time_zone
        return row_texts(self.stored("partition"), fields, time_zone=zone)

    def file_path(self) -> ArrowColumn:
        return file_paths(self.view, self.entries)

    def file_format(self) -> ArrowColumn:
        names = pc.replace_substring_regex(self.stored("file_name"), _EXTENSIONS, r"\1")
        encoded = names.dictionary_encode()
        formats = [format_of(f"file{each}") for each in encoded.dictionary.to_pylist()]
        shown: ArrowColumn = pa.array(formats, pa.string()).take(encoded.indices)
        return shown

    def min_key(self) -> ArrowColumn:
        return self._keys("min_key")

    def max_key(self) -> ArrowColumn:
        return self._keys("max_key")

    def _keys(self, name: str) -> ArrowColumn:
        """`[k1, k2]`; null for files without keys."""
        rows, schema_ids = self.stored(name), self.stored("schema_id").to_numpy()
        has_key = pc.not_equal(rows, EMPTY_ROW).to_numpy(zero_copy_only=False)
        texts = nulls(len(rows), pa.string())
        for schema_id, schema in self.schemas.items():
            here = has_key & (schema_ids == schema_id)
            types = [schema.field(each).type for each in schema.trimmed_primary_keys]
            if not here.any():
                continue
            columns = decode_rows(rows.filter(pa.array(here)), types, source=name)
            text = list_text([stored_text(column) for column in columns])
            texts = pc.replace_with_mask(texts, pa.array(here), text)
        return texts

    def creation_time(self) -> ArrowColumn:
        """The local time that the writer saw, as it stored it."""
        time: ArrowColumn = pc.cast(self.stored("creation_time"), pa.timestamp("ms"))
        return time

    def file_source(self) -> ArrowColumn:
        names = pa.array([each.name for each in FileSource], pa.string())
        sources: ArrowColumn = names.take(self.stored("file_source"))
        return sources


PATH_COLUMNS = frozenset({"partition", "bucket", "external_path", "file_name"})
"""The columns of entries that `file_paths` needs."""
_BOUND_COLUMNS = frozenset(
    {
        "value_min",
        "value_max",
        "value_null_counts",
        "value_stats_cols",
        "write_cols",
        "row_count",
    }
)
_NEEDED: Mapping[str, frozenset[str]] = {
    "file_path": PATH_COLUMNS,
    "file_format": frozenset({"file_name"}),
    "null_value_counts": _BOUND_COLUMNS,
    "min_value_stats": _BOUND_COLUMNS,
    "max_value_stats": _BOUND_COLUMNS,
}

_COMPUTED: dict[str, Callable[[_FileColumns], ArrowColumn]] = {
    "partition": _FileColumns.partition,
    "file_path": _FileColumns.file_path,
    "file_format": _FileColumns.file_format,
    "min_key": _FileColumns.min_key,
    "max_key": _FileColumns.max_key,
    "creation_time": _FileColumns.creation_time,
    "file_source": _FileColumns.file_source,
}
_BOUNDS = {
    "null_value_counts": "null_counts",
    "min_value_stats": "min",
    "max_value_stats": "max",
}


def _columns(files: _FileColumns, names: Collection[str]) -> dict[str, object]:
    columns: dict[str, object] = {
        name: files.stored(_STORED[name]) for name in names if name in _STORED
    }
    columns |= {name: _COMPUTED[name](files) for name in names if name in _COMPUTED}
    asked = [name for name in names if name in _BOUNDS]
    if asked:
        parts = files.view.parts
        texts = bounds_text(
            files.entries, parts.schema, files.schemas, time_zone=parts.session.time_zone
        )
        columns |= {name: getattr(texts, _BOUNDS[name]) for name in asked}
    return columns


def file_paths(view: MetadataView, entries: pa.Table) -> ArrowArray:
    """The full path of each entry's file."""
    places = view.parts.split_files.places(entries)
    directory = taken(places.directories, places.codes)
    path = pc.binary_join_element_wise(directory, joined(entries.column("file_name")), "/")
    full: ArrowArray = pc.coalesce(joined(entries.column("external_path")), path)
    return full
