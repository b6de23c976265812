"""How are statements that change rows run?"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.spark.alignment import align_by_position
from lakebed.spark.conditions import analysis_error, spark_errors, unknown_column
from lakebed.spark.evolution import onto_table
from lakebed.spark.lake import Lake
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.default_words import with_defaults
from lakebed.spark.sql.literals import constants
from lakebed.spark.sql.partition_specs import partition_spec
from lakebed.spark.sql.queries import Run, run_query
from lakebed.spark.sql.statements import Insert, Statement, Truncate
from lakebed.spark.sql.tokens import tokenize
from lakebed.table.table import Table


def insert(lake: Lake, statement: Insert, given: Arguments) -> DataFrame | None:
    """INSERT INTO and INSERT OVERWRITE; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    partition = _partition(table, statement.partition)
    fixed = {key: F.expr(text) for key, text in partition.items() if text is not None}
    rows = run_query(lake, _query(statement, table, partition), given)
    if statement.is_by_name:
        frame, table = onto_table(lake, rows, table, fixed=fixed)
    else:
        frame = align_by_position(rows, table, columns=statement.columns, fixed=fixed)
    tokens = tokenize(statement.query)
    literals = {key: text for key, text in partition.items() if text is not None}
    values = dict(zip(literals, constants(lake, list(literals.values())), strict=True))
    mode = lake.overwrite_mode() if statement.is_overwrite else "append"
    if mode == "dynamic" and (not table.partition_keys or len(values) == len(table.partition_keys)):
        mode = "overwrite"
    lake.write(
        frame,
        table,
        mode=mode,
        partition=values if mode == "overwrite" and values else None,
        # The rows stand in the text, so there are few of them.
        is_small=bool(tokens) and tokens[0].is_word("VALUES"),
    )
    return lake.empty()


def truncate(lake: Lake, statement: Truncate, given: Arguments) -> DataFrame | None:
    """TRUNCATE TABLE; a partition that is not there is as empty as it is to be.

    None when the table is Spark's.
    """
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    spec = partition_spec(lake, table, statement.partition, given=given)
    with spark_errors(name.catalog):
        table.truncate(spec or None)
    return lake.empty()


def _query(statement: Insert, table: Table, partition: Mapping[str, str | None]) -> str:
    """What makes the rows, without the word DEFAULT."""
    tokens = tokenize(statement.query)
    if not tokens or not tokens[0].is_word("VALUES"):
        return statement.query
    own = {name.lower(): name for name in table.schema.names}
    columns = statement.columns or [n for n in own.values() if partition.get(n) is None]
    return with_defaults(statement.query, table, [own.get(n.lower(), n) for n in columns])


def _partition(table: Table, partition: Mapping[str, str | None]) -> dict[str, str | None]:
    """The PARTITION clause with names as the table spells them."""
    own = {key.lower(): key for key in table.partition_keys}
    for name in partition:
        if name.lower() not in own:
            if name.lower() in {each.lower() for each in table.schema.names}:
                raise analysis_error(
                    "NON_PARTITION_COLUMN",
                    f"PARTITION clause cannot contain the non-partition column: `{name}`.",
                    {"columnName": f"`{name}`"},
                )
            raise unknown_column(name, table.partition_keys)
    return {own[name.lower()]: text for name, text in partition.items()}


RUNS: dict[type[Statement], Run[Any]] = {Insert: insert, Truncate: truncate}
