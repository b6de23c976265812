"""Which options say when a bucket is compacted, and what its compactions tell?"""

from lakebed.options.option import Option
from lakebed.options.rows import acting, tuning

_ACTING = acting(
    """
    num-levels | integer | | how many levels a bucket has
    num-sorted-run.compaction-trigger | integer | 5 | from how many sorted runs on to compact
    compaction.delete-ratio-threshold | number | 0.2 | the share of deleted rows that is compacted
    compaction.force-rewrite-all-files | boolean | false | whether every file is rewritten
    compaction.force-up-level-0 | boolean | false | whether level 0 always takes part
    compaction.incremental-size-threshold | size | | new bytes that force a full compaction
    compaction.max-size-amplification-percent | integer | 200 | extra bytes that are borne
    compaction.min.file-num | integer | 5 | how many files of an append table are compacted
    compaction.offpeak-ratio | integer | 0 | the size ratio at quiet hours
    compaction.offpeak.end.hour | integer | -1 | when quiet hours end
    compaction.offpeak.start.hour | integer | -1 | when quiet hours begin
    compaction.optimization-interval | duration | | how often a full compaction is forced
    compaction.size-ratio | integer | 1 | how much larger the next sorted run may be, in percent
    compaction.small-file-ratio | number | 0.7 | below which share of the target a file is small
    compaction.total-size-threshold | size | | the size below which compaction is full
    full-compaction.delta-commits | integer | | after how many commits compaction is full
    commit.force-compact | boolean | false | whether a commit waits for compaction
    lookup-compact | RADICAL/GENTLE | RADICAL | how eagerly level 0 is compacted
    lookup-compact.max-interval | integer | | how long a gentle compaction waits
    changelog-producer.row-deduplicate | boolean | false | whether equal pairs are left out
    changelog-producer.row-deduplicate-ignore-fields | names | | columns not compared for that
    record-level.expire-time | duration | | how long a row lives
    record-level.time-field | text | | the column that a row's age is counted from
    clustering.columns sink.clustering.by-columns | names | | columns that rows are laid out by
    clustering.strategy sink.clustering.strategy | auto/order/zorder/hilbert | auto | how
    clustering.incremental | boolean | false | whether compaction lays rows out, bit by bit
    clustering.incremental.mode | global-sort/local-sort | global-sort | how far rows are sorted
    zorder.var-length-contribution | integer | 8 | bytes of a text in a z-order
    """
) + acting(
    "force-lookup | boolean | false | whether compaction always looks up old rows",
    immutable=True,
)

# A write compacts before it returns, so no writer runs ahead of compaction.
_TUNING = tuning(
    """
    num-sorted-run.stop-trigger | integer | | from how many sorted runs on writes wait
    compaction.file-num-limit | integer | 100000 | how many files one compaction looks at
    """
)

COMPACTION: tuple[Option, ...] = _ACTING + _TUNING
