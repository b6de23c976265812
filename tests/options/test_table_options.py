import pickle
import re
from dataclasses import fields
from datetime import timedelta

import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import (
    BucketFunction,
    ChangelogProducer,
    MergeEngine,
    ScanMode,
    StatsKind,
    StatsMode,
    TableType,
)
from lakebed.options.option import Standing
from lakebed.options.table_options import TableOptions

MEGABYTE = 1024 * 1024
# A record of several options, which has a test of its own.
OF_SEVERAL = {"formats"}
SAMPLES: dict[str, tuple[str, object]] = {
    "type": ("format-table", TableType.FORMAT_TABLE),
    "primary-key": ("a,b", ("a", "b")),
    "partition": ("p", ("p",)),
    "bucket": ("7", 7),
    "bucket-key": ("x,y", ("x", "y")),
    "bucket-function.type": ("hive", BucketFunction.HIVE),
    "partition.legacy-name": ("false", False),
    "merge-engine": ("first-row", MergeEngine.FIRST_ROW),
    "changelog-producer": ("full-compaction", ChangelogProducer.FULL_COMPACTION),
    "file.format": ("ORC", "orc"),
    "file.compression": ("LZ4", "lz4"),
    "file.compression.zstd-level": ("9", 9),
    "file.block-size": ("3 mb", 3 * MEGABYTE),
    "target-file-size": ("16 kb", 16384),
    "target-file-row-num": ("12", 12),
    "metadata.stats-mode": ("full", StatsMode(kind=StatsKind.FULL)),
    "metadata.stats-dense-store": ("false", False),
    "metadata.stats-keep-first-n-columns": ("5", 5),
    "manifest.compression": ("none", "none"),
    "manifest.target-file-size": ("4 kb", 4096),
    "manifest.merge-min-count": ("3", 3),
    "manifest.full-compaction-threshold-size": ("1 mb", MEGABYTE),
    "write.merge-schema": ("true", True),
    "write.merge-schema.type-widening": ("true", True),
    "write.merge-schema.explicit-cast": ("true", True),
    "write-only": ("true", True),
    "write-buffer-size": ("2 mb", 2 * MEGABYTE),
    "write-buffer-spillable": ("false", False),
    "local-merge-buffer-size": ("64 mb", 64 * MEGABYTE),
    "dynamic-partition-overwrite": ("false", False),
    "commit.max-retries": ("2", 2),
    "commit.min-retry-wait": ("1 s", timedelta(seconds=1)),
    "commit.max-retry-wait": ("2 s", timedelta(seconds=2)),
    "commit.timeout": ("3 s", timedelta(seconds=3)),
    "snapshot.ignore-empty-commit": ("false", False),
    "source.split.target-size": ("5 mb", 5 * MEGABYTE),
    "source.split.open-file-cost": ("1 kb", 1024),
    "scan.snapshot-id": ("4", 4),
    "scan.mode": ("from-snapshot", ScanMode.FROM_SNAPSHOT),
    "read.batch-size": ("10", 10),
    "path": ("/a", "/a"),
    "owner": ("me", "me"),
    "comment": ("flights", "flights"),
    "partition.default-name": ("nothing", "nothing"),
    "data-file.prefix": ("part-", "part-"),
    "commit.user-prefix": ("job", "job"),
    "row-tracking.enabled": ("true", True),
    "row-tracking.partition-group-on-commit": ("false", False),
    "commit.strict-mode.last-safe-snapshot": ("3", 3),
    "data-file.thin-mode": ("true", True),
    "changelog-file.prefix": ("log-", "log-"),
    "changelog-file.format": ("AVRO", "avro"),
    "changelog-file.compression": ("Snappy", "snappy"),
    "deletion-vectors.enabled": ("true", True),
    "deletion-vectors.bitmap64": ("true", True),
    "deletion-vector.index-file.target-size": ("3 mb", 3 * MEGABYTE),
    "dynamic-bucket.target-row-num": ("9", 9),
    "dynamic-bucket.initial-buckets": ("3", 3),
    "dynamic-bucket.max-buckets": ("4", 4),
    "dynamic-bucket.assigner-parallelism": ("2", 2),
    "cross-partition-upsert.index-ttl": ("1 d", timedelta(days=1)),
    "postpone.batch-write-fixed-bucket": ("false", False),
    "postpone.batch-write-fixed-bucket.max-parallelism": ("7", 7),
    "postpone.default-bucket-num": ("8", 8),
    "postpone.target-row-num-per-bucket": ("9", 9),
    "postpone.target-size-per-bucket": ("2 mb", 2 * MEGABYTE),
    "fields.<f>.stats-mode": ("none", {"<f>": StatsMode(kind=StatsKind.NONE)}),
}


def field_name(key: str) -> str:
    return re.sub(r"[.-]", "_", re.sub(r"<[^>]+>\.", "", key))


def parsed(options: dict[str, str]) -> dict[str, object]:
    record = TableOptions.parse(options, has_primary_key=True)
    return {field.name: getattr(record, field.name) for field in fields(record)}


def test_each_field_is_an_option_that_is_acted_on_and_has_a_sample() -> None:
    names = {field.name for field in fields(TableOptions)} - OF_SEVERAL
    assert names == {field_name(key) for key in SAMPLES}
    for key in SAMPLES:
        assert TABLE_OPTIONS[key].standing is Standing.ACTS, key


@pytest.mark.parametrize("key", SAMPLES)
def test_a_field_is_read_from_its_own_key_alone(key: str) -> None:
    text, expected = SAMPLES[key]
    name = field_name(key)

    given = parsed({key: text})

    assert given[name] == expected
    others = {name: None, **dict.fromkeys(OF_SEVERAL)}
    assert given | others == parsed({}) | others
    assert given[name] != parsed({})[name]


def test_the_target_file_size_depends_on_the_primary_key() -> None:
    keyed = TableOptions.parse({}, has_primary_key=True)
    append = TableOptions.parse({}, has_primary_key=False)

    assert keyed.target_file_size == 128 * MEGABYTE
    assert append.target_file_size == 256 * MEGABYTE


def test_an_old_key_counts() -> None:
    options = TableOptions.parse({"write.compaction-skip": "true"}, has_primary_key=True)

    assert options.write_only


def test_a_column_with_dots_has_its_own_statistics() -> None:
    given = {"fields.a.b.stats-mode": "counts", "metadata.stats-mode": "full"}

    options = TableOptions.parse(given, has_primary_key=False)

    assert options.stats_mode_of("a.b") == StatsMode(kind=StatsKind.COUNTS)
    assert options.stats_mode_of("c") == StatsMode(kind=StatsKind.FULL)


def test_a_bad_value_names_its_key() -> None:
    with pytest.raises(InvalidArgumentError, match=r"manifest\.target-file-size"):
        TableOptions.parse({"manifest.target-file-size": "many"}, has_primary_key=False)


def test_a_blank_bucket_key_is_none() -> None:
    assert TableOptions.parse({"bucket-key": ""}, has_primary_key=True).bucket_key == ()


def test_options_cross_process_boundaries_and_can_be_keys() -> None:
    options = TableOptions.parse({"fields.a.stats-mode": "none"}, has_primary_key=True)

    copy = pickle.loads(pickle.dumps(options))

    assert copy == options
    assert hash(copy) == hash(options)
