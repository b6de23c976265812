"""Data files as the writers of `format.data_file_write` make them, for tests."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.data_file_write import (
    DataFileSettings,
    open_data_file_writer,
)
from lakebed.format.schema import TableSchema
from lakebed.format.types import DataField, DataType
from lakebed.storage.memory import MemoryFileIO
from support.columns import array_of
from support.golden_manifests import DATABASE


def written(
    rows: pa.Table,
    fields: Sequence[DataField],
    file_format: str,
    *,
    settings: DataFileSettings | None = None,
) -> tuple[MemoryFileIO, str]:
    """A file of the rows, each half of them given apart."""
    store, path = MemoryFileIO(), f"memory:/t/bucket-0/data-1.{file_format}"
    with store.open_output(path) as sink:
        writer = open_data_file_writer(
            sink, file_format, fields=fields, settings=settings or DataFileSettings()
        )
        writer.write(rows.slice(0, rows.num_rows // 2))
        writer.write(rows.slice(rows.num_rows // 2))
        writer.close()
    return store, path


def field(name: str, kind: DataType, *, number: int = 0) -> DataField:
    return DataField(id=number, name=name, type=kind)


def one_column(kind: DataType, values: Sequence[object]) -> tuple[pa.Table, list[DataField]]:
    fields = [field("c", kind)]
    schema = to_arrow_schema(fields)
    return pa.table([array_of(values, schema.field(0).type)], schema=schema), fields


def golden(table: str, extension: str) -> tuple[Path, TableSchema]:
    directory = DATABASE / table
    file = min(directory.glob(f"bucket-*/data-*.{extension}"))
    schema = directory / "schema" / "schema-0"
    return file, TableSchema.from_json(schema.read_bytes(), str(schema))
