"""Which options of a table hold, as typed values?

One frozen record; a field's name is its key in snake case. It is parsed once, where a table is
opened. Options of merging, of indexes and of scans have records of their own. Whether Lakebed may
act on the values is `acceptance`'s question: here every value of the format parses, so that
`changelog_producer` may be `LOOKUP`. Sizes are bytes, durations timedeltas.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import cache
from typing import Any

from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import (
    BucketFunction,
    ChangelogProducer,
    MergeEngine,
    ScanMode,
    StatsMode,
    TableType,
)
from lakebed.options.format_options import FormatOptions
from lakebed.options.option import Option, key_pattern

_MEGABYTE = 1024 * 1024
_TARGET_FILE_SIZE_KEYED = 128 * _MEGABYTE
_TARGET_FILE_SIZE_APPEND = 256 * _MEGABYTE
_COLUMN_STATS = "fields.<f>.stats-mode"
# Made of several options.
_COMPOSED = frozenset({"formats", "fields_stats_mode"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOptions:
    """The options of a table that Lakebed acts on."""

    type: TableType
    path: str | None
    owner: str | None
    comment: str | None
    primary_key: tuple[str, ...]
    partition: tuple[str, ...]
    bucket: int
    bucket_key: tuple[str, ...]
    bucket_function_type: BucketFunction
    dynamic_bucket_target_row_num: int
    dynamic_bucket_initial_buckets: int | None
    dynamic_bucket_max_buckets: int
    dynamic_bucket_assigner_parallelism: int | None
    cross_partition_upsert_index_ttl: timedelta | None
    postpone_batch_write_fixed_bucket: bool
    postpone_batch_write_fixed_bucket_max_parallelism: int
    postpone_default_bucket_num: int | None
    postpone_target_row_num_per_bucket: int | None
    postpone_target_size_per_bucket: int
    partition_default_name: str
    partition_legacy_name: bool
    merge_engine: MergeEngine
    changelog_producer: ChangelogProducer
    file_format: str
    file_compression: str
    file_compression_zstd_level: int
    file_block_size: int | None
    formats: FormatOptions
    target_file_size: int
    target_file_row_num: int
    data_file_prefix: str
    data_file_thin_mode: bool
    changelog_file_prefix: str
    changelog_file_format: str | None
    changelog_file_compression: str | None
    metadata_stats_mode: StatsMode
    metadata_stats_dense_store: bool
    metadata_stats_keep_first_n_columns: int
    fields_stats_mode: Mapping[str, StatsMode] = field(hash=False)
    manifest_compression: str
    manifest_target_file_size: int
    manifest_merge_min_count: int
    manifest_full_compaction_threshold_size: int
    deletion_vectors_enabled: bool
    deletion_vectors_bitmap64: bool
    deletion_vector_index_file_target_size: int
    write_only: bool
    write_merge_schema: bool
    write_merge_schema_type_widening: bool
    write_merge_schema_explicit_cast: bool
    write_buffer_size: int
    write_buffer_spillable: bool
    local_merge_buffer_size: int | None
    dynamic_partition_overwrite: bool
    commit_max_retries: int
    commit_min_retry_wait: timedelta
    commit_max_retry_wait: timedelta
    commit_timeout: timedelta | None
    row_tracking_enabled: bool
    row_tracking_partition_group_on_commit: bool
    commit_user_prefix: str | None
    commit_strict_mode_last_safe_snapshot: int | None
    snapshot_ignore_empty_commit: bool | None
    source_split_target_size: int
    source_split_open_file_cost: int
    scan_snapshot_id: int | None
    scan_mode: ScanMode
    read_batch_size: int

    @classmethod
    def parse(cls, options: Mapping[str, str], *, has_primary_key: bool) -> "TableOptions":
        """The options that hold, with defaults for those not given; old keys count too.

        `has_primary_key` decides the default of `target-file-size`. Raises InvalidArgumentError
        where a text is no value of its option.
        """
        given = TABLE_OPTIONS.with_current_keys(options)
        held: dict[str, Any] = {name: _held(each, given) for name, each in _options().items()}
        size = _TARGET_FILE_SIZE_KEYED if has_primary_key else _TARGET_FILE_SIZE_APPEND
        held["target_file_size"] = held["target_file_size"] or size
        return cls(
            formats=FormatOptions.parse(given), fields_stats_mode=_stats_modes(given), **held
        )

    def format_of_level(self, level: int | None) -> str:
        """The format of a file: of a primary-key table by its level; of an append table's, None."""
        return _of_level(level, self.formats.format_per_level, default=self.file_format)

    def compression_of_level(self, level: int | None) -> str:
        """The compression of a file, by its level as above."""
        return _of_level(level, self.formats.compression_per_level, default=self.file_compression)

    def stats_mode_of(self, column: str) -> StatsMode:
        """Which statistics of a column are kept, its position among the columns aside."""
        return self.fields_stats_mode.get(column, self.metadata_stats_mode)


def _of_level(level: int | None, own: Mapping[int, str], *, default: str) -> str:
    return default if level is None else own.get(level, default)


@cache
def _options() -> Mapping[str, Option]:
    """The option of each field that has one."""
    by_name = {re.sub(r"[.-]", "_", option.key): option for option in TABLE_OPTIONS}
    names = [each.name for each in fields(TableOptions)]
    return {name: by_name[name] for name in names if name not in _COMPOSED}


def _held(option: Option, texts: Mapping[str, str]) -> object:
    """The value that holds; without a default None, or no name."""
    text = texts.get(option.key, option.default)
    if text is None:
        return () if option.value_type.name == "names" else None
    return option.parse(text)


def _stats_modes(texts: Mapping[str, str]) -> dict[str, StatsMode]:
    """`fields.<f>.stats-mode` by column."""
    start, end = _COLUMN_STATS.split("<f>")
    pattern = key_pattern(_COLUMN_STATS)
    return {
        key.removeprefix(start).removesuffix(end): StatsMode.parse(text, key)
        for key, text in texts.items()
        if pattern.fullmatch(key)
    }
