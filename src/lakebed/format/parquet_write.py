"""How Arrow columns become a Parquet data file that every Paimon reader reads (format.md 11)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import UnsupportedError

# Names of `file.compression` to pyarrow's. `lz4` means the framing of Hadoop, which pyarrow cannot
# write, so it is not here.
_CODECS: dict[str, Literal["zstd", "snappy", "gzip", "none"]] = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "none": "none",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetSettings:
    """How files are encoded.

    Attributes:
        compression: Value of `file.compression`.
        zstd_level: Value of `file.compression.zstd-level`.
    """

    compression: str = "zstd"
    zstd_level: int = 1


def open_parquet_writer(
    sink: pa.NativeFile, schema: pa.Schema, settings: ParquetSettings
) -> pq.ParquetWriter:
    """A writer whose `write_table` appends row groups to `sink`.

    Args:
        sink: Where the bytes go.
        schema: Arrow schema with `PARQUET:field_id` on every field (`arrow_types.parquet_schema`).
        settings: How to encode.

    Raises:
        UnsupportedError: A codec, or a nanosecond timestamp, which Paimon stores as INT96.
    """
    codec = _CODECS.get(settings.compression.lower())
    if codec is None:
        raise UnsupportedError(
            f"file.compression={settings.compression!r} cannot be written; use one of "
            f"{', '.join(_CODECS)}"
        )
    for field in schema:
        if any(pa.types.is_timestamp(leaf) and leaf.unit == "ns" for leaf in _leaves(field.type)):
            raise UnsupportedError(
                f"column {field.name!r}: TIMESTAMP(7) to TIMESTAMP(9) cannot be written to Parquet "
                "yet; use TIMESTAMP(6)"
            )
    return pq.ParquetWriter(
        sink,
        schema,
        compression=codec,
        compression_level=settings.zstd_level if codec == "zstd" else None,
        use_dictionary=_dictionary_columns(schema),  # type: ignore[arg-type]  # takes names too
        store_schema=False,
        store_decimal_as_integer=True,
        write_statistics=True,
    )


def _leaves(kind: pa.DataType) -> Iterable[pa.DataType]:
    if not pa.types.is_nested(kind):
        yield kind
        return
    for index in range(kind.num_fields):
        yield from _leaves(kind.field(index).type)


def _dictionary_columns(schema: pa.Schema) -> list[str] | bool:
    """Dictionaries pay for text; for numbers they cost more time than they save bytes."""
    if any(pa.types.is_nested(field.type) for field in schema):
        return True
    return [
        field.name
        for field in schema
        if pa.types.is_string(field.type) or pa.types.is_binary(field.type)
    ]
