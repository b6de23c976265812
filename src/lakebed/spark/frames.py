"""What do DataFrame readers and writers do with Lakebed tables?"""

from collections.abc import Mapping, Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame

from lakebed.errors import InvalidArgumentError
from lakebed.format.snapshot import Operation
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.spark.alignment import align_by_position
from lakebed.spark.calls import Calls
from lakebed.spark.conditions import (
    analysis_error,
    spark_errors,
    table_not_found,
    unsupported_operation,
)
from lakebed.spark.evolution import MERGE_OPTIONS, onto_table
from lakebed.spark.hidden_frames import table_frame
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted
from lakebed.spark.new_table import NewTable
from lakebed.spark.places import DATABASE_SUFFIX, Place
from lakebed.spark.replaced_partitions import ReplacedPartitions
from lakebed.spark.types import to_table_schema
from lakebed.table.table import Table

# Spark's own options of writers; all others are the table's.
_WRITER_OPTIONS = {"path", "partitionoverwritemode", *MERGE_OPTIONS}
_OVERWRITE_OPTION = "partitionOverwriteMode"

# Options of readers that name a table, as the parts of its name.
_NAMING = ("catalog", "database", "table")
_NAMING_ALL = {*_NAMING, "path"}

Mode = Literal["append", "overwrite", "ignore", "error"]
WriteMode = Literal["append", "overwrite", "dynamic"]
_MODES: Mapping[str, Mode] = {
    "append": "append",
    "overwrite": "overwrite",
    "ignore": "ignore",
    "error": "error",
    "errorifexists": "error",
    "default": "error",
}


def load_path(lake: Lake, calls: Calls, path: str | None) -> DataFrame:
    """`read.format("paimon").load(path)`, or with the options `catalog`, `database`, `table`."""
    given = {key.lower(): text for key, text in calls.options.items()}
    if not given.keys().isdisjoint(_NAMING):
        name = _named(lake, given, path if path is not None else given.get("path"))
        options = {
            key: text for key, text in calls.options.items() if key.lower() not in _NAMING_ALL
        }
        return table_frame(lake, lake.load(name), options)
    place = Place(path_of(calls, path), without_path(calls.options), lake.registry)
    with spark_errors():
        table = lake.configured(place.load())
    return table_frame(lake, table, place.table_options)


def _named(lake: Lake, given: Mapping[str, str], path: str | None) -> TableName:
    """The table that options name; database and table are told from a path where they are not."""
    *_, database, table = ["", *(path or "").rstrip("/").split("/")]
    told = ("", database.removesuffix(DATABASE_SUFFIX), table)
    parts = tuple(given.get(key, part) for key, part in zip(_NAMING, told, strict=True))
    if not all(parts):
        lacking = next(key for key, part in zip(_NAMING, parts, strict=True) if not part)
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            f"the options catalog, database and table name a table together; give {lacking}, too,"
            " or a path alone",
        )
    name = lake.resolve(parts)
    if name is None:
        raise table_not_found(quoted(parts), hint=f"No catalog {parts[0]} is attached")
    return name


def save_path(lake: Lake, calls: Calls, path: str | None) -> None:
    """`write.format("paimon").save(path)`: makes the table where there is none."""
    frame = frame_of(calls)
    mode = _mode(calls)
    options = _own_options(calls.options)
    place = Place(path_of(calls, path), options, lake.registry)
    _refuse_buckets(calls, operation="save")
    _refuse_unsupported(calls, place.path)
    with spark_errors():
        table = place.find()
        if table is None:
            table = place.create(
                to_table_schema(frame.schema), partition_by=column_names(frame, calls.partition_by)
            )
            mode = "append"
        elif mode not in {"error", "ignore"}:
            check_options(place.table_options, table)
            check_partitioning(calls, table)
    if mode == "error":
        raise _already_exists(place.path)
    if mode != "ignore":
        _save(lake, calls, lake.configured(table), mode=mode)


def save_table(lake: Lake, calls: Calls, name: TableName) -> None:
    """`write.saveAsTable(name)`: makes the table where there is none."""
    mode = _mode(calls)
    _refuse_unsupported(calls, str(name))
    _refuse_other_format(calls, str(name))
    if not lake.exists(name):
        table = lake.create(name, _new_table(calls))
        table, mode = lake.configured(table, name), "append"
    elif mode == "error":
        raise _already_exists(str(name))
    elif mode == "ignore":
        return
    else:
        table = _existing(lake, calls, name)
    _save(lake, calls, table, mode=mode)


def insert_into(lake: Lake, calls: Calls, name: TableName, *, overwrite: bool | None) -> None:
    """`write.insertInto(name)`, by position."""
    _refuse_buckets(calls, operation="insertInto")
    _refuse_unsupported(calls, str(name))
    if calls.partition_by:
        raise analysis_error(
            "PARTITION_BY_NOT_ALLOWED_WITH_INSERT_INTO",
            "partitionBy() cannot be used with insertInto(). Partition columns for table"
            f" {name} are determined by the table definition.",
            {"tableName": str(name)},
        )
    table = _existing(lake, calls, name)
    is_overwrite = calls.mode == "overwrite" if overwrite is None else overwrite
    mode = lake.overwrite_mode(_overwrite_option(calls)) if is_overwrite else "append"
    lake.write(align_by_position(frame_of(calls), table), table, mode=_for_table(mode, table))


def append(lake: Lake, calls: Calls, name: TableName) -> None:
    """`writeTo(name).append()`."""
    _write_to(lake, calls, name, mode="append")


def overwrite(  # noqa: PLR0917 - the arguments of every action, then its own
    lake: Lake, calls: Calls, name: TableName, condition: Column | str
) -> None:
    """`writeTo(name).overwrite(condition)`: of partition columns, or true for every row."""
    _refuse_unsupported(calls, str(name))
    _refuse_other_format(calls, str(name))
    table = _existing(lake, calls, name)
    replaced = None
    if lake.read(table).alias(name.table).select(condition).columns != ["true"]:
        replaced = ReplacedPartitions.of(
            lake, name, table, lambda rows: rows.where(condition), text=str(condition)
        )
    _write(lake, calls, table, mode="overwrite", replaced=replaced)


def overwrite_partitions(lake: Lake, calls: Calls, name: TableName) -> None:
    """`writeTo(name).overwritePartitions()`."""
    _write_to(lake, calls, name, mode="dynamic")


def create(lake: Lake, calls: Calls, name: TableName) -> None:
    """`writeTo(name).create()`."""
    _refuse_unsupported(calls, str(name))
    _refuse_other_format(calls, str(name))
    if lake.exists(name):
        raise _already_exists(str(name))
    table = lake.create(name, _new_table(calls))
    _write(lake, calls, table, mode="append")


def replace(lake: Lake, calls: Calls, name: TableName) -> None:
    """`writeTo(name).replace()`."""
    _refuse_unsupported(calls, str(name))
    _refuse_other_format(calls, str(name))
    operation = Operation.REPLACE_TABLE_AS_SELECT
    lake.replace_table(name, _new_table(calls), frame=frame_of(calls), operation=operation)


def create_or_replace(lake: Lake, calls: Calls, name: TableName) -> None:
    """`writeTo(name).createOrReplace()`."""
    (replace if lake.exists(name) else create)(lake, calls, name)


def _new_table(calls: Calls) -> NewTable:
    """A table for the rows of a frame, defined as the writer says."""
    frame = frame_of(calls)
    return NewTable(
        schema=frame.schema,
        partition_by=column_names(frame, calls.partition_by),
        properties={**_own_options(calls.options), **calls.properties},
    )


def _existing(lake: Lake, calls: Calls, name: TableName) -> Table:
    """The table that a writer names, which has its options and partitioning already."""
    table = lake.load(name)
    check_options({**_own_options(calls.options), **calls.properties}, table)
    check_partitioning(calls, table)
    return table


def check_options(given: Mapping[str, str], table: Table) -> None:
    """Options of one write are those of the table: nothing that is given may go unheeded."""
    keys = {"primary-key": ",".join(table.primary_keys)} if table.primary_keys else {}
    held = {**TABLE_OPTIONS.with_current_keys(table.options), **keys}
    for key, text in TABLE_OPTIONS.with_current_keys(given).items():
        option = TABLE_OPTIONS.find(key)
        default = None if option is None else option.default
        if held.get(key, default) != text:
            raise analysis_error(
                "LAKEBED_INVALID_ARGUMENT",
                f"option {key!r} = {text!r} of a writer would not be heeded: table {table.name} is"
                f" there already, and has {held.get(key, default)!r}. Leave it out, or give it to"
                " the table",
            )


def check_partitioning(calls: Calls, table: Table) -> None:
    """Rows go to the partitions that the table has."""
    given, held = column_names(frame_of(calls), calls.partition_by), table.partition_keys
    if given and [name.lower() for name in given] != [name.lower() for name in held]:
        raise analysis_error(
            "_LEGACY_ERROR_TEMP_1163",
            f"Specified partitioning does not match that of the existing table {table.name}."
            f" Specified partition columns: [{', '.join(given)}]."
            f" Existing partition columns: [{', '.join(held)}]. Leave the partitioning out: rows"
            " go to the partitions that the table has.",
            {
                "tableName": table.name,
                "specifiedPartCols": ", ".join(given),
                "existingPartCols": ", ".join(held),
            },
        )


def _save(lake: Lake, calls: Calls, table: Table, *, mode: Mode) -> None:
    chosen = lake.overwrite_mode(_overwrite_option(calls)) if mode == "overwrite" else "append"
    _write(lake, calls, table, mode=chosen)


def _write_to(lake: Lake, calls: Calls, name: TableName, *, mode: WriteMode) -> None:
    _refuse_unsupported(calls, str(name))
    _refuse_other_format(calls, str(name))
    _write(lake, calls, _existing(lake, calls, name), mode=mode)


def _write(
    lake: Lake,
    calls: Calls,
    table: Table,
    *,
    mode: WriteMode,
    replaced: ReplacedPartitions | None = None,
) -> None:
    """Writes the rows by name, to a schema that is changed first where that is asked for."""
    rows, table = onto_table(lake, frame_of(calls), table, options=calls.options)
    lake.write(rows, table, mode=_for_table(mode, table), partition=replaced)


def _for_table(mode: WriteMode, table: Table) -> WriteMode:
    """Without partitions there is one partition, and overwriting it is overwriting the table."""
    return "overwrite" if mode == "dynamic" and not table.partition_keys else mode


def frame_of(calls: Calls) -> DataFrame:
    """The rows that a writer was made for."""
    if calls.frame is None:
        raise InvalidArgumentError("a writer was made without a frame; use DataFrame.write")
    return calls.frame


def _mode(calls: Calls) -> Mode:
    mode = _MODES.get((calls.mode or "error").lower())
    if mode is None:
        raise analysis_error(
            "INVALID_SAVE_MODE",
            f"The specified save mode '{calls.mode}' is invalid; use append, overwrite, ignore or"
            " error.",
            {"mode": str(calls.mode)},
        )
    return mode


def column_names(frame: DataFrame, columns: Sequence[object]) -> list[str]:
    """Names of columns, which may come as lists or columns."""
    flat: list[object] = []
    for column in columns:
        flat += column if isinstance(column, list | tuple) else [column]
    return [
        each if isinstance(each, str) else frame.select(each).columns[0]
        for each in flat
        if isinstance(each, str | Column)
    ]


def path_of(calls: Calls, path: str | None) -> str:
    """The path of a table, given with the action or as an option before it."""
    found = path if path is not None else calls.options.get("path")
    if found is None:
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT", "the format paimon needs the path of a table"
        )
    return found


def without_path(options: Mapping[str, str]) -> dict[str, str]:
    """What is said of a table beside where it is."""
    return {key: value for key, value in options.items() if key != "path"}


def _own_options(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if key.lower() not in _WRITER_OPTIONS}


def _overwrite_option(calls: Calls) -> str | None:
    lower = {key.lower(): value for key, value in calls.options.items()}
    return lower.get(_OVERWRITE_OPTION.lower())


def _refuse_buckets(calls: Calls, *, operation: str) -> None:
    if "bucketBy" in calls.unsupported:
        raise analysis_error(
            "_LEGACY_ERROR_TEMP_1312",
            f"'{operation}' does not support bucketBy right now. Make the table with the options"
            " bucket and bucket-key",
            {"operation": operation},
        )


def _refuse_other_format(calls: Calls, name: str) -> None:
    if calls.format is not None and not calls.is_paimon:
        raise unsupported_operation(f"the format {calls.format}", name)


def _refuse_unsupported(calls: Calls, name: str) -> None:
    if calls.unsupported:
        raise unsupported_operation(f"{calls.unsupported[0]} of a DataFrame writer", name)


def _already_exists(name: str) -> Exception:
    return analysis_error(
        "TABLE_OR_VIEW_ALREADY_EXISTS",
        f"Cannot create table or view {name} because it already exists.",
        {"relationName": name},
    )
