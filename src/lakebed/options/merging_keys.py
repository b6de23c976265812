"""Which options say how rows of a key become one, and what kind a row is?

A writer merges by them within its buffer, a reader and a compaction across files.
"""

from lakebed.options.choices import ChangelogProducer, MergeEngine
from lakebed.options.option import Option, Standing, one_of
from lakebed.options.rows import acting

_ENGINE = (
    Option(
        key="merge-engine",
        value_type=one_of(MergeEngine),
        default="deduplicate",
        standing=Standing.ACTS,
        meaning="how rows of one key become one",
        immutable=True,
    ),
    Option(
        key="changelog-producer",
        value_type=one_of(ChangelogProducer),
        default="none",
        standing=Standing.ACTS,
        meaning="where the stream of changes comes from",
    ),
)

_MERGING = acting(
    """
    ignore-delete first-row.ignore-delete deduplicate.ignore-delete partial-update.ignore-delete \
| boolean | false | whether deletes are dropped
    ignore-update-before | boolean | false | whether -U rows are dropped
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
    """
) + acting(
    """
    partial-update.remove-record-on-delete | boolean | false | whether -D deletes the whole row
    partial-update.remove-record-on-sequence-group | names | | groups whose -D deletes the row
    aggregation.remove-record-on-delete | boolean | false | whether -D deletes the whole row
    rowkind.field | text | | the column that holds a row's kind
    """,
    immutable=True,
)

_CHANGELOG_FILES = acting(
    """
    changelog-file.prefix | text | changelog- | how names of changelog files begin
    changelog-file.compression | word | | how changelog files are compressed
    changelog-file.format | word | | the format of changelog files
    changelog-file.stats-mode | text | | the statistics of changelog files
    delete.force-produce-changelog | boolean | false | whether a DELETE of all rows is told, too
    """
)

MERGING: tuple[Option, ...] = (*_ENGINE, *_MERGING, *_CHANGELOG_FILES)
