"""How are the data files of a table encoded?"""

from dataclasses import dataclass

from lakebed.options.table_options import TableOptions

__all__ = ["DataFileSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFileSettings:
    """What a writer of one file is told; each format takes what concerns it.

    Attributes:
        compression: Value of `file.compression`; which ones there are depends on the format.
        zstd_level: Value of `file.compression.zstd-level`.
        block_bytes: Where a row group or a stripe ends: `file.block-size`, of Parquet files also
            `parquet.block.size`; None for the default.
        dictionary: `parquet.enable.dictionary`; None for columns whose values repeat.
        page_bytes: `parquet.page.size`; None for the default.
        dictionary_page_bytes: `parquet.dictionary.page.size`; None for the default.
        is_ltz_legacy: `orc.timestamp-ltz.legacy.type`.
        time_zone: Name of the writer's zone, on which legacy ORC files depend.
    """

    compression: str = "zstd"
    zstd_level: int = 1
    block_bytes: int | None = None
    dictionary: bool | None = None
    page_bytes: int | None = None
    dictionary_page_bytes: int | None = None
    is_ltz_legacy: bool = True
    time_zone: str = "UTC"

    @classmethod
    def of(
        cls,
        options: TableOptions,
        file_format: str,
        *,
        level: int | None = None,
        time_zone: str = "UTC",
    ) -> "DataFileSettings":
        """What a table's options say.

        Args:
            options: Of the table.
            file_format: Of the file, as `TableOptions.format_of_level` gives it.
            level: Of the file; None of an append table.
            time_zone: Name of the writer's zone (`time_zone.time_zone_name`).
        """
        formats = options.formats
        is_parquet = file_format == "parquet"
        parquet_level = formats.parquet_zstd_level if is_parquet else None
        common_level = options.file_compression_zstd_level
        return cls(
            compression=options.compression_of_level(level),
            zstd_level=common_level if parquet_level is None else parquet_level,
            block_bytes=options.file_block_size
            or (formats.parquet_block_size if is_parquet else None),
            dictionary=formats.parquet_enable_dictionary,
            page_bytes=formats.parquet_page_size,
            dictionary_page_bytes=formats.parquet_dictionary_page_size,
            is_ltz_legacy=formats.orc_timestamp_ltz_legacy_type,
            time_zone=time_zone,
        )
