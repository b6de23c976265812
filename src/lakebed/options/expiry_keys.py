"""Which options say how long snapshots, changelogs and the positions of consumers are kept?"""

from lakebed.options.option import Option
from lakebed.options.rows import acting

EXPIRY: tuple[Option, ...] = acting(
    """
    changelog.num-retained.max | integer | | the most changelogs that are kept
    changelog.num-retained.min | integer | | the fewest changelogs that are kept
    changelog.time-retained | duration | | how long a changelog is kept
    consumer.changelog-only | boolean | false | whether a consumer protects changelogs alone
    consumer.expiration-time | duration | | when a silent consumer is forgotten
    snapshot.expire.limit | integer | 50 | how many snapshots expire at a time
    snapshot.num-retained.max | integer | 2147483647 | the most snapshots that are kept
    snapshot.num-retained.min | integer | 10 | the fewest snapshots that are kept
    snapshot.time-retained | duration | 1 h | how long a snapshot is kept
    """
)
