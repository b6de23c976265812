"""May a table be what its schema and options say together?

Options are checked one by one before (`options.acceptance`); here is what depends on columns and
keys, so that a table that could not be written or read is never made.
"""

from datetime import tzinfo

from lakebed.errors import InvalidTableError
from lakebed.format.data_file_write import check_table_writable
from lakebed.format.schema import TableSchema
from lakebed.format.time_zone import time_zone_name
from lakebed.lsm.compaction.expiry import RecordExpiry
from lakebed.lsm.engines import merging_of
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import MergeEngine
from lakebed.options.compaction_options import CompactionOptions
from lakebed.options.expiry_options import ExpiryOptions
from lakebed.options.table_options import TableOptions
from lakebed.table.changelog_definition import check_changelog
from lakebed.table.clustering_definition import check_clustering
from lakebed.table.partition_life.times import check_partition_options
from lakebed.table.writing.file_layout import FileLayout
from lakebed.table.writing.routing import NOT_FIXED


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
    check_changelog(schema, parsed)
    _check_deletion_vectors(parsed)
    _check_record_expiry(schema)
    _check_row_tracking(schema, parsed)
    check_clustering(schema, parsed)
    ExpiryOptions.parse(schema.options)
    check_partition_options(schema)
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
    if not schema.primary_keys:
        return
    merging_of(schema, schema.options)
    if options.get("merge-engine") == "first-row" and "sequence.field" in options:
        raise InvalidTableError(
            "sequence.field contradicts merge-engine=first-row, which keeps what came first"
        )


def _check_deletion_vectors(options: TableOptions) -> None:
    if not options.deletion_vectors_enabled:
        return
    if options.merge_engine is MergeEngine.FIRST_ROW:
        raise InvalidTableError(
            "deletion-vectors.enabled contradicts merge-engine=first-row, where no row takes the "
            "place of an older one. Leave it out"
        )


def _check_record_expiry(schema: TableSchema) -> None:
    options = CompactionOptions.parse(schema.options)
    if RecordExpiry.of(options, schema.fields, now_ms=0) is not None and not schema.primary_keys:
        raise InvalidTableError(
            "record-level.expire-time needs a primary key: rows expire where compactions merge "
            "them. Leave it out"
        )


def _check_row_tracking(schema: TableSchema, options: TableOptions) -> None:
    if options.row_tracking_enabled and (schema.primary_keys or options.bucket != NOT_FIXED):
        raise InvalidTableError(
            "row-tracking.enabled is for tables with neither a primary key nor buckets: leave it "
            f"out, or the primary key and 'bucket' ({options.bucket})"
        )
