"""How is CREATE TABLE ... LIKE run?"""

from typing import Any

from pyspark.sql import DataFrame

from lakebed.format.schema_definition import Schema
from lakebed.spark.conditions import spark_errors, unsupported_operation
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.sql.creating.statements import CreateTableLike
from lakebed.spark.sql.definitions import require_paimon
from lakebed.spark.sql.queries import Arguments, Run
from lakebed.spark.sql.statements import Statement

_PRIMARY_KEY = "primary-key"
_COMMENT = "comment"


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
    require_paimon(name, statement.provider)
    if source_name is None:
        shown = f"CREATE TABLE LIKE {quoted(statement.source)}, a table of Spark's,"
        raise unsupported_operation(shown, str(name))
    source = lake.load(source_name)
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


RUNS: dict[type[Statement], Run[Any]] = {CreateTableLike: create_table_like}
