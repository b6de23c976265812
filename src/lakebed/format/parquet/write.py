"""How Arrow columns become a Parquet data file that every Paimon reader reads (format.md 11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.errors import UnsupportedError
from lakebed.format.type_text import format_type
from lakebed.format.types import AtomicType, DataField, DataType, TypeRoot, leaf_types

# Names of `file.compression` to pyarrow's. `lz4` means the framing of Hadoop, which pyarrow cannot
# write, so it is not here.
_CODECS: dict[str, Literal["zstd", "snappy", "gzip", "none"]] = {
    "zstd": "zstd",
    "snappy": "snappy",
    "gzip": "gzip",
    "none": "none",
}

_TIMESTAMPS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
_UNWRITABLE = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})
_PRECISION_MAX = 6


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
        UnsupportedError: A codec that cannot be written.
    """
    codec = _CODECS.get(settings.compression.lower())
    if codec is None:
        raise UnsupportedError(
            f"file.compression={settings.compression!r} cannot be written; use one of "
            f"{', '.join(_CODECS)}"
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


def check_writable(fields: Sequence[DataField]) -> None:
    """Refuses columns whose values cannot be written to Parquet as the format wants them.

    Raises:
        UnsupportedError: Names the column and what to use.
    """
    for field in fields:
        for leaf in leaf_types(field.type):
            if not _is_writable(leaf):
                advice = "use TIMESTAMP(6)" if _is_timestamp(leaf) else "use another type"
                raise UnsupportedError(
                    f"column {field.name!r}: {format_type(leaf)} cannot be written yet; {advice}"
                )


def _is_writable(kind: DataType) -> bool:
    if not isinstance(kind, AtomicType) or kind.root in _UNWRITABLE:
        return False
    # More digits are stored as INT96, which pyarrow would then use for all timestamps of a file.
    return kind.root not in _TIMESTAMPS or (kind.precision or 0) <= _PRECISION_MAX


def _is_timestamp(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.root in _TIMESTAMPS


def _dictionary_columns(schema: pa.Schema) -> list[str] | bool:
    """Dictionaries pay for text; for numbers they cost more time than they save bytes."""
    if any(pa.types.is_nested(field.type) for field in schema):
        return True
    return [
        field.name
        for field in schema
        if pa.types.is_string(field.type) or pa.types.is_binary(field.type)
    ]
