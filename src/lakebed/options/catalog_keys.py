"""Which options may a catalog or a session be given?

Options of a store (`s3.*`, `fs.*`) are in `options/store_keys.py`.
"""

from lakebed.options import values
from lakebed.options.option import NEITHER, Option, Standing, value_type
from lakebed.options.rows import refused, tuning
from lakebed.options.store_keys import STORES
from lakebed.options.values import ValueType


def _acts(key: str, of: str, default: str | None, *, meaning: str) -> Option:
    return Option(
        key=key,
        value_type=value_type(of),
        default=default,
        standing=Standing.ACTS,
        meaning=meaning,
    )


SESSION: tuple[Option, ...] = (
    Option(
        key="lakebed.merge.memory",
        value_type=ValueType(name="size", parse=values.parse_positive_size),
        default="256 mb",
        standing=Standing.ACTS,
        meaning="the memory that one task may take to merge a section",
    ),
    _acts("lakebed.time-zone", "text", None, meaning="the zone of local times; else the system's"),
    Option(
        key="lakebed.read.threads",
        value_type=ValueType(name="integer from 1", parse=values.parse_positive),
        default=None,
        standing=Standing.ACTS,
        meaning="threads that read in this process; else one a core",
    ),
    Option(
        key="lakebed.compaction.max-commits",
        value_type=ValueType(name="integer from 1", parse=values.parse_positive),
        default="1",
        standing=Standing.ACTS,
        meaning="into how many commits a compaction may fall that somebody asks for",
    ),
    _acts(
        "lakebed.commit.single-writer",
        "boolean",
        "false",
        meaning="whether this is the only writer of a store without put-if-absent",
    ),
)

_CATALOG = (
    _acts("warehouse", "text", None, meaning="the directory of the catalog's databases"),
    Option(
        key="metastore",
        value_type=value_type("filesystem/hive/jdbc/rest"),
        default="filesystem",
        standing=Standing.ACTS,
        meaning="where names of tables are kept",
        accepted=("filesystem",),
    ),
    Option(
        key="table.type",
        value_type=value_type("managed/external"),
        default="managed",
        standing=Standing.ACTS,
        meaning="whether dropping a table deletes its files",
        accepted=("managed",),
    ),
    Option(
        key="lock.enabled",
        value_type=value_type("boolean"),
        default=None,
        standing=Standing.ACTS,
        meaning="whether commits take a lock; Lakebed commits by put-if-absent instead",
        accepted=("false",),
    ),
    Option(
        key="case-sensitive",
        value_type=value_type("boolean"),
        default=None,
        standing=Standing.ACTS,
        meaning="whether names differ by case",
        accepted=("true",),
    ),
    _acts(
        "catalog-options-table.enabled",
        "boolean",
        "false",
        meaning="whether sys.catalog_options can be read",
    ),
    _acts("table-default.<key>", "text", None, meaning="an option that new tables start with"),
)

_NOT_YET = refused(
    """
    uri | text | | the metastore's address
    client-pool-size | integer | 2 | connections to the metastore
    catalog-key | text | jdbc | the catalog's name in a database
    lock.type | text | | which lock commits take
    lock-acquire-timeout | duration | 8 min | how long a commit waits for the lock
    lock-check-max-sleep | duration | 8 s | how long it sleeps between looks
    lock-key-max-length | integer | 255 | the longest name of a lock
    resolving-file-io.enabled | boolean | false | whether a table lies in several stores
    location-in-properties | boolean | false | whether Hive keeps a location as a property
    hive-conf-dir | text | | where Hive's settings are
    metastore.client.class | text | | which class talks to Hive
    """,
    changes=NEITHER,
)

_SPEED = tuning(
    """
    cache-enabled | boolean | true | whether the catalog caches
    cache.deletion-vectors.max-num | integer | 100000 | deletion vectors that are cached
    cache.expire-after-access | duration | 10 min | how long unused entries are cached
    cache.expire-after-write | duration | 30 min | how long entries are cached
    cache.manifest.max-memory | size | | memory for manifests
    cache.manifest.small-file-memory | size | 128 mb | memory for small manifests
    cache.manifest.small-file-threshold | size | 1 mb | when a manifest is small
    cache.manifest.soft-values | boolean | true | whether they give way
    cache.partition.max-num | long | 0 | partitions that are cached
    cache.snapshot.max-num-per-table | integer | 20 | snapshots that are cached
    file-io.allow-cache | boolean | true | whether clients of stores are shared
    format-table.enabled | boolean | true | whether format tables are shown
    local-cache.block-size | size | 1 mb | a block of the local cache
    local-cache.dir | text | | where the local cache lies
    local-cache.enabled | boolean | false | whether there is a local cache
    local-cache.max-size | size | | how large it gets
    local-cache.whitelist | names | meta,global-index | which files it holds
    sync-all-properties | boolean | true | whether the metastore gets all options
    """
)

CATALOG: tuple[Option, ...] = (*SESSION, *_CATALOG, *_NOT_YET, *_SPEED, *STORES)
