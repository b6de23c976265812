"""Which partitions a scan or an overwrite is about.

Partitions are few beside files, so a filter looks at the distinct ones of a set of entries, and the
entries follow from that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.binary_row.codec import decode_rows, encode_rows
from lakebed.format.predicate.evaluation import evaluate
from lakebed.format.predicate.expressions import Expression, split_by_columns
from lakebed.format.schema import TableSchema
from lakebed.format.types import DataField


class PartitionFilter(Protocol):
    """Chooses among distinct partitions."""

    def keep(self, partitions: ArrowArray) -> npt.NDArray[np.bool_]:
        """A mask over serialized partition rows."""
        ...


@dataclass(frozen=True, slots=True)
class EveryPartition:
    """Keeps all."""

    def keep(self, partitions: ArrowArray) -> npt.NDArray[np.bool_]:
        """All true."""
        return np.ones(len(partitions), np.bool_)


@dataclass(frozen=True, slots=True)
class PartitionsAmong:
    """Keeps those given.

    Attributes:
        rows: Serialized partition rows.
    """

    rows: frozenset[bytes]

    def keep(self, partitions: ArrowArray) -> npt.NDArray[np.bool_]:
        """True for the rows given."""
        return np.array([row in self.rows for row in partitions.to_pylist()], np.bool_)


@dataclass(frozen=True, slots=True)
class PartitionsMatching:
    """Keeps those for which a predicate over the partition columns is true.

    Attributes:
        predicate: Over partition columns alone.
        fields: The partition columns, in order.
    """

    predicate: Expression
    fields: tuple[DataField, ...]

    def keep(self, partitions: ArrowArray) -> npt.NDArray[np.bool_]:
        """True where the predicate is true."""
        values = partition_table(partitions, self.fields)
        result = evaluate(self.predicate, values)
        mask: npt.NDArray[np.bool_] = pc.fill_null(result, fill_value=False).to_numpy(
            zero_copy_only=False
        )
        return mask


def partitions_left(predicate: Expression | None, schema: TableSchema) -> PartitionFilter:
    """The partitions that a predicate leaves, by its part over partition columns alone."""
    fields = schema.partition_type.fields
    if predicate is None or not fields:
        return EveryPartition()
    of_partition, _ = split_by_columns(predicate, set(schema.partition_keys))
    return PartitionsMatching(of_partition, fields) if of_partition else EveryPartition()


def predicate_of(partitions: PartitionFilter) -> Expression | None:
    """The predicate of a filter that has one."""
    return partitions.predicate if isinstance(partitions, PartitionsMatching) else None


@dataclass(frozen=True, slots=True)
class PartitionsEqual:
    """Keeps those that have given values in some of the partition columns; null equals null.

    Attributes:
        rows: Serialized rows of values, of which a partition must have one.
        named: The columns that the values belong to.
        fields: All partition columns, in order.
    """

    rows: frozenset[bytes]
    named: tuple[DataField, ...]
    fields: tuple[DataField, ...]

    def keep(self, partitions: ArrowArray) -> npt.NDArray[np.bool_]:
        """True where the named columns have one row of the values."""
        values = partition_table(partitions, self.fields)
        columns = [values.column(field.name) for field in self.named]
        rows = encode_rows(columns, [field.type for field in self.named])
        wanted = pa.array(sorted(self.rows), pa.binary())
        mask: npt.NDArray[np.bool_] = pc.is_in(rows, value_set=wanted).to_numpy(
            zero_copy_only=False
        )
        return mask


def partition_table(partitions: ArrowArray, fields: Sequence[DataField]) -> pa.Table:
    """The values of serialized partition rows as columns."""
    columns = decode_rows(partitions, [field.type for field in fields], source="partition")
    return pa.table(columns, names=[field.name for field in fields])


def entries_of_partitions(entries: pa.Table, partitions: PartitionFilter) -> npt.NDArray[np.bool_]:
    """Which entries are of the partitions that a filter keeps; it sees each partition once."""
    if isinstance(partitions, EveryPartition):
        return np.ones(entries.num_rows, np.bool_)
    distinct = pc.unique(entries.column("partition"))
    kept = partitions.keep(distinct)
    wanted = distinct.filter(pa.array(kept))
    mask: npt.NDArray[np.bool_] = pc.is_in(entries.column("partition"), value_set=wanted).to_numpy()
    return mask
