"""Which partitions does DROP PARTITION mean, and are they there?"""

from collections.abc import Mapping, Sequence

from pyspark.errors import AnalysisException

from lakebed.spark.conditions import analysis_error, spark_errors
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted
from lakebed.spark.sql.altering.statements import DropPartitions
from lakebed.spark.sql.literals import constants
from lakebed.table.table import Table
from lakebed.table.writing.partition_spec import converted_spec, partition_filter

Spec = Mapping[str, object]


def partitions_to_drop(
    lake: Lake, table: Table, statement: DropPartitions, *, name: TableName
) -> list[Spec]:
    """Values of the partition columns of each partition; a missing one is left out.

    Args:
        lake: The session.
        table: The table.
        statement: The statement.
        name: What messages call the table.

    Raises:
        AnalysisException: PARTITIONS_NOT_FOUND, unless IF EXISTS stands there;
            INVALID_PARTITION_SPEC where not all partition columns are named.
    """
    if not table.partition_keys:
        raise analysis_error(
            "INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY",
            f"The partition command is invalid. Table {name} is not partitioned.",
            {"name": str(name)},
        )
    specs = [_spec(lake, table, given, name=name) for given in statement.partitions]
    with spark_errors(name.catalog):
        missing = [spec for spec in specs if not _is_there(table, spec)]
    if missing and not statement.if_exists:
        raise _not_found(missing, name)
    return [spec for spec in specs if spec not in missing]


def _spec(
    lake: Lake, table: Table, given: Mapping[str, str | None], *, name: TableName
) -> dict[str, object]:
    own = {key.lower(): key for key in table.partition_keys}
    unknown = [column for column in given if column.lower() not in own]
    if unknown:
        raise analysis_error(
            "PARTITIONS_NOT_FOUND",
            f"The partition(s) {quoted((unknown[0],))} cannot be found in table {name}: it is"
            f" partitioned by {', '.join(table.partition_keys)}.",
            {"partitionList": quoted((unknown[0],)), "tableName": str(name)},
        )
    texts = {own[column.lower()]: text for column, text in given.items() if text is not None}
    if len(texts) < len(own):
        names = ", ".join(given), ", ".join(table.partition_keys)
        details = f"The spec ({names[0]}) must give values to all of ({names[1]}) of table {name}"
        raise analysis_error(
            "INVALID_PARTITION_SPEC",
            f"Partition spec is invalid. {details}.",
            {"details": details},
        )
    return dict(zip(texts, constants(lake, list(texts.values())), strict=True))


def _is_there(table: Table, spec: Spec) -> bool:
    parts = table.parts()
    snapshot = parts.snapshots.latest()
    if snapshot is None:
        return False
    partitions = partition_filter(converted_spec(spec, table.schema), table.schema)
    return parts.manifests.live(snapshot, partitions=partitions).num_rows > 0


def _not_found(specs: Sequence[Spec], name: TableName) -> AnalysisException:
    shown = ", ".join(
        f"PARTITION ({', '.join(f'{quoted((key,))} = {value}' for key, value in spec.items())})"
        for spec in specs
    )
    return analysis_error(
        "PARTITIONS_NOT_FOUND",
        f"The partition(s) {shown} cannot be found in table {name}. To tolerate the error on drop"
        " use ALTER TABLE ... DROP IF EXISTS PARTITION.",
        {"partitionList": shown, "tableName": str(name)},
    )
