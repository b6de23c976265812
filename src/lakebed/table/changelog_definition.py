"""May a table tell the changes that its options ask for?

A combination that would never tell anything, or tell changes twice or not as asked, makes no table.
With `write-only` another job compacts, and its compactions tell.
"""

from lakebed.errors import InvalidTableError
from lakebed.format.schema import TableSchema
from lakebed.options.choices import ChangelogProducer, MergeEngine
from lakebed.options.compaction_options import CompactionOptions
from lakebed.options.table_options import TableOptions


def check_changelog(schema: TableSchema, options: TableOptions) -> None:
    """Checks the options of changelogs against each other.

    Args:
        schema: The columns and keys, with the options as text.
        options: The same options, parsed.

    Raises:
        InvalidTableError: They contradict each other, or name a column that is not there.
    """
    compaction = CompactionOptions.parse(schema.options)
    if not schema.primary_keys:
        _check_append_table(options, compaction)
        return
    producer = options.changelog_producer
    _check_producer(options)
    if producer is ChangelogProducer.LOOKUP and compaction.full_delta_commits is not None:
        raise InvalidTableError(
            "full-compaction.delta-commits contradicts changelog-producer=lookup, which tells the "
            "changes of every commit. Leave it out, or use changelog-producer=full-compaction"
        )
    if producer is ChangelogProducer.INPUT and compaction.row_deduplicate:
        raise InvalidTableError(
            "changelog-producer.row-deduplicate contradicts changelog-producer=input: the rows are "
            "told as they come, and not compared. Leave it out, or use lookup or full-compaction"
        )
    for name in compaction.not_compared:
        if name not in schema.names:
            raise InvalidTableError(
                f"changelog-producer.row-deduplicate-ignore-fields names {name!r}; there are "
                f"{', '.join(schema.names)}"
            )


def _check_append_table(options: TableOptions, compaction: CompactionOptions) -> None:
    producer = options.changelog_producer
    if producer is not ChangelogProducer.NONE:
        raise InvalidTableError(
            f"changelog-producer={producer.value} needs a primary key: a changelog says how the "
            "row of a key changed. Leave it out"
        )
    if options.bucket < 0 and compaction.full_delta_commits is not None:
        raise InvalidTableError(
            "full-compaction.delta-commits needs buckets or a primary key: without them no write "
            "compacts. Leave it out"
        )


def _check_producer(options: TableOptions) -> None:
    producer = options.changelog_producer
    if options.merge_engine is MergeEngine.FIRST_ROW and producer in {
        ChangelogProducer.INPUT,
        ChangelogProducer.FULL_COMPACTION,
    }:
        raise InvalidTableError(
            f"changelog-producer={producer.value} contradicts merge-engine=first-row; use none or "
            "lookup"
        )
    if options.deletion_vectors_enabled and producer is ChangelogProducer.FULL_COMPACTION:
        raise InvalidTableError(
            "changelog-producer=full-compaction contradicts deletion-vectors.enabled; use none, "
            "input or lookup"
        )
