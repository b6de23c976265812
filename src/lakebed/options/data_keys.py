"""Which options decide what rows and files of a table are, and are not acted on?"""

from lakebed.options.option import BOTH, WRITING, Option
from lakebed.options.rows import promises, refused

# A writer would merge rows otherwise; a reader merges them as these say.
_MERGING = refused(
    """
    ignore-delete first-row.ignore-delete deduplicate.ignore-delete partial-update.ignore-delete \
| boolean | false | whether deletes are dropped
    sequence.field | names | | columns that order the rows of a key before the sequence number
    sequence.field.sort-order | ascending/descending | ascending | the order of sequence.field
    fields.default-aggregate-function | text | | the aggregate of columns without their own
    fields.<f>.aggregate-function | text | | a column's aggregate
    fields.<f>.sequence-group | names | | the columns that a sequence field decides
    fields.<f>.ignore-retract | boolean | false | whether an aggregate ignores retractions
    fields.<f>.distinct | boolean | false | whether collect and listagg keep each value once
    fields.<f>.list-agg-delimiter | text | , | what listagg joins with
    fields.<f>.nested-key | names | | the key of a nested table's rows
    fields.<f>.nested-key-null-strategy | text | merge | what a null nested key does
    fields.<f>.nested-sequence-field | names | | what orders a nested table's rows
    fields.<f>.count-limit | integer | 2147483647 | how many rows a nested table may have
    fields.<f>.ts-field | text | last | the field that orders the entries of a map
    """,
    changes=WRITING,
)
_MERGING_FIXED = refused(
    """
    partial-update.remove-record-on-delete | boolean | false | whether -D deletes the whole row
    partial-update.remove-record-on-sequence-group | names | | groups whose -D deletes the row
    aggregation.remove-record-on-delete | boolean | false | whether -D deletes the whole row
    """,
    changes=WRITING,
    immutable=True,
)

# Rows would be merged otherwise, by a reader as by a writer.
_MERGING_OTHERWISE = refused(
    "fields.<f>.default-value | text | | what older versions read for null", changes=BOTH
) + refused(
    """
    sequence.snapshot-ordering | boolean | false | whether the snapshot id orders a key's rows
    primary-key.nullable | boolean | false | whether key columns may be null
    pk-clustering-override | boolean | false | whether files are sorted by other columns
    """,
    changes=BOTH,
    immutable=True,
)

# The incoming rows would be understood otherwise; what is stored reads the same.
_ROW_KINDS = refused(
    """
    ignore-update-before | boolean | false | whether -U rows are dropped
    write.sequence-number-init-mode | scan/snapshot | scan | where a writer finds its first number
    delete.force-produce-changelog | boolean | false | whether a batch DELETE writes changelog
    """,
    changes=WRITING,
) + refused(
    "rowkind.field | text | | the column that holds a row's kind",
    changes=WRITING,
    immutable=True,
)

_DELETION_VECTORS = refused(
    """
    deletion-vectors.enabled | boolean | false | whether deleted rows are marked by position
    deletion-vectors.merge-on-read | boolean | false | whether level 0 is merged when reading
    """,
    changes=WRITING,
) + promises(
    """
    deletion-vectors.bitmap64 | boolean | false | whether the marks are 64-bit bitmaps
    deletion-vectors.modifiable | boolean | false | whether the mode may be changed later
    deletion-vector.index-file.target-size | size | 2 mb | the size of a file of marks
    """
)

# Another branch has other rows.
_BRANCH = refused("branch | text | main | the branch that is read and written", changes=BOTH)

# Files would lie elsewhere than where other writers put them; a reader finds them.
_PLACES = refused(
    """
    data-file.external-paths | text | | other places for data files
    data-file.external-paths.specific-fs | text | | the file system of those places
    data-file.external-paths.strategy \
| none/specific-fs/round-robin/entropy-inject/weight-robin | none | how a place is chosen
    data-file.external-paths.weights | text | | how often each place is chosen
    """,
    changes=WRITING,
) + refused(
    """
    data-file.path-directory | text | | the directory below the table that holds partitions
    index-file-in-data-file-dir | boolean | false | whether index files lie beside data files
    """,
    changes=WRITING,
    immutable=True,
)

_FILES = refused(
    """
    data-file.thin-mode | boolean | false | whether key columns are stored once
    file.format.per.level | map | | the format of each level's files
    file.format.per.level.<level> | text | | the format of one level's files
    file.compression.per.level | map | | the compression of each level's files
    file.compression.per.level.<level> | text | | the compression of one level's files
    file.suffix.include.compression | boolean | false | whether file names show the compression
    metadata.stats-mode.per.level | map | | the statistics of each level's files
    metadata.stats-mode.per.level.<level> | text | | the statistics of one level's files
    manifest.delete-file-drop-stats | boolean | false | whether entries of deletes lose statistics
    fields.<f>.map.storage-layout | text | default | how a map is laid out in files
    fields.<f>.map.shared-shredding.max-columns | integer | | how many columns a map is spread over
    variant.shreddingSchema parquet.variant.shreddingSchema | text | | columns cut out of variants
    variant.inferShreddingSchema | boolean | false | whether such columns are inferred
    """,
    changes=WRITING,
)

# A file written without its index would be scanned in full for ever, unseen.
_FILE_INDEXES = refused(
    """
    file-index.<type>.columns | text | | the columns that have an index of that type in each file
    file-index.<type>.<col>.<option> | text | | a setting of one column's index
    """,
    changes=WRITING,
) + promises("file-index.in-manifest-threshold | size | 500 bytes | which indexes manifests hold")

# Written by whoever makes the files; a missing row of the index would be a missing row found.
_KEY_INDEXES = refused(
    """
    pk-bitmap.index.columns | names | | columns with a bitmap index in each bucket
    pk-btree.index.columns | names | | columns with a B-tree index in each bucket
    pk-full-text.index.columns | names | | columns with a full-text index in each bucket
    pk-multivalue.index.columns | names | | array columns with an index in each bucket
    pk-vector.index.columns | names | | vector columns with an index in each bucket
    """,
    changes=WRITING,
)

_CHANGELOG_FILES = promises(
    """
    changelog-file.prefix | text | changelog- | how names of changelog files begin
    changelog-file.compression | text | | how changelog files are compressed
    changelog-file.format | text | | the format of changelog files
    changelog-file.stats-mode | text | | the statistics of changelog files
    changelog-producer.row-deduplicate | boolean | false | whether equal pairs are left out
    changelog-producer.row-deduplicate-ignore-fields | names | | columns not compared for that
    """
)

_BUCKET_MODES = promises(
    """
    dynamic-bucket.initial-buckets | integer | | how many buckets a partition starts with
    dynamic-bucket.max-buckets | integer | -1 | how many buckets a partition may have
    dynamic-bucket.target-row-num | long | 2000000 | how many rows fill a dynamic bucket
    cross-partition-upsert.index-ttl | duration | | how long the index of keys remembers
    postpone.batch-write-fixed-bucket | boolean | true | whether a batch goes to buckets at once
    postpone.batch-write-fixed-bucket.max-parallelism | integer | 2048 | the most inferred buckets
    postpone.batch-write-fixed-bucket.rescale-load-factor | integer | 32 | when to rescale
    postpone.default-bucket-num | integer | | buckets of a new partition
    postpone.merge-on-read | boolean | false | whether postponed rows are merged when reading
    postpone.target-row-num-per-bucket | long | | rows of a bucket, to estimate their number
    postpone.target-size-per-bucket | size | 1 gb | bytes of a bucket, to estimate their number
    """
)

# Columns stored apart, or partial files joined by row id.
_ROW_TRACKING = refused(
    "row-tracking.enabled | boolean | false | whether rows have ids",
    changes=WRITING,
    immutable=True,
) + refused(
    """
    data-evolution.enabled | boolean | false | whether files of some columns are joined by row id
    blob-field | names | | columns stored as blobs
    blob-descriptor-field blob.stored-descriptor-fields | names | | blobs stored as descriptors
    blob-view-field | names | | blobs that refer to rows of another table
    """,
    changes=BOTH,
    immutable=True,
)
_APART = refused(
    """
    vector-field | names | | columns stored as vectors
    vector.file.format | text | | the format of files of vectors
    chain-table.enabled | boolean | false | whether branches are read as one chain
    chain-table.chain-partition-keys | names | | the partition columns of the chain
    """,
    changes=BOTH,
)

# Another system keeps a copy of the metadata, which a commit without it would leave behind.
_ICEBERG = refused(
    "metadata.iceberg.storage | word | disabled | where Iceberg metadata is kept",
    changes=WRITING,
) + promises("metadata.iceberg.* | text | | how Iceberg metadata is kept")

DATA: tuple[Option, ...] = (
    *_MERGING,
    *_MERGING_FIXED,
    *_MERGING_OTHERWISE,
    *_ROW_KINDS,
    *_DELETION_VECTORS,
    *_BRANCH,
    *_PLACES,
    *_FILES,
    *_FILE_INDEXES,
    *_KEY_INDEXES,
    *_CHANGELOG_FILES,
    *_BUCKET_MODES,
    *_ROW_TRACKING,
    *_APART,
    *_ICEBERG,
)
