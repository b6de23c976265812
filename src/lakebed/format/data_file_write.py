"""How data files of any format are written: the one place that knows which formats can be.

The counterpart of `data_file`, which reads them.
"""

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.types import parquet_schema
from lakebed.format.avro import write as avro
from lakebed.format.avro.container import writable_codec
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.orc import write as orc
from lakebed.format.parquet import write as parquet
from lakebed.format.types import DataField
from lakebed.options.table_options import TableOptions

__all__ = [
    "DataFileSettings",
    "DataFileWriter",
    "check_table_writable",
    "check_writable",
    "open_data_file_writer",
]


class DataFileWriter(Protocol):
    """Writes the rows of one file."""

    def write(self, rows: pa.Table) -> None:
        """Appends rows: the columns of the file, in order and in their types in Arrow.

        Raises:
            InvalidDataError: A null where the type takes none.
        """
        ...

    def close(self) -> None:
        """Writes what is left, and the end of the file. The sink is left to who opened it."""
        ...


_FORMATS = ("avro", "orc", "parquet")


def open_data_file_writer(
    sink: pa.NativeFile,
    file_format: str,
    *,
    fields: Sequence[DataField],
    settings: DataFileSettings,
) -> DataFileWriter:
    """A writer of one data file.

    Args:
        sink: Where the bytes go.
        file_format: `parquet`, `avro` or `orc`, which is the extension of the file's name.
        fields: The columns of the file (`key_value.data_file_fields`).
        settings: How to encode.

    Raises:
        UnsupportedError: A format, a type or a compression that cannot be written.
    """
    match _known(file_format):
        case "avro":
            return avro.AvroWriter(sink, fields, settings)
        case "orc":
            return orc.OrcWriter(sink, fields, settings)
        case _:
            parquet.check_writable(fields)
            return parquet.ParquetWriter(sink, parquet_schema(fields), settings)


def check_writable(
    fields: Sequence[DataField], file_format: str, settings: DataFileSettings
) -> None:
    """Refuses what no file of a format can be made of, before there is one.

    Raises:
        UnsupportedError: Names the column and its type, or the compression, and what to use.
    """
    match _known(file_format):
        case "avro":
            writable_codec(settings.compression)
            avro.check_writable(fields)
        case "orc":
            orc.orc_codec(settings.compression, settings.zstd_level)
            orc.check_writable(fields, settings)
        case _:
            parquet.parquet_codec(settings.compression)
            parquet.check_writable(fields)


def check_table_writable(
    fields: Sequence[DataField], options: TableOptions, *, time_zone: str = "UTC"
) -> None:
    """Refuses a table whose files, of any level, could not be written.

    Args:
        fields: The columns of the table.
        options: Of the table.
        time_zone: Name of the writer's zone.

    Raises:
        UnsupportedError: Names the column and its type, or the option, and what to use.
    """
    formats = options.formats
    for level in (None, *formats.format_per_level, *formats.compression_per_level):
        file_format = options.format_of_level(level)
        settings = DataFileSettings.of(options, file_format, level=level, time_zone=time_zone)
        check_writable(fields, file_format, settings)


def _known(file_format: str) -> str:
    """The name of a format in lower case.

    Raises:
        UnsupportedError: Files of it cannot be written.
    """
    name = file_format.lower()
    if name not in _FORMATS:
        raise UnsupportedError(
            f"data files of format {file_format!r} cannot be written, only {', '.join(_FORMATS)}"
        )
    return name
