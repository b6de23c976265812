"""Which options concern the speed of an engine, its formats, or kinds of table of its own?"""

from lakebed.options.option import Option
from lakebed.options.rows import promises, tuning

_MEMORY = tuning(
    """
    async-file-write | boolean | true | whether files are written in the background
    bucket-append-ordered | boolean | true | whether a bucket keeps the order of its rows
    cache-page-size | size | 64 kb | a page of the cache
    cross-partition-upsert.bootstrap-parallelism | integer | 10 | threads that load the key index
    file-operation.thread-num delete-file.thread-num | integer | | file operations at once
    local-kv-db.block-size | size | 4 kb | a block of the local store
    local-sort.max-num-file-handles | integer | 128 | files that a sort opens
    manifest.merge-optimize.enabled | boolean | true | whether merging keeps whole blocks
    overwrite-upgrade | boolean | true | whether an overwrite's files rise to the last level
    page-size | size | 64 kb | a page of memory
    partition.idle-time-to-report-statistic | duration | 0 ms | when partitions are reported
    partition.sink-strategy | NONE/HASH/PARTITION_DYNAMIC | NONE | how rows are shuffled
    sort-compaction.local-sample.magnification | integer | 1000 | how large a sort's sample is
    sort-compaction.range-strategy | SIZE/QUANTITY | SIZE | how a sort's ranges are cut
    sort-engine | min-heap/loser-tree | loser-tree | how sorted runs are merged
    sort-spill-buffer-size | size | 64 mb | memory of a sort
    sort-spill-threshold | integer | | from how many sorted runs on a sort spills
    spill-compression | text | zstd | how spilled rows are compressed
    spill-compression.zstd-level | integer | 1 | how hard
    write-buffer-for-append | boolean | false | whether append tables buffer their rows
    write-buffer-spill.max-disk-size | size | 9223372036854775807 bytes | how much is spilled
    write-max-writers-to-spill | integer | 10 | from how many writers on they spill
    write.batch-memory | size | 128 mb | memory of a batch that is written
    write.batch-size orc.write.batch-size | integer | 1024 | rows of a batch that is written
    write.data-evolution.update-conflict-retry.max-attempts | integer | 20 | tries of an UPDATE
    write.data-evolution.update-conflict-retry.wait-ms | long | 10 | waits between them
    """
)

_LOOKUP = tuning(
    """
    lookup.blob-as-descriptor | boolean | false | whether a lookup keeps descriptors of blobs
    lookup.cache-file-retention | duration | 1 h | how long a lookup file is kept
    lookup.cache-max-disk-size | size | 9223372036854775807 bytes | how much disk lookups take
    lookup.cache-max-memory-size | size | 256 mb | how much memory lookups take
    lookup.cache-rows | long | 10000 | rows that lookups keep
    lookup.cache-spill-compression | text | zstd | how lookup files are compressed
    lookup.cache.bloom.filter.enabled | boolean | true | whether lookups have bloom filters
    lookup.cache.bloom.filter.fpp | number | 0.05 | how often these are wrong
    lookup.cache.high-priority-pool-ratio | number | 0.25 | the share of memory for their indexes
    lookup.continuous.discovery-interval | duration | | how often lookups look for snapshots
    lookup.hash-load-factor | number | 0.75 | how full a hash index is
    lookup.merge-buffer-size | size | 8 mb | memory to merge one key
    lookup.merge-records-threshold | integer | 1024 | rows of a key that are merged in memory
    lookup.remote-file.enabled | boolean | false | whether lookup files are shared
    lookup.remote-file.level-threshold | integer | -2147483648 | from which level on
    """
)

# Settings of blobs, vectors, row ids and indexes: without such columns they mean nothing, and
# tables with them are refused by the options that switch them on.
_COLUMNS_APART = promises(
    """
    blob-as-descriptor | boolean | false | whether blobs are read as descriptors
    blob-descriptor.source-table | text | | the table whose storage holds the blobs
    blob-descriptor.* | text | | a setting of the storage that holds the blobs
    blob-write-null-on-fetch-failure | boolean | false | whether an unreachable blob becomes null
    blob-write-null-on-missing-file | boolean | false | whether a missing blob becomes null
    blob.copy-buffer-size | size | 4 kb | memory to copy a blob
    blob.split-by-file-size | boolean | | whether blobs count when splits are packed
    blob.target-file-size | size | | the size of a file of blobs
    vector.target-file-size | size | | the size of a file of vectors
    data-evolution.merge-into.file-pruning | boolean | true | whether a MERGE skips files
    data-evolution.merge-into.source-persist | boolean | false | whether a MERGE keeps its source
    data-evolution.reassign.skip-contiguous-row-count | long | 1000000000 | which ids stay
    data-evolution.row-id-conflict-rewrite.max-size | size | 256 mb | which conflicts are mended
    data-evolution.row-sidecar.enabled | boolean | false | whether files have copies in rows
    data-evolution.row-sidecar.max-selected-rows | long | 4096 | when these are read
    data-evolution.row-sidecar.max-selection-ratio | number | 0.05 | when these are read
    global-index.build.max-parallelism | integer | 4096 | tasks that build an index
    global-index.build.max-shard | integer | 32 | parts of an index
    global-index.column-update-action | THROW_ERROR/DROP_PARTITION_INDEX/IGNORE | THROW_ERROR \
| what an UPDATE of an indexed column does
    global-index.external-path | text | | where indexes lie
    global-index.row-count-per-shard | long | 100000 | rows of a part of an index
    global-index.thread-num | integer | 32 | threads that read an index
    variant.shredding.adaptive.maxInferBufferRow | integer | 256 | rows that are sampled
    variant.shredding.adaptive.retentionRatio | number | 0.05 | which columns stay
    variant.shredding.inferenceMode | per-file/adaptive | per-file | how columns are inferred
    variant.shredding.maxInferBufferRow | integer | 4096 | rows that are sampled
    variant.shredding.maxSchemaDepth | integer | 50 | how deep columns may lie
    variant.shredding.maxSchemaWidth | integer | 300 | how many columns there may be
    variant.shredding.minFieldCardinalityRatio | number | 0.1 | which columns are cut out
    """
)

# Files written without these are as valid, so that a foreign table that has them may be written.
_FORMATS = promises(
    """
    parquet.* | text | | a setting of a Parquet writer
    orc.* | text | | a setting of an ORC writer
    avro.* | text | | a setting of an Avro writer
    csv.* | text | | a setting of a CSV reader
    json.* | text | | a setting of a JSON reader
    text.* | text | | a setting of a text reader
    """
)

_OTHER_TABLES = promises(
    """
    format-table.commit-hive-sync-url | text | | the metastore that a format table tells
    format-table.file.compression | text | | how a format table's files are compressed
    format-table.implementation | paimon/engine | paimon | who reads a format table
    format-table.partition-path-only-value | boolean | false | whether directories lack names
    format-table.repair.collect-statistics | boolean | false | whether a repair measures
    format-table.scan.list-parallelism | integer | 64 | directories listed at once
    format-table.statistics.parallelism | integer | 8 | directories measured at once
    materialized-table.definition-query | text | | the query of a materialized table
    materialized-table.interval-freshness | text | | how old it may be
    materialized-table.interval-freshness.time-unit | text | | the unit of that age
    materialized-table.logical-refresh-mode | text | | how it is to be refreshed
    materialized-table.refresh-mode | text | | how it is refreshed
    materialized-table.refresh-status | text | | whether it is refreshed
    materialized-table.refresh-handler-description | text | | who refreshes it
    materialized-table.refresh-handler-bytes | text | | who refreshes it, for machines
    """
)

ENGINES: tuple[Option, ...] = (
    *_MEMORY,
    *_LOOKUP,
    *_COLUMNS_APART,
    *_FORMATS,
    *_OTHER_TABLES,
)
