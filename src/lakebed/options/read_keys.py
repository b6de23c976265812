"""Which options decide what a scan reads, and are not acted on?"""

from lakebed.options.option import BOTH, READING, WRITING, Option
from lakebed.options.rows import promises, refused, tuning

_CHOICES = refused(
    """
    scan.fallback-delta-branch | text | | the branch of a chain's changes
    scan.fallback-snapshot-branch | text | | the branch of a chain's snapshots
    scan.bucket | integer | | the only bucket that is read
    read.changelog | boolean | false | whether rows come with their kind
    read.allow.fullScan | boolean | true | whether a scan may read all partitions
    batch-scan-mode | text | none | which files an inner job reads
    key-value.sequence_number.enabled | boolean | false | whether sequence numbers are read
    legacy-timestamp-mapping.enabled | boolean | false | whether TIMESTAMP has a zone in Spark
    """,
    changes=READING,
    for_scan=True,
)

# The catalog may forbid rows or columns; a reader that does not ask would show them.
_PERMISSIONS = refused(
    "query-auth.enabled | boolean | false | whether the catalog limits rows and columns",
    changes=BOTH,
)

_SCANS = promises(
    """
    scan.fallback-branch.read-fail-fast | boolean | false | whether a failing branch fails the read
    scan.ignore-corrupt-files | boolean | false | whether damaged files are skipped
    scan.ignore-lost-files | boolean | false | whether missing files are skipped
    scan.plan-auto-tag-for-read.time-retained | duration | | a tag protects the snapshot read
    scan.plan-sort-partition | boolean | false | whether splits come in the order of partitions
    chain-table.split.key-range-enabled | boolean | true | whether a chain's buckets are split
    blob-view.resolve.enabled | boolean | true | whether blobs of other tables are fetched
    """,
    for_scan=True,
)

_INDEX_SEARCH = promises(
    """
    full-text-index.search-mode | fast/full/detail | fast | how full-text indexes are searched
    global-index.search-mode | fast/full/detail | | how global indexes are searched
    scalar-index.search-mode | fast/full/detail | fast | how scalar indexes are searched
    vector-index.search-mode | fast/full/detail | fast | how vector indexes are searched
    vector-search.distribute.enabled | boolean | false | whether a vector search is distributed
    """,
    for_scan=True,
)

# What a write may ask for in the call itself.
_SPARK_WRITES = refused(
    """
    write.hive-style-dynamic-partition.enabled | boolean | false | whether partitions come last
    """,
    changes=WRITING,
)

_SPEED = tuning(
    """
    file-index.read.enabled | boolean | true | whether file indexes are used
    file-reader-async-threshold | size | 10 mb | from which size on files are read ahead
    global-index.enabled | boolean | true | whether global indexes are used
    requiredSparkConfsCheck.enabled | boolean | true | whether the connector checks Spark's settings
    scan.manifest.parallelism | integer | | how many manifests are read at once
    scan.max-splits-per-task | integer | 10 | splits that wait for a task
    source.split.target-size-with-column-pruning | boolean | false | whether only read columns count
    vector-search.lateral-join.batch-size | integer | 256 | vectors searched at once
    vector-search.lateral-join.parallelism | integer | 16 | tasks of a vector search
    write.use-v2-write | boolean | false | which of the connector's writers is used
    """
)

READS: tuple[Option, ...] = (
    *_CHOICES,
    *_PERMISSIONS,
    *_SCANS,
    *_INDEX_SEARCH,
    *_SPARK_WRITES,
    *_SPEED,
)
