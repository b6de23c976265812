"""Which options of a table does Lakebed act on?

Each is a field of `TableOptions`. Where Lakebed acts on some values only, `accepted` says so and
`changes` says which use of a table the other values rule out.
"""

from lakebed.options import values
from lakebed.options.choices import (
    BucketFunction,
    ScanMode,
    StatsMode,
    TableType,
)
from lakebed.options.option import BOTH, WRITING, Option, Standing, one_of, value_type
from lakebed.options.rows import acting
from lakebed.options.values import ValueType

_TEXT = value_type("text")
_CODEC = value_type("word")
_NAMES = value_type("names")
_BOOLEAN = value_type("boolean")
_INTEGER = value_type("integer")
_LONG = value_type("long")
_DURATION = value_type("duration")
_COUNT = ValueType(name="integer from 1", parse=values.parse_positive)
_LONG_COUNT = ValueType(name="long from 1", parse=values.parse_positive_long)
_POSITIVE_SIZE = ValueType(name="size", parse=values.parse_positive_size)
_EXACT_NAMES = ValueType(name="names", parse=values.parse_exact_names)
_BUCKETS = ValueType(name="integer", parse=values.parse_bucket_count)
_STATS_MODE = ValueType(name="none / counts / truncate(n) / full", parse=StatsMode.parse)


def _acts(key: str, of: ValueType, default: str | None, *, meaning: str) -> Option:
    return Option(key=key, value_type=of, default=default, standing=Standing.ACTS, meaning=meaning)


def _acts_on_scan(key: str, of: ValueType, default: str | None, *, meaning: str) -> Option:
    return Option(
        key=key,
        value_type=of,
        default=default,
        standing=Standing.ACTS,
        meaning=meaning,
        for_scan=True,
    )


LAYOUT = (
    Option(
        key="type",
        value_type=one_of(TableType),
        default="table",
        standing=Standing.ACTS,
        meaning="what kind of table it is",
        changes=BOTH,
        accepted=("table",),
        immutable=True,
    ),
    _acts("path", _TEXT, None, meaning="where the table is"),
    _acts("owner", _TEXT, None, meaning="who owns the table"),
    _acts("comment", _TEXT, None, meaning="the table's comment"),
    Option(
        key="primary-key",
        value_type=_NAMES,
        default=None,
        standing=Standing.ACTS,
        meaning="the primary key's columns; moved into the schema at creation",
        immutable=True,
    ),
    Option(
        key="partition",
        value_type=_NAMES,
        default=None,
        standing=Standing.ACTS,
        meaning="the partition columns; moved into the schema at creation",
        immutable=True,
    ),
    Option(
        key="bucket",
        value_type=_BUCKETS,
        default="-1",
        standing=Standing.ACTS,
        meaning="the number of buckets of a partition; -1: no fixed number, -2: postponed",
    ),
    Option(
        key="bucket-key",
        value_type=_EXACT_NAMES,
        default=None,
        standing=Standing.ACTS,
        meaning="the columns whose hash chooses the bucket; else the key without the partition",
        immutable=True,
    ),
    Option(
        key="bucket-function.type",
        value_type=one_of(BucketFunction),
        default="default",
        standing=Standing.ACTS,
        meaning="how the bucket key becomes a bucket",
        immutable=True,
    ),
    _acts(
        "partition.default-name",
        _TEXT,
        "__DEFAULT_PARTITION__",
        meaning="the directory name of a null or blank partition value",
    ),
    _acts(
        "partition.legacy-name",
        _BOOLEAN,
        "true",
        meaning="whether directory names show a value's internal text (a DATE as days)",
    ),
)

FILES = (
    Option(
        key="file.format",
        value_type=_CODEC,
        default="parquet",
        standing=Standing.ACTS,
        meaning="the format of data files",
        changes=WRITING,
        accepted=("parquet", "avro", "orc"),
    ),
    Option(
        key="file.compression",
        value_type=_CODEC,
        default="zstd",
        standing=Standing.ACTS,
        meaning="how data files are compressed",
        changes=WRITING,
        accepted=(
            "zstd",
            "snappy",
            "gzip",
            "lz4",
            "lz4_raw",
            "zlib",
            "deflate",
            "none",
            "uncompressed",
            "null",
        ),
    ),
    _acts("file.compression.zstd-level", _INTEGER, "1", meaning="how hard zstd compresses"),
    _acts("file.block-size", _POSITIVE_SIZE, None, meaning="the size of a Parquet row group"),
    _acts(
        "target-file-size",
        _POSITIVE_SIZE,
        None,
        meaning="where a data file is closed; else 128 mb with a primary key, 256 mb without",
    ),
    _acts(
        "target-file-row-num",
        _LONG_COUNT,
        "9223372036854775807",
        meaning="after how many rows a data file is closed",
    ),
    _acts("data-file.prefix", _TEXT, "data-", meaning="how names of data files begin"),
    _acts("data-file.thin-mode", _BOOLEAN, "false", meaning="whether key columns are stored once"),
)

STATISTICS = (
    _acts(
        "metadata.stats-mode",
        _STATS_MODE,
        "truncate(16)",
        meaning="which statistics of a column are kept",
    ),
    _acts(
        "metadata.stats-dense-store",
        _BOOLEAN,
        "true",
        meaning="whether columns without statistics take no room in manifests",
    ),
    _acts(
        "metadata.stats-keep-first-n-columns",
        _INTEGER,
        "-1",
        meaning="how many columns have statistics, from the first; -1: all",
    ),
    _acts("fields.<f>.stats-mode", _STATS_MODE, None, meaning="the statistics of one column"),
)

MANIFESTS = (
    Option(
        key="manifest.compression",
        value_type=_CODEC,
        default="zstd",
        standing=Standing.ACTS,
        meaning="how manifests are compressed",
        changes=WRITING,
        accepted=("zstd", "zstandard", "deflate", "null"),
    ),
    _acts("manifest.target-file-size", _POSITIVE_SIZE, "8 mb", meaning="a manifest's size"),
    _acts(
        "manifest.merge-min-count",
        _COUNT,
        "30",
        meaning="from how many small manifests on a commit merges them",
    ),
    _acts(
        "manifest.full-compaction-threshold-size",
        _POSITIVE_SIZE,
        "16 mb",
        meaning="from how many bytes of changed manifests on a commit rewrites them all",
    ),
)

WRITES = (
    Option(
        key="write-only",
        value_type=_BOOLEAN,
        default="false",
        standing=Standing.ACTS,
        meaning="whether writers leave compaction and expiry to another job",
        old_keys=("write.compaction-skip",),
    ),
    _acts("write-buffer-size", _POSITIVE_SIZE, "256 mb", meaning="memory of a writer's buffer"),
    _acts("write-buffer-spillable", _BOOLEAN, "true", meaning="whether the buffer may spill"),
    _acts(
        "local-merge-buffer-size",
        _POSITIVE_SIZE,
        None,
        meaning="memory in which Spark's tasks merge rows of a key before they are shuffled; "
        "in process nothing is shuffled, and the write buffer merges them",
    ),
    _acts(
        "dynamic-partition-overwrite",
        _BOOLEAN,
        "true",
        meaning="whether an overwrite replaces only the partitions that it brings rows for",
    ),
    _acts("commit.max-retries", _INTEGER, "10", meaning="how often a commit is tried again"),
    _acts("commit.min-retry-wait", _DURATION, "10 ms", meaning="the first wait between tries"),
    _acts("commit.max-retry-wait", _DURATION, "10 s", meaning="the longest wait between tries"),
    _acts("commit.timeout", _DURATION, None, meaning="how long a commit is tried again"),
    _acts(
        "commit.strict-mode.last-safe-snapshot",
        _LONG,
        None,
        meaning="after which snapshot others may not compact or overwrite the same partitions",
    ),
    _acts("commit.user-prefix", _TEXT, None, meaning="how names of commit users begin"),
    _acts(
        "snapshot.ignore-empty-commit",
        _BOOLEAN,
        None,
        meaning="whether a commit without changes makes no snapshot",
    ),
)

SCANS = (
    _acts_on_scan(
        "source.split.target-size", _POSITIVE_SIZE, "128 mb", meaning="the size of a split"
    ),
    _acts_on_scan(
        "source.split.open-file-cost",
        value_type("size"),
        "4 mb",
        meaning="what opening a file counts for when splits are packed",
    ),
    _acts_on_scan(
        "scan.snapshot-id", value_type("long"), None, meaning="the snapshot that is read"
    ),
    Option(
        key="scan.mode",
        value_type=one_of(ScanMode),
        default="default",
        standing=Standing.ACTS,
        meaning="where a scan starts",
        old_keys=("log.scan",),
        for_scan=True,
    ),
    _acts_on_scan("read.batch-size", _COUNT, "1024", meaning="rows of a batch that is read"),
)

TIME_TRAVEL = acting(
    """
    scan.version | text | | the snapshot, tag or watermark that is read
    scan.tag-name | text | | the tag that is read
    scan.timestamp | text | | the moment that is read, as text
    scan.timestamp-millis log.scan.timestamp-millis | long | | the moment that is read
    scan.watermark | long | | the watermark that is read
    scan.creation-time-millis | long | | the moment from which files are read
    scan.file-creation-time-millis | long | | only files made after this moment are read
    incremental-between | text | | the changes between two snapshots or tags are read
    incremental-between-timestamp | text | | the changes between two moments are read
    incremental-to-auto-tag | text | | the changes up to a tag are read
    scan.fallback-branch | text | | the branch read for partitions that the table lacks
    scan.primary-branch | text | | the branch read first
    incremental-between-scan-mode | auto/delta/changelog/diff | auto | what increments are made of
    incremental-between-tag-to-snapshot | boolean | false | whether tags stand for snapshots
    """,
    for_scan=True,
) + acting(
    "table-read.sequence-number.enabled | boolean | false | whether audit_log has sequence numbers"
)

DELETION_VECTORS = acting(
    """
    deletion-vectors.enabled | boolean | false | whether deleted rows are marked by position
    deletion-vectors.bitmap64 | boolean | false | whether the marks are 64-bit bitmaps
    deletion-vector.index-file.target-size | size | 2 mb | the size of a file of marks
    """
) + acting(
    "deletion-vectors.merge-on-read | boolean | false | whether level 0 is merged when reading",
    for_scan=True,
)

# Spark's writes that match columns by name act on these.
SCHEMA_MERGING = acting(
    """
    write.merge-schema | boolean | false | whether a write may add columns
    write.merge-schema.type-widening | boolean | false | whether such a write may widen types
    write.merge-schema.explicit-cast | boolean | false | whether such a write may narrow types
    """
)

ACTING: tuple[Option, ...] = (
    *LAYOUT,
    *FILES,
    *STATISTICS,
    *MANIFESTS,
    *WRITES,
    *SCANS,
    *TIME_TRAVEL,
    *DELETION_VECTORS,
    *SCHEMA_MERGING,
)
