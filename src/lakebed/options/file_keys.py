"""Which options say how files are encoded, and what is known of their rows beside them?

They hold texts that depend on the table's columns and levels, so they are parsed where files are
written: `format_options`, `stats_options`, `index_options`.
"""

from lakebed.options.choices import StatsMode, parse_level_modes
from lakebed.options.option import Option, Standing
from lakebed.options.rows import acting
from lakebed.options.values import ValueType

# What a format cannot have is refused where a table is made or written.
_FORMATS = acting(
    """
    file.format.per.level | map | | the format of each level's files
    file.format.per.level.<level> | text | | the format of one level's files
    file.compression.per.level | map | | the compression of each level's files
    file.compression.per.level.<level> | text | | the compression of one level's files
    parquet.block.size | integer | | the size of a row group in bytes; file.block-size goes first
    parquet.page.size | integer | | the size of a Parquet page in bytes
    parquet.dictionary.page.size | integer | | the most bytes of a dictionary
    parquet.enable.dictionary | boolean | | dictionaries always or never; else where values repeat
    parquet.compression.codec.zstd.level | integer | | how hard zstd compresses Parquet files
    orc.timestamp-ltz.legacy.type | boolean | true | whether ORC instants are clocks of a zone
    """
)

_STATISTICS = (
    Option(
        key="metadata.stats-mode.per.level",
        value_type=ValueType(name="map", parse=parse_level_modes),
        default=None,
        standing=Standing.ACTS,
        meaning="the statistics of each level's files",
    ),
    Option(
        key="metadata.stats-mode.per.level.<level>",
        value_type=ValueType(name="none / counts / truncate(n) / full", parse=StatsMode.parse),
        default=None,
        standing=Standing.ACTS,
        meaning="the statistics of one level's files",
    ),
)

# Types of indexes and settings that there are not are refused where a table is made or written.
_FILE_INDEXES = acting(
    """
    file-index.<type>.columns | text | | the columns that have an index of that type in each file
    file-index.<type>.<col>.<option> | text | | a setting of one column's index
    file-index.in-manifest-threshold | size | 500 bytes | which indexes manifests hold
    """
)

_ROW_IDS = acting(
    "row-tracking.enabled | boolean | false | whether rows have ids", immutable=True
) + acting(
    "row-tracking.partition-group-on-commit | boolean | true | whether row ids go by partition"
)

FILE_OPTIONS: tuple[Option, ...] = (*_FORMATS, *_STATISTICS, *_FILE_INDEXES, *_ROW_IDS)
