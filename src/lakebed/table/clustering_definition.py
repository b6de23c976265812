"""May compactions of a table cluster it, and how do its options ask for that?"""

from lakebed.errors import InvalidTableError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.schema import TableSchema
from lakebed.lsm.clustering.order_keys import Ordering, check_order, is_sortable
from lakebed.options.clustering_options import ClusteringOptions
from lakebed.options.table_options import TableOptions


def check_clustering(schema: TableSchema, options: TableOptions) -> None:
    """Checks the options of clustering of a table that is made.

    Args:
        schema: The columns, keys and options.
        options: The options, parsed.

    Raises:
        InvalidArgumentError: The columns are too few for the strategy.
        InvalidTableError: The columns, keys or other options forbid to cluster.
        UnsupportedError: An option that nothing would act on.
    """
    if clustering_of(schema, options) is not None:
        return
    unused = ClusteringOptions.parse(schema.options).unused
    if unused:
        raise UnsupportedError(
            f"option {unused[0]!r} is acted on with clustering.incremental=true alone; Lakebed "
            "would keep it and not act on it. Set that too, or leave this out"
        )


def clustering_of(schema: TableSchema, options: TableOptions) -> ClusteringOptions | None:
    """How compactions of an append table cluster; None where they do not.

    Args:
        schema: The columns, keys and options.
        options: The options, parsed.

    Raises:
        InvalidArgumentError: The columns are too few for the strategy.
        InvalidTableError: The columns, keys or other options forbid it.
    """
    clustering = ClusteringOptions.parse(schema.options)
    if not clustering.is_incremental:
        return None
    if not clustering.columns:
        raise InvalidTableError(
            "clustering.incremental needs clustering.columns: name the columns to lay rows out by"
        )
    if schema.primary_keys:
        raise InvalidTableError(
            "clustering.incremental contradicts a primary key, which rows are sorted by. Leave it "
            "out"
        )
    if options.bucket > 0 and clustering.keeps_row_order:
        raise InvalidTableError(
            "clustering.incremental gives up the order of rows in a bucket, which "
            "bucket-append-ordered keeps. Set bucket-append-ordered=false"
        )
    if options.bucket > 0 and options.deletion_vectors_enabled:
        raise InvalidTableError(
            "clustering.incremental contradicts deletion-vectors.enabled where there are buckets. "
            "Leave one of them out, or the buckets"
        )
    for name in clustering.columns:
        if name not in schema.names:
            raise InvalidTableError(
                f"clustering.columns names {name!r}; there are {', '.join(schema.names)}"
            )
        kind = schema.field(name).type
        if not is_sortable(to_arrow_type(kind)):
            raise InvalidTableError(
                f"clustering.columns names {name!r}, but rows cannot be laid out by {kind}"
            )
    check_order(clustering.columns, ordering_of(clustering))
    return clustering


def ordering_of(clustering: ClusteringOptions) -> Ordering:
    """`clustering.strategy`, that of `auto` by the number of columns."""
    if clustering.strategy is None:
        return Ordering.automatic(len(clustering.columns))
    return Ordering(clustering.strategy)
