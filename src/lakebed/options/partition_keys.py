"""Which options say how long partitions are kept, and when they are marked as done?"""

from lakebed.options.option import Option
from lakebed.options.rows import acting, promises

_ACTING = acting(
    """
    partition.expiration-time | duration | | how long a partition is kept
    partition.expiration-batch-size | integer | | how many partitions expire in one commit
    partition.expiration-check-interval | duration | 1 h | how often partitions are looked at
    partition.expiration-max-num | integer | 100 | how many partitions expire at a time
    partition.expiration-strategy | values-time/update-time | values-time | how their age is known
    partition.timestamp-format.strict | boolean | false | whether a value without a time is an error
    partition.timestamp-formatter | text | | how a partition's value is read as a time
    partition.timestamp-pattern | text | | which values make up a partition's time
    partition.end-input-to-done | boolean | false | whether a batch marks its partitions done
    end-input.check-partition-expire | boolean | false | whether a batch expires partitions
    """
)

# Other actions tell a metastore or a server, and are left to the engine that knows it.
_MARK_DONE = promises("partition.mark-done-action | text | success-file | how a partition is done")

PARTITIONS: tuple[Option, ...] = _ACTING + _MARK_DONE
