"""How Arrow columns become a Parquet data file that every Paimon reader reads (format.md 11)."""

from collections.abc import Sequence
from inspect import signature
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import UnsupportedError
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.fitted_rows import fitted
from lakebed.format.held_sink import HeldSink
from lakebed.format.parquet.dictionaries import dictionary_columns, leaf_paths
from lakebed.format.parquet.footer import end_with_int96
from lakebed.format.parquet.int96_write import as_stored, holds_nanos, stored_schema
from lakebed.format.type_text import format_type
from lakebed.format.types import AtomicType, DataField, TypeRoot, VectorType, leaf_types

__all__ = ["ParquetWriter", "check_writable", "parquet_codec"]

# Names of `file.compression` to pyarrow's. LZ4 comes without Hadoop's framing, as a codec of its
# own, which the format's readers know.
_CODECS: dict[str, Literal["zstd", "snappy", "gzip", "lz4", "none"]] = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "lz4": "lz4",
    "lz4_raw": "lz4",
    "none": "none",
    "uncompressed": "none",
}

# Short pages are for readers that pass over some by an index of pages, which these files lack.
# Libraries that know no such limit have none.
_KNOWS_PAGE_ROWS = "max_rows_per_page" in signature(pq.ParquetWriter.__init__).parameters
_PAGES: Any = {"max_rows_per_page": 1 << 30} if _KNOWS_PAGE_ROWS else {}


class ParquetWriter:
    """Writes one file; each call of `write` appends a row group."""

    def __init__(self, sink: pa.NativeFile, schema: pa.Schema, settings: DataFileSettings) -> None:
        """Prepares the file, of which nothing is written before the first rows tell how.

        Args:
            sink: Where the bytes go; whoever opened it closes it.
            schema: Arrow schema with `PARQUET:field_id` on every field (`types.parquet_schema`).
            settings: How to encode.

        Raises:
            UnsupportedError: A codec that cannot be written.
        """
        self._schema = schema
        self._stored_schema = stored_schema(schema)
        self._settings = settings
        self._codec = parquet_codec(settings.compression)
        self._held = None if self._stored_schema.equals(self._schema) else HeldSink(sink)
        self._sink = sink if self._held is None else pa.PythonFile(self._held, mode="w")
        self._writer: pq.ParquetWriter | None = None

    def write(self, rows: pa.Table) -> None:
        """Appends rows, in the order and types of the columns.

        Raises:
            InvalidDataError: A null where the type takes none.
        """
        typed = fitted(rows, self._schema)
        if self._held is not None:
            typed = as_stored(typed, self._stored_schema)
        self._opened(typed).write_table(typed)

    def close(self) -> None:
        """Writes the footer."""
        close = self._opened(self._stored_schema.empty_table()).close
        if self._held is None:
            close()
        else:
            self._held.end(close, end_with_int96)

    def _opened(self, first_rows: pa.Table) -> pq.ParquetWriter:
        if self._writer is None:
            wanted = self._settings.dictionary
            self._writer = pq.ParquetWriter(
                self._sink,
                self._stored_schema,
                compression=self._codec,
                compression_level=self._settings.zstd_level if self._codec == "zstd" else None,
                use_dictionary=dictionary_columns(first_rows) if wanted is None else wanted,  # type: ignore[arg-type]  # takes names too
                dictionary_pagesize_limit=self._settings.dictionary_page_bytes,
                data_page_size=self._settings.page_bytes,
                store_schema=False,
                store_decimal_as_integer=True,
                write_page_checksum=True,
                write_time_adjusted_to_utc=True,
                write_statistics=self._described_columns(),
                **_PAGES,
            )
        return self._writer

    def _described_columns(self) -> list[str] | bool:
        """Those with statistics."""
        without = {each.name for each in self._schema if holds_nanos(each.type)}
        return not without or [
            path
            for field in self._stored_schema
            if field.name not in without
            for path in leaf_paths(field, field.name)
        ]


def check_writable(fields: Sequence[DataField]) -> None:
    """Refuses columns whose values cannot be written to Parquet as the format wants them.

    Raises:
        UnsupportedError: Names the column and what to use.
    """
    for field in fields:
        for leaf in leaf_types(field.type):
            is_blob = isinstance(leaf, AtomicType) and leaf.root is TypeRoot.BLOB
            if is_blob or isinstance(leaf, VectorType):
                advice = "use BYTES" if is_blob else "use ARRAY"
                raise UnsupportedError(
                    f"column {field.name!r}: {format_type(leaf)} cannot be written yet; {advice}"
                )


def parquet_codec(compression: str) -> Literal["zstd", "snappy", "gzip", "lz4", "none"]:
    """The library's name of a value of `file.compression`, in any case.

    Raises:
        UnsupportedError: Parquet files cannot be written with it.
    """
    codec = _CODECS.get(compression.lower())
    if codec is None:
        raise UnsupportedError(
            f"file.compression={compression!r} cannot be written to Parquet; use one of "
            f"{', '.join(_CODECS)}"
        )
    return codec
