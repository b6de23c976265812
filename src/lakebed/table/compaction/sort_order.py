"""By what does a user want the rows of an append table sorted, and can they be?"""

from collections.abc import Sequence
from typing import Literal

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.type_text import format_type
from lakebed.lsm.clustering.order_keys import Ordering, check_order, is_sortable
from lakebed.lsm.clustering.row_sorter import RowOrdering
from lakebed.options.clustering_options import ClusteringOptions
from lakebed.options.values import parse_positive
from lakebed.table.committing import is_unaware
from lakebed.table.parts import TableParts

OrderStrategy = Literal["none", "order", "zorder", "hilbert"]

_UNSORTED = "none"
_STRATEGIES = (_UNSORTED, *(each.value for each in Ordering))
_TEXT_BYTES = "zorder.var-length-contribution"


def chosen_ordering(
    parts: TableParts, order_strategy: str | None, order_by: str | Sequence[str] | None
) -> RowOrdering | None:
    """What a compaction sorts the rows of each partition by; None where nothing is to be sorted.

    Args:
        parts: The table.
        order_strategy: `order`, `zorder` or `hilbert`; `none`, a blank text and None sort nothing.
        order_by: The columns, the most significant one first, or their text with commas.

    Raises:
        InvalidArgumentError: No such strategy or column, a column that cannot be sorted by, or a
            table whose rows have an order of their own.
    """
    strategy = (order_strategy or "").strip().lower() or _UNSORTED
    columns = _names(order_by)
    if strategy not in _STRATEGIES:
        raise InvalidArgumentError(
            f"order_strategy is {order_strategy!r}; it is one of {', '.join(_STRATEGIES)}"
        )
    if strategy == _UNSORTED:
        if columns:
            raise InvalidArgumentError(
                f"order_by says what to sort by, and order_strategy {_UNSORTED!r} sorts nothing;"
                " leave order_by out, or give order_strategy"
            )
        return None
    _check_table(parts, strategy)
    ordering = RowOrdering(
        columns=columns,
        strategy=Ordering(strategy),
        text_bytes=text_bytes(parts),
    )
    _check_columns(parts, ordering)
    return ordering


def text_bytes(parts: TableParts) -> int:
    """`zorder.var-length-contribution`.

    Raises:
        InvalidArgumentError: It is no number above 0.
    """
    return parse_positive(parts.texts.get(_TEXT_BYTES, "8"), _TEXT_BYTES)


def _names(order_by: str | Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(order_by, str):
        return tuple(name.strip() for name in order_by.split(",")) if order_by.strip() else ()
    return tuple(order_by or ())


def _check_table(parts: TableParts, strategy: str) -> None:
    asked = f"order_strategy {strategy!r}"
    if parts.schema.primary_keys:
        raise InvalidArgumentError(
            f"{asked} sorts tables without a primary key; the rows of this one are sorted by"
            f" {', '.join(parts.schema.primary_keys)}. Leave it out"
        )
    if not is_unaware(parts):
        raise InvalidArgumentError(
            f"{asked} sorts tables without buckets, and this one has {parts.options.bucket} by"
            f" {', '.join(parts.schema.bucket_keys)}, whose rows keep their order. Leave it out, or"
            " write the rows to a table whose bucket is -1"
        )
    if ClusteringOptions.parse(parts.texts).is_incremental:
        raise InvalidArgumentError(
            f"{asked} contradicts clustering.incremental = true, which sorts by clustering.columns"
            " at each compaction. Leave it out, or reset clustering.incremental"
        )


def _check_columns(parts: TableParts, ordering: RowOrdering) -> None:
    if not ordering.columns:
        raise InvalidArgumentError(
            f"order_strategy {ordering.strategy.value!r} needs order_by: the columns to sort by,"
            " such as a,b"
        )
    check_order(ordering.columns, ordering.strategy)
    for name in ordering.columns:
        kind = parts.schema.field(name).type
        if name in parts.schema.partition_keys:
            raise InvalidArgumentError(
                f"order_by names the partition column {name!r}, which is the same in all rows of a"
                " partition; leave it out"
            )
        if not is_sortable(to_arrow_type(kind)):
            raise InvalidArgumentError(
                f"order_by names {name!r}, whose type {format_type(kind)} has no order;"
                " leave it out"
            )
