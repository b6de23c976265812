"""How does a write change its table's schema first (`write.merge-schema`)?

Only writes that match columns by name do. The schema is changed before the rows are written, since
files name the schema they were written with; a write that then fails leaves the schema changed and
no row.
"""

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql.types import StructType

from lakebed.options.values import parse_boolean
from lakebed.spark.alignment import align_by_name, table_name
from lakebed.spark.conditions import analysis_error, spark_errors
from lakebed.spark.lake import Lake
from lakebed.spark.names import quoted
from lakebed.spark.schema_merging import SchemaMerging, TypesDifferError
from lakebed.spark.types import to_table_schema
from lakebed.table.altering import evolve_table
from lakebed.table.table import Table
from lakebed.table.writing.row_kinds import ROW_KIND

MERGE = "write.merge-schema"
_WIDEN = f"{MERGE}.type-widening"
_CAST = f"{MERGE}.explicit-cast"
_SESSION_PREFIX = "spark.paimon."
# The name that writers of other formats know the option by.
_SHORT = "mergeSchema"
MERGE_OPTIONS = frozenset({MERGE, _WIDEN, _CAST, _SHORT.lower()})
"""In lower case; they are options of a writer, never of the table that it makes."""


def onto_table(
    lake: Lake,
    frame: DataFrame,
    table: Table,
    *,
    options: Mapping[str, str] | None = None,
    fixed: Mapping[str, Column] | None = None,
) -> tuple[DataFrame, Table]:
    """A frame's columns as those of the table with the same name, and the table to write to.

    Args:
        lake: The session.
        frame: The rows.
        table: The table; its schema is changed first where that is asked for.
        options: Options of the writer.
        fixed: Columns that every row has with the same value, beside those of the frame.

    Raises:
        AnalysisException: The columns cannot become those of the table.
    """
    how = merging(lake, table, options or {})
    if how is not None:
        table = evolved(table, frame.schema, how)
    rows = align_by_name(
        frame,
        table,
        is_case_sensitive=lake.is_case_sensitive,
        fixed=fixed,
        fills=how is not None,
    )
    return rows, table


def merging(lake: Lake, table: Table, options: Mapping[str, str]) -> SchemaMerging | None:
    """What a write may change; None for nothing.

    Args:
        lake: The session, whose settings `spark.paimon.write.merge-schema...` count.
        table: The table, whose own options count too.
        options: The writer's, which go first.

    Raises:
        AnalysisException: A setting or option that is neither true nor false.
    """
    given = {key.lower(): text for key, text in options.items()}

    def is_set(key: str, *others: str) -> bool:
        texts = [given.get(name.lower()) for name in (key, *others)]
        texts += [lake.setting(_SESSION_PREFIX + key), table.options.get(key)]
        found = next((text for text in texts if text is not None), "false")
        return parse_boolean(found, key)

    with spark_errors():
        if not is_set(MERGE, _SHORT):
            return None
        widens = is_set(_WIDEN)
        return SchemaMerging(
            widens=widens,
            casts=widens and is_set(_CAST),
            is_case_sensitive=lake.is_case_sensitive,
        )


def evolved(table: Table, rows: StructType, how: SchemaMerging) -> Table:
    """The table with a schema that also holds the columns of some rows, changed where it must be.

    Raises:
        AnalysisException: CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE; a type that the table cannot take.
    """
    columns = StructType([field for field in rows.fields if field.name != ROW_KIND])
    with spark_errors():
        try:
            return _changed(table, columns, how)
        except TypesDifferError as error:
            raise analysis_error(
                "CANNOT_MERGE_INCOMPATIBLE_DATA_TYPE",
                f'Failed to merge incompatible data types "{error.own}" and "{error.given}" of the'
                f" column {quoted((error.column,))} of {table_name(table)}. Cast the column before"
                " writing, or allow more with the options write.merge-schema.type-widening and"
                " write.merge-schema.explicit-cast.",
                {"left": f'"{error.own}"', "right": f'"{error.given}"'},
            ) from error


def _changed(table: Table, columns: StructType, how: SchemaMerging) -> Table:
    given = to_table_schema(columns).fields
    changed = evolve_table(table, lambda schema: how.merge(schema, given))
    # Columns alone change; options that the session lays over those of the table stay.
    return replace(changed, schema=replace(changed.schema, options=table.options))
