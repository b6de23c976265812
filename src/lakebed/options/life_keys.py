"""Which options ask for compaction, expiry and other acts of a table's life?

Lakebed does none of these yet. In a table of another engine they are that engine's orders. From a
Lakebed user they are refused: an option that is stored and never acted on is a promise broken.
"""

from lakebed.options.option import WRITING, Option
from lakebed.options.rows import promises, refused

_COMPACTION = promises(
    """
    compaction.skip-expired-partitions | boolean | false | whether what expires is left alone
    lookup-wait changelog-producer.lookup-wait | boolean | true | whether commits wait for it
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
    snapshot.clean-empty-directories snapshot.expire.clean-empty-directories | boolean | false \
| whether empty directories are removed
    """,
    left_to_others=True,
)

_PARTITIONS = promises(
    """
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
    visibility-callback.enabled | boolean | false | whether a commit waits until it is visible
    """,
    changes=WRITING,
) + promises(
    """
    auto-create | boolean | false | whether a missing table is made when it is used
    commit.discard-duplicate-files | boolean | false | whether files committed twice are dropped
    commit.force-create-snapshot | boolean | false | whether a stream commits without changes
    visibility-callback.check-interval | duration | 10 s | how often a commit looks
    visibility-callback.timeout | duration | 30 min | how long a commit waits
    """
)

LIFE: tuple[Option, ...] = (
    *_COMPACTION,
    *_EXPIRY,
    *_PARTITIONS,
    *_COMMITS,
)
