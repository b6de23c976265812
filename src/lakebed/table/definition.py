"""May a table be what its schema and options say together?

Options are checked one by one before (`options.acceptance`); here is what depends on columns and
keys, so that a table that could not be written or read is never made.
"""

from datetime import tzinfo

from lakebed.errors import InvalidTableError
from lakebed.format.data_file_write import check_table_writable
from lakebed.format.schema import TableSchema
from lakebed.format.time_zone import time_zone_name
from lakebed.lsm.engines import merging_of
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import ChangelogProducer, MergeEngine
from lakebed.options.table_options import TableOptions
from lakebed.table.writing.file_layout import FileLayout


def check_definition(schema: TableSchema, *, time_zone: tzinfo) -> None:
    """Checks the options of a table against its columns and keys.

    Args:
        schema: The columns, keys and options.
        time_zone: Of the session that makes the table.

    Raises:
        InvalidTableError: They contradict each other, or name a column that is not there.
        UnsupportedError: A function, type, format or compression that Lakebed lacks.
    """
    _check_merging(schema)
    parsed = TableOptions.parse(schema.options, has_primary_key=bool(schema.primary_keys))
    _check_deletion_vectors(parsed)
    check_table_writable(schema.fields, parsed, time_zone=time_zone_name(time_zone))
    for is_changelog in (False, True):
        FileLayout.of(schema, parsed, time_zone=time_zone, is_changelog=is_changelog)


def _check_merging(schema: TableSchema) -> None:
    options = TABLE_OPTIONS.with_current_keys(schema.options)
    kind_field = options.get("rowkind.field")
    if kind_field is not None and kind_field not in schema.names:
        raise InvalidTableError(
            f"rowkind.field names {kind_field!r}; there are {', '.join(schema.names)}"
        )
    producer = options.get("changelog-producer", "none")
    if not schema.primary_keys:
        if producer != "none":
            raise InvalidTableError(
                f"changelog-producer={producer} needs a primary key: a changelog says how the row "
                "of a key changed. Leave it out"
            )
        return
    merging_of(schema, schema.options)
    if options.get("merge-engine") == "first-row":
        if "sequence.field" in options:
            raise InvalidTableError(
                "sequence.field contradicts merge-engine=first-row, which keeps what came first"
            )
        if producer not in {"none", "lookup"}:
            raise InvalidTableError(
                f"changelog-producer={producer} contradicts merge-engine=first-row; use none or "
                "lookup"
            )


def _check_deletion_vectors(options: TableOptions) -> None:
    if not options.deletion_vectors_enabled:
        return
    if options.merge_engine is MergeEngine.FIRST_ROW:
        raise InvalidTableError(
            "deletion-vectors.enabled contradicts merge-engine=first-row, where no row takes the "
            "place of an older one. Leave it out"
        )
    if options.changelog_producer is ChangelogProducer.FULL_COMPACTION:
        raise InvalidTableError(
            "changelog-producer=full-compaction contradicts deletion-vectors.enabled; use none, "
            "input or lookup"
        )
