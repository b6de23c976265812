"""The partitions that a user names by values: `{"dt": "2026-01-01"}`."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.arrow.typing import ArrowArray, ArrowScalar, python_values, scalar_of
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.schema import TableSchema
from lakebed.table.metadata.partitions import EveryPartition, PartitionFilter, PartitionsEqual


def converted_spec(spec: Mapping[str, object], schema: TableSchema) -> dict[str, ArrowScalar]:
    """The values in the types of the partition columns; text is parsed.

    Raises:
        InvalidArgumentError: A name that is no partition column, or a value that is none of its
            type.
    """
    values: dict[str, ArrowScalar] = {}
    for name, value in spec.items():
        if name not in schema.partition_keys:
            keys = ", ".join(schema.partition_keys) or "none"
            raise InvalidArgumentError(
                f"{name!r} is no partition column; the partition columns are: {keys}"
            )
        wanted = to_arrow_type(schema.field(name).type)
        try:
            values[name] = (
                scalar_of(value).cast(wanted) if value is not None else scalar_of(None, wanted)
            )
        except pa.ArrowException as error:
            raise InvalidArgumentError(
                f"partition column {name!r}: {value!r} is no {wanted}"
            ) from error
    return values


def partition_filter(spec: Mapping[str, ArrowScalar], schema: TableSchema) -> PartitionFilter:
    """The partitions whose columns have these values; null equals null."""
    return partitions_of_specs([spec], schema)


def partitions_of_specs(
    specs: Sequence[Mapping[str, ArrowScalar]], schema: TableSchema
) -> PartitionFilter:
    """The partitions that any of some converted specs names; those of the empty spec are all."""
    if not all(specs):
        return EveryPartition()
    by_names: dict[frozenset[str], list[Mapping[str, ArrowScalar]]] = defaultdict(list)
    for spec in specs:
        by_names[frozenset(spec)].append(spec)
    found = [_equal(group, schema) for group in by_names.values()]
    return found[0] if len(found) == 1 else PartitionsOfAny(tuple(found))


@dataclass(frozen=True, slots=True)
class PartitionsOfAny:
    """Keeps those that any of some filters keeps.

    Attributes:
        filters: The filters.
    """

    filters: tuple[PartitionFilter, ...]

    def keep(self, partitions: ArrowArray) -> npt.NDArray[np.bool_]:
        """True where one of the filters is."""
        kept = np.zeros(len(partitions), np.bool_)
        for one in self.filters:
            kept |= one.keep(partitions)
        return kept


def _equal(specs: Sequence[Mapping[str, ArrowScalar]], schema: TableSchema) -> PartitionsEqual:
    """The partitions of specs that name the same columns."""
    fields = [schema.field(name) for name in schema.partition_keys if name in specs[0]]
    rows = encode_rows(
        [
            pa.array([spec[field.name].as_py() for spec in specs], to_arrow_type(field.type))
            for field in fields
        ],
        [field.type for field in fields],
    )
    return PartitionsEqual(
        frozenset(python_values(rows)), tuple(fields), schema.partition_type.fields
    )
