"""Which options say how rows find a bucket where its number is not fixed?"""

from lakebed.options.option import Option
from lakebed.options.rows import acting, promises

_GROWING = acting(
    """
    dynamic-bucket.target-row-num | long | 2000000 | how many keys fill a dynamic bucket
    dynamic-bucket.max-buckets | integer | -1 | how many buckets a partition may have; -1: any
    dynamic-bucket.assigner-parallelism | integer | | how many tasks assign buckets at once
    cross-partition-upsert.index-ttl | duration | | the age of files whose keys are forgotten
    """
) + acting(
    "dynamic-bucket.initial-buckets | integer | | how many buckets a partition starts with",
    immutable=True,
)

_POSTPONED = acting(
    """
    postpone.batch-write-fixed-bucket | boolean | true | whether a batch goes to buckets at once
    postpone.batch-write-fixed-bucket.max-parallelism | integer | 2048 | the most inferred buckets
    postpone.default-bucket-num | integer | | buckets of a new partition
    postpone.target-row-num-per-bucket | long | | rows of a bucket, to estimate their number
    postpone.target-size-per-bucket | size | 1 gb | bytes of a bucket, to estimate their number
    """
) + promises(
    """
    postpone.batch-write-fixed-bucket.rescale-load-factor | integer | 32 | when to rescale
    postpone.merge-on-read | boolean | false | whether postponed rows are merged when reading
    """
)

BUCKETS: tuple[Option, ...] = (*_GROWING, *_POSTPONED)
