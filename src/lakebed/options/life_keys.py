"""Which options ask for compaction, expiry, tags and other acts of a table's life?

Lakebed does none of these yet. In a table of another engine they are that engine's orders. From a
Lakebed user they are refused: an option that is stored and never acted on is a promise broken.
"""

from lakebed.options.option import WRITING, Option
from lakebed.options.rows import promises, refused

_COMPACTION = promises(
    """
    compaction.skip-expired-partitions | boolean | false | whether what expires is left alone
    lookup-wait changelog-producer.lookup-wait | boolean | true | whether commits wait for it
    record-level.expire-time | duration | | how long a row lives
    record-level.time-field | text | | the column that a row's age is counted from
    clustering.columns sink.clustering.by-columns | names | | columns that rows are laid out by
    clustering.strategy sink.clustering.strategy | auto/order/zorder/hilbert | auto | how
    clustering.incremental | boolean | false | whether clustering goes on bit by bit
    clustering.incremental.mode | global-sort/local-sort | global-sort | how far rows are sorted
    clustering.incremental.optimize-write | boolean | false | whether writes cluster too
    clustering.history-partition.idle-to-full-sort | duration | | when a quiet partition is sorted
    clustering.history-partition.limit | integer | 5 | how many such partitions at a time
    blob-compaction.enabled | boolean | false | whether files of blobs are compacted
    data-evolution.compaction.rewrite-row-ids | boolean | false | no longer allowed
    manifest-sort.enabled | boolean | false | whether manifests are sorted
    manifest-sort.max-rewrite-size | size | 256 mb | how much of them at a time
    manifest-sort.partition-field | text | | the column that they are sorted by
    """,
    left_to_others=True,
)

_EXPIRY = promises(
    """
    snapshot.expire.execution-mode | sync/async | sync | whether a commit waits for expiry
    snapshot.expire.limit | integer | 50 | how many snapshots expire at a time
    snapshot.num-retained.max | integer | 2147483647 | the most snapshots that are kept
    snapshot.num-retained.min | integer | 10 | the fewest snapshots that are kept
    snapshot.time-retained | duration | 1 h | how long a snapshot is kept
    snapshot.clean-empty-directories snapshot.expire.clean-empty-directories | boolean | false \
| whether empty directories are removed
    changelog.num-retained.max | integer | | the most changelogs that are kept
    changelog.num-retained.min | integer | | the fewest changelogs that are kept
    changelog.time-retained | duration | | how long a changelog is kept
    partition.expiration-time | duration | | how long a partition is kept
    partition.expiration-batch-size | integer | | how many partitions expire in one commit
    partition.expiration-check-interval | duration | 1 h | how often partitions are looked at
    partition.expiration-max-num | integer | 100 | how many partitions expire at a time
    partition.expiration-strategy | text | values-time | how a partition's age is known
    partition.timestamp-format.strict | boolean | false | whether a value without a time is an error
    partition.timestamp-formatter | text | | how a partition's value is read as a time
    partition.timestamp-pattern | text | | which values make up a partition's time
    end-input.check-partition-expire | boolean | false | whether a batch expires partitions
    """,
    left_to_others=True,
)

_TAGS = promises(
    """
    tag.automatic-completion | boolean | false | whether missed tags are made later
    tag.automatic-creation | none/process-time/watermark/batch | none | which clock makes tags
    tag.batch.customized-name | text | | the name of a batch's tag
    tag.callback.#.param | text | | what a class that is told of tags is given
    tag.callbacks | text | | classes that are told of tags
    tag.create-success-file | boolean | false | whether a tag leaves a success file
    tag.creation-delay | duration | 0 ms | how long after its period a tag is made
    tag.creation-period | daily/hourly/two-hours | daily | the period of a tag
    tag.creation-period-duration | duration | | the period of a tag, as a duration
    tag.default-time-retained | duration | | how long a tag is kept
    tag.num-retained-max | integer | | the most automatic tags that are kept
    tag.period-formatter | with_dashes/without_dashes/without_dashes_and_spaces | with_dashes \
| how a tag's name is written
    tag.time-expire-enabled | boolean | true | whether tags expire
    sink.process-time-zone | text | | the zone of tags by the clock
    sink.watermark-time-zone | text | UTC | the zone of tags by watermark
    snapshot.watermark-idle-timeout | duration | | when a silent source is passed over
    """
)

_PARTITIONS = promises(
    """
    partition.end-input-to-done | boolean | false | whether a batch marks its partitions done
    partition.mark-done-action | text | success-file | how a partition is marked done
    partition.mark-done-action.custom.class | text | | the class that does it
    partition.mark-done-action.http.params | text | | what the server is told
    partition.mark-done-action.http.url | text | | the server that is told
    metastore.partitioned-table | boolean | false | whether the metastore lists partitions
    metastore.tag-to-partition | text | | the partition column that shows tags in the metastore
    metastore.tag-to-partition.preview | none/process-time/watermark/batch | none | tags to come
    """
)

# A commit would leave out what the table demands of every commit.
_COMMITS = refused(
    """
    commit.callback.#.param | text | | what a class that is told of commits is given
    commit.callbacks | text | | classes that are told of commits
    commit.strict-mode.last-safe-snapshot | long | | after which snapshot other users may not write
    visibility-callback.enabled | boolean | false | whether a commit waits until it is visible
    """,
    changes=WRITING,
) + promises(
    """
    auto-create | boolean | false | whether a missing table is made when it is used
    commit.discard-duplicate-files | boolean | false | whether files committed twice are dropped
    commit.force-create-snapshot | boolean | false | whether a stream commits without changes
    row-tracking.partition-group-on-commit | boolean | true | whether row ids go by partition
    visibility-callback.check-interval | duration | 10 s | how often a commit looks
    visibility-callback.timeout | duration | 30 min | how long a commit waits
    """
)

_SCHEMA_CHANGES = promises(
    """
    add-column-before-partition | boolean | false | whether new columns come before the partition's
    alter-column-null-to-not-null.disabled | boolean | true | whether NOT NULL may not be added
    disable-explicit-type-casting | boolean | false | whether types change only without loss
    """
)

LIFE: tuple[Option, ...] = (
    *_COMPACTION,
    *_EXPIRY,
    *_TAGS,
    *_PARTITIONS,
    *_COMMITS,
    *_SCHEMA_CHANGES,
)
