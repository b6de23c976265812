"""The least and the greatest value of a column: from manifests where these are exact, else read.

Spark's order holds: NaN is greater than every number, and null is no value.
"""

from collections.abc import Iterable

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowScalar, chunked, scalar_of
from lakebed.format.predicate.expressions import Expression, split_by_columns
from lakebed.format.snapshot import Snapshot
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.table.metadata.partitions import partitions_left
from lakebed.table.metadata.plan_step import apply_steps
from lakebed.table.planning.evolved_bounds import evolved_bounds
from lakebed.table.planning.metadata_answers import MetadataAnswers
from lakebed.table.planning.plan import Planner, Visibility

__all__ = ["extreme_in", "known_extreme", "ordered_type"]

_UNORDERED = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})


def ordered_type(field: DataField) -> AtomicType:
    """The type of a column whose values have an order.

    Raises:
        InvalidArgumentError: They have none.
    """
    if not isinstance(field.type, AtomicType) or field.type.root in _UNORDERED:
        raise InvalidArgumentError(f"column {field.name!r} has values without an order")
    return field.type


def known_extreme(
    planner: Planner,
    snapshot: Snapshot,
    *,
    predicate: Expression | None,
    field: DataField,
    greatest: bool,
) -> ArrowScalar | None:
    """What the manifests say; a null scalar where no row has a value, None where they do not say.

    Args:
        planner: Of the table.
        snapshot: What is read.
        predicate: Which rows count.
        field: The column.
        greatest: Whether the greatest value is asked for.
    """
    schema = planner.table_schema
    if split_by_columns(predicate, set(schema.partition_keys))[1] is not None:
        return None
    if schema.primary_keys and not all(s.is_raw for s in planner.plan(snapshot, predicate)[0]):
        return None
    live = planner.manifests.live(snapshot, partitions=partitions_left(predicate, schema))
    entries, _ = apply_steps(live, planner.layout.steps(Visibility.BATCH))
    entries = planner.with_deletion_vectors(entries, snapshot)
    answers = MetadataAnswers(files=entries, has_key=bool(schema.primary_keys))
    bounds = evolved_bounds(entries, [field], planner.file_schemas)[field.name]
    of_type = ordered_type(field)
    return answers.max(bounds, of_type) if greatest else answers.min(bounds, of_type)


def extreme_in(
    batches: Iterable[pa.RecordBatch], kind: pa.DataType, *, greatest: bool
) -> ArrowScalar:
    """The extreme of the one column of some batches; a null scalar where no row has a value."""
    values = pc.drop_null(chunked([batch.column(0) for batch in batches], kind))
    if pa.types.is_floating(kind):
        numbers = pc.filter(values, pc.invert(pc.is_nan(values)))
        if len(numbers) < len(values) and (greatest or not len(numbers)):
            return scalar_of(float("nan"), kind)
        values = numbers
    found: ArrowScalar = (pc.max if greatest else pc.min)(values)
    return found
