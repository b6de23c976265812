"""The indexes of data files, one row an index: `$file_indexes`."""

from collections.abc import Collection, Iterator

import pyarrow as pa

from lakebed.errors import CorruptTableError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import python_values
from lakebed.format.file_index.container import (
    IndexContainer,
    container_in_file,
    embedded_container,
)
from lakebed.format.paths import FILE_INDEX_SUFFIX
from lakebed.table.system.files import PATH_COLUMNS, file_paths
from lakebed.table.system.groups import readable_entries
from lakebed.table.system.kind import (
    MetadataView,
    SystemTableKind,
    system_schema,
    table_of_rows,
)
from lakebed.table.system.value_text import row_texts

_SCHEMA = system_schema(
    {
        "partition": "STRING",
        "bucket": "INT NOT NULL",
        "file_path": "STRING NOT NULL",
        "file_size_in_bytes": "BIGINT NOT NULL",
        "record_count": "BIGINT NOT NULL",
        "schema_id": "BIGINT NOT NULL",
        "column_name": "STRING NOT NULL",
        "index_type": "STRING NOT NULL",
        "storage_type": "STRING NOT NULL",
        "index_file_path": "STRING",
        "index_size_in_bytes": "BIGINT NOT NULL",
        "index_container_size_in_bytes": "BIGINT NOT NULL",
        "is_empty": "BOOLEAN NOT NULL",
    },
    key=["file_path", "column_name", "index_type"],
)
_ENTRY_COLUMNS = PATH_COLUMNS | {
    "file_size",
    "row_count",
    "schema_id",
    "embedded_file_index",
    "extra_files",
}


def _rows(view: MetadataView, _: Collection[str]) -> pa.Table:
    entries = readable_entries(view, view.live_entries(_ENTRY_COLUMNS))
    # Each index is opened, so only the few files that have one are looked at one by one.
    indexed = entries.filter(
        pc.or_(
            pc.is_valid(entries.column("embedded_file_index")),
            pc.greater(pc.list_value_length(entries.column("extra_files")), 0),
        )
    ).combine_chunks()
    return table_of_rows(_SCHEMA.fields, _index_rows(view, indexed))


FILE_INDEXES = SystemTableKind(name="file_indexes", schema=_SCHEMA, rows=_rows)


def _index_rows(view: MetadataView, entries: pa.Table) -> Iterator[tuple[object, ...]]:
    fields = view.parts.schema.partition_type.fields
    zone = view.parts.session.time_zone
    columns = (
        row_texts(entries.column("partition"), fields, time_zone=zone),
        entries.column("bucket"),
        file_paths(view, entries),
        entries.column("file_size"),
        entries.column("row_count"),
        entries.column("schema_id"),
    )
    for file, embedded, extra in zip(
        zip(*(python_values(column) for column in columns), strict=True),
        python_values(entries.column("embedded_file_index")),
        python_values(entries.column("extra_files")),
        strict=True,
    ):
        if embedded is not None:
            container = embedded_container(embedded, str(file[2]))
            where: tuple[object, ...] = ("EMBEDDED", None)
            yield from _of_container(file, container, where, size=len(embedded))
            continue
        names = [name for name in extra if name.endswith(FILE_INDEX_SUFFIX)]
        if len(names) > 1:
            problem = f"this data file has several indexes: {', '.join(names)}"
            raise CorruptTableError(str(file[2]), problem)
        for name in names:
            path = f"{str(file[2]).rpartition('/')[0]}/{name}"
            container = container_in_file(view.parts.file_io, path)
            size = view.parts.file_io.size(path)
            yield from _of_container(file, container, ("FILE", path), size=size)


def _of_container(
    file: tuple[object, ...], container: IndexContainer, where: tuple[object, ...], *, size: int
) -> Iterator[tuple[object, ...]]:
    for column, places in container.places.items():
        for index_type, place in places.items():
            length = 0 if place is None else place.length
            if place is not None and place.offset + length > size:
                problem = f"the {index_type} index of {column!r} is cut off"
                raise CorruptTableError(container.path, problem)
            yield (*file, column, index_type, *where, length, size, place is None)
