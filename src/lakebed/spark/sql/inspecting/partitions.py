"""Which partitions does a table have, and what is in them?"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from lakebed.format.arrow.typing import python_values
from lakebed.format.partition_path import escape_path_name
from lakebed.spark.conditions import analysis_error
from lakebed.spark.names import TableName, quoted
from lakebed.spark.sql.partition_specs import partitions_not_found, require_whole_spec
from lakebed.table.metadata.partitions import partition_table
from lakebed.table.system.groups import partition_groups
from lakebed.table.system.kind import MetadataView
from lakebed.table.system.value_text import cast_texts
from lakebed.table.table import Table
from lakebed.table.writing.partition_spec import converted_spec, partition_filter


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A partition that has files.

    Attributes:
        values: Its values as text, `null` for null, by column.
        record_count: Rows in its files.
        file_size_in_bytes: What its files take.
        file_count: How many files.
        last_file_creation_ms: When its youngest file was made, in epoch milliseconds.
    """

    values: Mapping[str, str]
    record_count: int
    file_size_in_bytes: int
    file_count: int
    last_file_creation_ms: int

    @property
    def assignments(self) -> list[str]:
        """`dt=2024-01-31` for each column, escaped as in a path."""
        return [
            f"{escape_path_name(name)}={escape_path_name(text)}"
            for name, text in self.values.items()
        ]


def require_partitioned(table: Table, name: TableName) -> None:
    """Makes sure that a table has partition columns.

    Raises:
        AnalysisException: INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY.
    """
    if not table.partition_keys:
        raise analysis_error(
            "INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY",
            f"The partition command is invalid. Table {name} is not partitioned.",
            {"name": str(name)},
        )


def partitions_of(table: Table, spec: Mapping[str, object]) -> list[Partition]:
    """The partitions that have these values; the empty spec is that of all."""
    schema = table.schema
    view = MetadataView(parts=table.parts(), snapshot=table.latest_snapshot())
    groups = partition_groups(view)
    kept = partition_filter(converted_spec(spec, schema), schema)
    groups = groups.filter(pa.array(kept.keep(groups.column("partition").combine_chunks())))
    fields = schema.partition_type.fields
    values = partition_table(groups.column("partition").combine_chunks(), fields)
    names = [field.name for field in fields]
    zone = view.parts.session.time_zone
    return [
        Partition(
            values=dict(zip(names, cast_texts(row, fields, time_zone=zone), strict=True)),
            record_count=records,
            file_size_in_bytes=size,
            file_count=files,
            last_file_creation_ms=last,
        )
        for row, records, size, files, last in zip(
            zip(*map(python_values, values.columns), strict=True),
            *(
                groups.column(each).to_pylist()
                for each in ("record_count", "file_size_in_bytes", "file_count", "last_millis")
            ),
            strict=True,
        )
    ]


def one_partition(table: Table, spec: Mapping[str, object], name: TableName) -> Partition:
    """The partition of a whole spec.

    Raises:
        AnalysisException: PARTITIONS_NOT_FOUND, or the spec is not whole.
    """
    require_whole_spec(table, spec, name)
    found = partitions_of(table, spec)
    if not found:
        listed = ", ".join(f"{quoted((key,))} = {value}" for key, value in spec.items())
        raise partitions_not_found(f"PARTITION ({listed})", table)
    return found[0]
