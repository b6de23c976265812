"""How are statements that change rows run?"""

from collections.abc import Mapping
from typing import Any, Literal

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.spark.alignment import align_by_position
from lakebed.spark.conditions import (
    analysis_error,
    spark_errors,
    unknown_column,
    unsupported_operation,
)
from lakebed.spark.evolution import MERGE, onto_table
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted
from lakebed.spark.replaced_partitions import ReplacedPartitions
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.default_words import with_defaults
from lakebed.spark.sql.literals import constants
from lakebed.spark.sql.partition_specs import partition_spec
from lakebed.spark.sql.queries import Run, run_query
from lakebed.spark.sql.row_changes.expressions import qualifiers_of, with_aliases
from lakebed.spark.sql.row_changes.frames import Splicing
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
    replaced = _replaced(lake, statement, name, table, given=given)
    rows = run_query(lake, _query(statement, table, partition), given)
    if statement.is_by_name:
        options = {MERGE: "true"} if statement.evolves else {}
        frame, table = onto_table(lake, rows, table, options=options, fixed=fixed)
    elif statement.evolves:
        raise unsupported_operation(
            "INSERT WITH SCHEMA EVOLUTION by position; write BY NAME behind the table", str(name)
        )
    else:
        frame = align_by_position(rows, table, columns=statement.columns, fixed=fixed)
    tokens = tokenize(statement.query)
    literals = {key: text for key, text in partition.items() if text is not None}
    values = dict(zip(literals, constants(lake, list(literals.values())), strict=True))
    mode = _mode(lake, statement, table, count=len(values))
    lake.write(
        frame,
        table,
        mode=mode,
        partition=replaced or (values if mode == "overwrite" and values else None),
        # The rows stand in the text, so there are few of them.
        is_small=bool(tokens) and tokens[0].is_word("VALUES"),
    )
    return lake.empty()


def _mode(
    lake: Lake, statement: Insert, table: Table, *, count: int
) -> Literal["append", "overwrite", "dynamic"]:
    """How the rows are written, of which `count` partition columns are told."""
    if statement.replaced is not None:
        return "overwrite"
    mode = lake.overwrite_mode() if statement.is_overwrite else "append"
    is_one = not table.partition_keys or count == len(table.partition_keys)
    return "overwrite" if mode == "dynamic" and is_one else mode


def _replaced(  # noqa: PLR0917 - the arguments of every statement, and what it is about
    lake: Lake, statement: Insert, name: TableName, table: Table, *, given: Arguments
) -> ReplacedPartitions | None:
    """The partitions that REPLACE WHERE means; None for no such clause, or all."""
    text = statement.replaced
    if text is None or text.strip("() ").lower() == "true":
        return None
    splicing = Splicing(lake, given)

    def choose(rows: DataFrame) -> DataFrame:
        alias = statement.name[-1]
        condition = with_aliases(text, dict.fromkeys(qualifiers_of(name, None), alias))
        return splicing.query(
            f"SELECT * FROM {{lakebed_rows}} AS {quoted((alias,))}"
            f" WHERE {splicing.piece(condition)}",
            lakebed_rows=rows,
        )

    return ReplacedPartitions.of(lake, name, table, choose, text=text)


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
