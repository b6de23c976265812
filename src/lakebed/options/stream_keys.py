"""Which options say what a stream reads, and how fast?"""

from lakebed.options.option import Option
from lakebed.options.rows import acting, promises

_ACTING = acting(
    """
    consumer-id | text | | under which name a stream's position is kept
    consumer.ignore-progress | boolean | false | whether a new stream ignores the kept position
    consumer.mode | exactly-once/at-least-once | exactly-once | when the position is kept
    continuous.discovery-interval | duration | 10 s | how often a stream looks for snapshots
    read.stream.maxBytesPerTrigger | long | | bytes of a micro-batch
    read.stream.maxFilesPerTrigger | integer | | files of a micro-batch
    read.stream.maxRowsPerTrigger | long | | rows of a micro-batch
    read.stream.maxTriggerDelayMs | long | | how long a micro-batch waits for rows
    read.stream.minRowsPerTrigger | long | | for how many rows a micro-batch waits
    scan.bounded.watermark | long | | the watermark that ends a stream
    streaming-read-append-overwrite | boolean | false | whether it shows those of append tables
    streaming-read-overwrite | boolean | false | whether a stream shows overwrites
    streaming.read.snapshot.delay | duration | | how long a stream stays behind
    """,
    for_stream=True,
)

# What Flink's own jobs follow, and chains of branches.
_OTHERS = promises(
    """
    stream-scan-mode | text | none | which changes an inner job follows
    chain-table.streaming.merge-snapshot | boolean | false | whether a chain's stream starts merged
    """,
    for_scan=True,
)

STREAMS: tuple[Option, ...] = _ACTING + _OTHERS
