"""How are the files of a level, or changelog files, made: format, encoding, columns, statistics?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

import pyarrow as pa

from lakebed.format.data_file_write import DataFileSettings, check_writable
from lakebed.format.key_value import data_file_fields
from lakebed.format.schema import KEY_FIELD_PREFIX, TableSchema
from lakebed.format.time_zone import time_zone_name
from lakebed.format.types import DataField
from lakebed.lsm.write_buffer import SYSTEM_COLUMNS
from lakebed.options.table_options import TableOptions
from lakebed.table.writing.file_summary import SummaryPlan

# Default of `file.block-size` here; half of Paimon's, since a writer holds a row group in memory.
_ROW_GROUP_BYTES = 64 << 20
_NO_LIMIT = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayout:
    """How some files of a table are made.

    Attributes:
        file_format: `parquet`, `avro` or `orc`.
        encoding: How they are encoded.
        fields: Their columns.
        summary: The statistics and indexes that they get.
        target_bytes: `target-file-size`.
        target_rows: `target-file-row-num`.
        row_group_bytes: What a row group takes uncompressed, at most.
    """

    file_format: str
    encoding: DataFileSettings
    fields: tuple[DataField, ...]
    summary: SummaryPlan
    target_bytes: int
    target_rows: int
    row_group_bytes: int

    @classmethod
    def of(
        cls,
        schema: TableSchema,
        options: TableOptions,
        *,
        time_zone: tzinfo,
        level: int = 0,
        is_changelog: bool = False,
        is_postponed: bool = False,
    ) -> "FileLayout":
        """The layout that a table's options ask for.

        Args:
            schema: The table's schema.
            options: Its options.
            time_zone: The writer's zone, on which legacy ORC files depend.
            level: Which level the files are for; of an append table it says nothing.
            is_changelog: Whether they are changelog files.
            is_postponed: Whether their rows have no bucket yet.

        Raises:
            InvalidArgumentError: A text is no value of its option.
            InvalidTableError: An index that cannot be.
            UnsupportedError: A format, compression, type or index that Lakebed does not write.
        """
        of_level = level if schema.primary_keys else None
        file_format = options.format_of_level(of_level)
        if is_changelog and options.changelog_file_format is not None:
            file_format = options.changelog_file_format
        encoding = DataFileSettings.of(
            options, file_format, level=of_level, time_zone=time_zone_name(time_zone)
        )
        if is_changelog and options.changelog_file_compression is not None:
            encoding = replace(encoding, compression=options.changelog_file_compression)
        fields = data_file_fields(schema, is_thin=options.data_file_thin_mode)
        check_writable(fields, file_format, encoding)
        return cls(
            file_format=file_format,
            encoding=encoding,
            fields=fields,
            summary=SummaryPlan.of(
                schema,
                options,
                file_format=file_format,
                level=level,
                is_changelog=is_changelog,
                is_postponed=is_postponed,
            ),
            target_bytes=options.target_file_size,
            target_rows=_NO_LIMIT if is_changelog else options.target_file_row_num,
            row_group_bytes=encoding.block_bytes or _ROW_GROUP_BYTES,
        )

    @property
    def gathered_bytes(self) -> int:
        """Rows are gathered to this size before they are written."""
        return min(self.row_group_bytes, self.target_bytes)

    def arranged(self, rows: pa.Table, key_names: Sequence[str]) -> pa.Table:
        """Rows in the columns of the file.

        Args:
            rows: The table's columns; of a primary-key table with the system columns.
            key_names: The trimmed primary key.
        """
        stored_keys = {KEY_FIELD_PREFIX + name: name for name in key_names}
        given = {*rows.column_names, *SYSTEM_COLUMNS}
        return pa.table(
            {
                field.name: rows.column(
                    field.name if field.name in given else stored_keys[field.name]
                )
                for field in self.fields
            }
        )
