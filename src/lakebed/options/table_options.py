"""Which options of a table hold, as typed values?

One frozen record of everything that Lakebed acts on; a field's name is its key in snake case. It is
parsed once, where a table is opened. Whether Lakebed may act on the values is `acceptance`'s
question: here every value of the format parses, so that `changelog_producer` may be `LOOKUP`.
Sizes are bytes, durations timedeltas.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TypeVar

from lakebed.errors import InvalidArgumentError
from lakebed.options import values
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import (
    BucketFunction,
    ChangelogProducer,
    MergeEngine,
    ScanMode,
    StatsMode,
    TableType,
)
from lakebed.options.option import key_pattern

_MEGABYTE = 1024 * 1024
_TARGET_FILE_SIZE_KEYED = 128 * _MEGABYTE
_TARGET_FILE_SIZE_APPEND = 256 * _MEGABYTE

EnumType = TypeVar("EnumType", bound=Enum)


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
    partition_default_name: str
    partition_legacy_name: bool
    merge_engine: MergeEngine
    changelog_producer: ChangelogProducer
    file_format: str
    file_compression: str
    file_compression_zstd_level: int
    file_block_size: int | None
    target_file_size: int
    target_file_row_num: int
    data_file_prefix: str
    metadata_stats_mode: StatsMode
    metadata_stats_dense_store: bool
    metadata_stats_keep_first_n_columns: int
    fields_stats_mode: Mapping[str, StatsMode] = field(hash=False)
    manifest_compression: str
    manifest_target_file_size: int
    manifest_merge_min_count: int
    manifest_full_compaction_threshold_size: int
    write_only: bool
    write_buffer_size: int
    write_buffer_spillable: bool
    dynamic_partition_overwrite: bool
    commit_max_retries: int
    commit_min_retry_wait: timedelta
    commit_max_retry_wait: timedelta
    commit_timeout: timedelta | None
    commit_user_prefix: str | None
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
        get = _Texts(TABLE_OPTIONS.with_current_keys(options))
        size = _TARGET_FILE_SIZE_KEYED if has_primary_key else _TARGET_FILE_SIZE_APPEND
        return cls(
            type=get.member("type", TableType),
            path=get.find("path"),
            owner=get.find("owner"),
            comment=get.find("comment"),
            primary_key=get.names("primary-key"),
            partition=get.names("partition"),
            bucket=get.integer("bucket"),
            bucket_key=get.names("bucket-key"),
            bucket_function_type=get.member("bucket-function.type", BucketFunction),
            partition_default_name=get.text("partition.default-name"),
            partition_legacy_name=get.boolean("partition.legacy-name"),
            merge_engine=get.member("merge-engine", MergeEngine),
            changelog_producer=get.member("changelog-producer", ChangelogProducer),
            file_format=get.text("file.format").lower(),
            file_compression=get.text("file.compression").lower(),
            file_compression_zstd_level=get.integer("file.compression.zstd-level"),
            file_block_size=get.find_integer("file.block-size"),
            target_file_size=get.find_integer("target-file-size") or size,
            target_file_row_num=get.integer("target-file-row-num"),
            data_file_prefix=get.text("data-file.prefix"),
            metadata_stats_mode=get.stats_mode("metadata.stats-mode"),
            metadata_stats_dense_store=get.boolean("metadata.stats-dense-store"),
            metadata_stats_keep_first_n_columns=get.integer("metadata.stats-keep-first-n-columns"),
            fields_stats_mode=get.stats_modes("fields.<f>.stats-mode"),
            manifest_compression=get.text("manifest.compression").lower(),
            manifest_target_file_size=get.integer("manifest.target-file-size"),
            manifest_merge_min_count=get.integer("manifest.merge-min-count"),
            manifest_full_compaction_threshold_size=get.integer(
                "manifest.full-compaction-threshold-size"
            ),
            write_only=get.boolean("write-only"),
            write_buffer_size=get.integer("write-buffer-size"),
            write_buffer_spillable=get.boolean("write-buffer-spillable"),
            dynamic_partition_overwrite=get.boolean("dynamic-partition-overwrite"),
            commit_max_retries=get.integer("commit.max-retries"),
            commit_min_retry_wait=get.duration("commit.min-retry-wait"),
            commit_max_retry_wait=get.duration("commit.max-retry-wait"),
            commit_timeout=get.find_duration("commit.timeout"),
            commit_user_prefix=get.find("commit.user-prefix"),
            snapshot_ignore_empty_commit=get.find_boolean("snapshot.ignore-empty-commit"),
            source_split_target_size=get.integer("source.split.target-size"),
            source_split_open_file_cost=get.integer("source.split.open-file-cost"),
            scan_snapshot_id=get.find_integer("scan.snapshot-id"),
            scan_mode=get.member("scan.mode", ScanMode),
            read_batch_size=get.integer("read.batch-size"),
        )

    def stats_mode_of(self, column: str) -> StatsMode:
        """Which statistics of a column are kept, its position among the columns aside."""
        return self.fields_stats_mode.get(column, self.metadata_stats_mode)


class _Texts:
    """Texts by key as values; a key that is not given has the catalogue's default."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def find(self, key: str) -> str | None:
        return self._texts.get(key, TABLE_OPTIONS[key].default)

    def text(self, key: str) -> str:
        if (text := self.find(key)) is None:
            raise InvalidArgumentError(f"option {key!r} has no value and no default. Give it one.")
        return text

    def boolean(self, key: str) -> bool:
        return values.parse_boolean(self.text(key), key)

    def find_boolean(self, key: str) -> bool | None:
        return None if self.find(key) is None else self.boolean(key)

    def integer(self, key: str) -> int:
        number = self._value(key)
        if not isinstance(number, int):
            raise TypeError(f"option {key!r} is no number in the catalogue")
        return number

    def find_integer(self, key: str) -> int | None:
        return None if self.find(key) is None else self.integer(key)

    def duration(self, key: str) -> timedelta:
        return values.parse_duration(self.text(key), key)

    def find_duration(self, key: str) -> timedelta | None:
        return None if self.find(key) is None else self.duration(key)

    def names(self, key: str) -> tuple[str, ...]:
        if self.find(key) is None:
            return ()
        names = self._value(key)
        if not isinstance(names, tuple):
            raise TypeError(f"option {key!r} is no list in the catalogue")
        return names

    def member(self, key: str, of: type[EnumType]) -> EnumType:
        return values.parse_member(self.text(key), key, of=of)

    def stats_mode(self, key: str) -> StatsMode:
        return StatsMode.parse(self.text(key), key)

    def stats_modes(self, family: str) -> dict[str, StatsMode]:
        """By column."""
        start, end = family.split("<f>")
        pattern = key_pattern(family)
        return {
            key.removeprefix(start).removesuffix(end): StatsMode.parse(text, key)
            for key, text in self._texts.items()
            if pattern.fullmatch(key)
        }

    def _value(self, key: str) -> object:
        return TABLE_OPTIONS[key].parse(self.text(key))
