"""How are CREATE TABLE, its LIKE and AS SELECT, and REPLACE TABLE run?"""

from collections.abc import Mapping
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from lakebed.errors import LakebedError
from lakebed.format.schema_definition import Schema
from lakebed.format.snapshot import Operation
from lakebed.spark.conditions import analysis_error, spark_errors, unsupported_operation
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted
from lakebed.spark.new_table import NewTable
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.creating.statements import CreateTable, CreateTableLike, Making
from lakebed.spark.sql.defaults import without_defaults
from lakebed.spark.sql.queries import Run, run_query
from lakebed.spark.sql.statements import Statement

_PRIMARY_KEY = "primary-key"
_COMMENT = "comment"
_AS_SELECT: Mapping[Making, Operation] = {
    Making.CREATE: Operation.CREATE_TABLE_AS_SELECT,
    Making.CREATE_IF_NOT_EXISTS: Operation.CREATE_TABLE_AS_SELECT,
    Making.REPLACE: Operation.REPLACE_TABLE_AS_SELECT,
    Making.CREATE_OR_REPLACE: Operation.CREATE_OR_REPLACE_TABLE_AS_SELECT,
}


def create_table(lake: Lake, statement: CreateTable, given: Arguments) -> DataFrame | None:
    """CREATE TABLE and REPLACE TABLE, with AS too; None when the name is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    _require_paimon(name, statement.provider)
    if statement.query is not None and statement.columns:
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            f"{statement.making.value} TABLE {name} AS SELECT takes its columns from the query; "
            "leave out the list",
        )
    making = statement.making
    is_there = making is not Making.CREATE and lake.exists(name)
    if making is Making.CREATE_IF_NOT_EXISTS and is_there:
        return lake.empty()
    frame = None if statement.query is None else run_query(lake, statement.query, given)
    if frame is None:
        with spark_errors(name.catalog):
            columns, defaults = without_defaults(statement.columns)
        table = _new_table(_columns(columns, statement), statement, defaults=defaults)
    else:
        table = _new_table(frame.schema, statement)
    if making is Making.REPLACE or (making is Making.CREATE_OR_REPLACE and is_there):
        lake.replace_table(name, table, frame=frame, operation=_AS_SELECT[making])
    else:
        _create(lake, name, table, frame=frame, making=making)
    return lake.empty()


def create_table_like(lake: Lake, statement: CreateTableLike, _: Arguments) -> DataFrame | None:
    """CREATE TABLE LIKE: columns, comment, keys and options of another; None when it is Spark's.

    The types are copied as they are, where a text of columns would lose some of them.
    """
    name, source_name = lake.resolve(statement.name), lake.resolve(statement.source)
    if name is None:
        if source_name is not None:
            shown = f"CREATE TABLE {quoted(statement.name)} LIKE it in a catalog of Spark's"
            raise unsupported_operation(shown, str(source_name))
        return None
    _require_paimon(name, statement.provider)
    if source_name is None:
        shown = f"CREATE TABLE LIKE {quoted(statement.source)}, a table of Spark's,"
        raise unsupported_operation(shown, str(name))
    source = lake.load_stored(source_name)
    options = {_PRIMARY_KEY: ",".join(source.primary_keys), **source.options}
    options.update(statement.properties)
    keys = [key.strip() for key in options.pop(_PRIMARY_KEY).split(",") if key.strip()]
    comment = options.pop(_COMMENT, source.comment)
    with spark_errors(name.catalog):
        lake.catalog(name).create_table(
            name.identifier,
            schema=Schema(fields=source.schema.fields),
            primary_key=keys,
            partition_by=source.partition_keys,
            options=options,
            comment=comment,
            ignore_if_exists=statement.if_not_exists,
        )
    return lake.empty()


def _create(
    lake: Lake, name: TableName, table: NewTable, *, frame: DataFrame | None, making: Making
) -> None:
    created = lake.create(name, table, ignore_if_exists=making is Making.CREATE_IF_NOT_EXISTS)
    if frame is None:
        return
    try:
        lake.write(frame, lake.configured(created, name), operation=_AS_SELECT[making])
    except (AnalysisException, LakebedError):
        lake.catalog(name).drop_table(name.identifier, ignore_if_not_exists=True)
        raise


def _new_table(
    schema: StructType, statement: CreateTable, *, defaults: Mapping[str, str] | None = None
) -> NewTable:
    return NewTable(
        schema=schema,
        partition_by=[column for column, _ in statement.partitions],
        properties=statement.properties,
        comment=statement.comment,
        defaults=defaults or {},
    )


def _columns(columns: str, statement: CreateTable) -> StructType:
    """The columns as Spark's own parser reads them, those defined by PARTITIONED BY last."""
    texts = [columns.strip()] if columns.strip() else []
    texts += [f"`{column}` {kind}" for column, kind in statement.partitions if kind]
    schema = StructType.fromDDL(", ".join(texts))
    return schema if isinstance(schema, StructType) else StructType([StructField("value", schema)])


def _require_paimon(name: TableName, provider: str | None) -> None:
    """Makes sure that USING names no other format.

    Raises:
        AnalysisException: UNSUPPORTED_FEATURE.TABLE_OPERATION.
    """
    if provider not in {None, "paimon"}:
        raise analysis_error(
            "UNSUPPORTED_FEATURE.TABLE_OPERATION",
            f"The feature is not supported: Table {name} does not support USING {provider}; write"
            " USING paimon.",
            {"tableName": str(name), "operation": f"USING {provider}"},
        )


RUNS: dict[type[Statement], Run[Any]] = {
    CreateTable: create_table,
    CreateTableLike: create_table_like,
}
