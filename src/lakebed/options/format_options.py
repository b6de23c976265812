"""Which levels have a format or a compression of their own, and how are files encoded?

Formats and compressions of the levels of a primary-key table are said as pairs such as
`0:avro,5:orc`, or with a key a level.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from lakebed.errors import InvalidArgumentError
from lakebed.options.values import parse_boolean, parse_integer, parse_map, parse_positive

__all__ = ["FormatOptions"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatOptions:
    """How the data files of a table are written, beside `file.format` and `file.compression`.

    Attributes:
        format_per_level: `file.format.per.level`.
        compression_per_level: `file.compression.per.level`.
        parquet_block_size: `parquet.block.size` in bytes.
        parquet_page_size: `parquet.page.size` in bytes.
        parquet_dictionary_page_size: `parquet.dictionary.page.size` in bytes.
        parquet_enable_dictionary: `parquet.enable.dictionary`; None: dictionaries of text alone.
        parquet_zstd_level: `parquet.compression.codec.zstd.level`.
        orc_timestamp_ltz_legacy_type: `orc.timestamp-ltz.legacy.type`.
    """

    format_per_level: Mapping[int, str] = field(hash=False)
    compression_per_level: Mapping[int, str] = field(hash=False)
    parquet_block_size: int | None
    parquet_page_size: int | None
    parquet_dictionary_page_size: int | None
    parquet_enable_dictionary: bool | None
    parquet_zstd_level: int | None
    orc_timestamp_ltz_legacy_type: bool

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "FormatOptions":
        """The options that hold.

        Raises:
            InvalidArgumentError: A text is no value of its option.
        """
        is_legacy = _find(options, "orc.timestamp-ltz.legacy.type", parse_boolean)
        return cls(
            format_per_level=_words_per_level(options, "file.format.per.level"),
            compression_per_level=_words_per_level(options, "file.compression.per.level"),
            parquet_block_size=_find(options, "parquet.block.size", parse_positive),
            parquet_page_size=_find(options, "parquet.page.size", parse_positive),
            parquet_dictionary_page_size=_find(
                options, "parquet.dictionary.page.size", parse_positive
            ),
            parquet_enable_dictionary=_find(options, "parquet.enable.dictionary", parse_boolean),
            parquet_zstd_level=_find(
                options, "parquet.compression.codec.zstd.level", parse_integer
            ),
            orc_timestamp_ltz_legacy_type=True if is_legacy is None else is_legacy,
        )


def _find(options: Mapping[str, str], key: str, parse: Callable[[str, str], Value]) -> Value | None:
    text = options.get(key)
    return None if text is None else parse(text, key)


def _words_per_level(options: Mapping[str, str], key: str) -> dict[int, str]:
    prefix = f"{key}."
    pairs = {
        name.removeprefix(prefix): word for name, word in options.items() if name.startswith(prefix)
    } | parse_map(options.get(key, ""), key)
    return {_level(level, key): word.strip().lower() for level, word in pairs.items()}


def _level(text: str, key: str) -> int:
    if text.isdecimal():
        return int(text)
    raise InvalidArgumentError(f"option {key!r}: {text!r} is no level, which is a number from 0.")
