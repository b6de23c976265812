"""The partitions that a user names by values: `{"dt": "2026-01-01"}`."""

from collections.abc import Mapping

import pyarrow as pa

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.arrow.typing import ArrowScalar, scalar_of
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
    if not spec:
        return EveryPartition()
    fields = [schema.field(name) for name in schema.partition_keys if name in spec]
    row = encode_rows(
        [pa.array([spec[field.name].as_py()], to_arrow_type(field.type)) for field in fields],
        [field.type for field in fields],
    )[0].as_py()
    return PartitionsEqual(row, tuple(fields), schema.partition_type.fields)
