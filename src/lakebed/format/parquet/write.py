"""How Arrow columns become a Parquet data file that every Paimon reader reads (format.md 11)."""

from collections.abc import Iterator, Sequence
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import UnsupportedError
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.fitted_rows import fitted
from lakebed.format.held_sink import HeldSink
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


class ParquetWriter:
    """Writes one file; each call of `write` appends a row group."""

    def __init__(self, sink: pa.NativeFile, schema: pa.Schema, settings: DataFileSettings) -> None:
        """Writes the head of the file.

        Args:
            sink: Where the bytes go; whoever opened it closes it.
            schema: Arrow schema with `PARQUET:field_id` on every field (`types.parquet_schema`).
            settings: How to encode.

        Raises:
            UnsupportedError: A codec that cannot be written.
        """
        self._schema = schema
        self._stored_schema = stored_schema(schema)
        self._held = None if self._stored_schema.equals(self._schema) else HeldSink(sink)
        self._writer = _open(
            sink if self._held is None else pa.PythonFile(self._held, mode="w"),
            self._stored_schema,
            settings,
            without_statistics=[each.name for each in self._schema if holds_nanos(each.type)],
        )

    def write(self, rows: pa.Table) -> None:
        """Appends rows, in the order and types of the columns.

        Raises:
            InvalidDataError: A null where the type takes none.
        """
        typed = fitted(rows, self._schema)
        if self._held is not None:
            typed = as_stored(typed, self._stored_schema)
        self._writer.write_table(typed)

    def close(self) -> None:
        """Writes the footer."""
        if self._held is None:
            self._writer.close()
        else:
            self._held.end(self._writer.close, end_with_int96)


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


def _open(
    sink: pa.NativeFile,
    schema: pa.Schema,
    settings: DataFileSettings,
    *,
    without_statistics: Sequence[str],
) -> pq.ParquetWriter:
    codec = parquet_codec(settings.compression)
    described = [
        path
        for field in schema
        if field.name not in without_statistics
        for path in _leaf_paths(field, field.name)
    ]
    return pq.ParquetWriter(
        sink,
        schema,
        compression=codec,
        compression_level=settings.zstd_level if codec == "zstd" else None,
        use_dictionary=_dictionary_columns(schema, settings.dictionary),  # type: ignore[arg-type]  # takes names too
        dictionary_pagesize_limit=settings.dictionary_page_bytes,
        data_page_size=settings.page_bytes,
        store_schema=False,
        store_decimal_as_integer=True,
        write_page_checksum=True,
        write_time_adjusted_to_utc=True,
        write_statistics=described if without_statistics else True,
    )


def _dictionary_columns(schema: pa.Schema, wanted: bool | None) -> list[str] | bool:  # noqa: FBT001 - three values
    """Dictionaries pay for text; for numbers they cost more time than they save bytes."""
    if wanted is not None:
        return wanted
    if any(pa.types.is_nested(field.type) for field in schema):
        return True
    return [
        field.name
        for field in schema
        if pa.types.is_string(field.type) or pa.types.is_binary(field.type)
    ]


def _leaf_paths(field: "pa.Field[pa.DataType]", path: str) -> Iterator[str]:
    """The dotted paths of a file's columns, as its schema has them."""
    kind = field.type
    match kind:
        case pa.ListType():
            yield from _leaf_paths(kind.value_field, f"{path}.list.element")
        case pa.MapType():
            yield from _leaf_paths(kind.key_field, f"{path}.key_value.key")
            yield from _leaf_paths(kind.item_field, f"{path}.key_value.value")
        case pa.StructType():
            for part in kind:
                yield from _leaf_paths(part, f"{path}.{part.name}")
        case _:
            yield path
