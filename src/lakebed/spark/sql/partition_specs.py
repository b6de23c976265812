"""Which partitions does a PARTITION clause with values mean?"""

from collections.abc import Mapping

from lakebed.errors import InvalidArgumentError
from lakebed.spark.conditions import analysis_error
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.literals import constants
from lakebed.spark.types import type_text
from lakebed.table.table import Table
from lakebed.table.writing.partition_spec import converted_spec


def partition_spec(
    lake: Lake, table: Table, partition: Mapping[str, str], *, given: Arguments
) -> dict[str, object]:
    """The values of a PARTITION clause, by names as the table spells them.

    Args:
        lake: The session.
        table: The table.
        partition: Names, and the texts of their literals.
        given: What parameters in the literals stand for.

    Raises:
        AnalysisException: PARTITIONS_NOT_FOUND for a name of no partition column,
            INVALID_PARTITION_VALUE for a value that is none of its column's type.
    """
    names = {key if lake.is_case_sensitive else key.lower(): key for key in table.partition_keys}
    own = {}
    for written, text in partition.items():
        name = names.get(written if lake.is_case_sensitive else written.lower())
        if name is None:
            raise partitions_not_found(quoted((written,)), table)
        own[name] = text
    values = dict(zip(own, constants(lake, list(own.values()), given), strict=True))
    for name, value in values.items():
        _require_fit(table, name, value)
    return values


def require_whole_spec(table: Table, spec: Mapping[str, object], name: TableName) -> None:
    """Makes sure that a clause gives every partition column a value.

    Raises:
        AnalysisException: It does not; the condition is Spark's, though it calls it a legacy one.
    """
    if set(spec) != set(table.partition_keys):
        raise analysis_error(
            "_LEGACY_ERROR_TEMP_1232",
            f"Partition spec is invalid. The spec ({', '.join(spec)}) must match the partition spec"
            f" ({', '.join(table.partition_keys)}) defined in table '{name}'.",
            {
                "specKeys": ", ".join(spec),
                "partitionColumnNames": ", ".join(table.partition_keys),
                "tableName": str(name),
            },
        )


def partitions_not_found(shown: str, table: Table) -> Exception:
    """Partitions that are not there, or columns by which the table is not partitioned."""
    name = quoted(tuple(table.name.split(".")))
    return analysis_error(
        "PARTITIONS_NOT_FOUND",
        f"The partition(s) {shown} cannot be found in table {name}. Verify the partition"
        " specification and table name.",
        {"partitionList": shown, "tableName": name},
    )


def _require_fit(table: Table, name: str, value: object) -> None:
    try:
        converted_spec({name: value}, table.schema)
    except InvalidArgumentError as error:
        kind = type_text(table.schema.field(name).type).upper()
        raise analysis_error(
            "INVALID_PARTITION_VALUE",
            f"Failed to cast value {value!r} to data type {kind} for partition column"
            f" {quoted((name,))}. Ensure the value matches the expected data type for this"
            " partition column.",
            {"value": repr(value), "dataType": kind, "columnName": quoted((name,))},
        ) from error
