"""What do DataFrame readers and writers do with Lakebed tables?"""

from collections.abc import Mapping, Sequence
from typing import Literal

from pyspark.sql import Column, DataFrame

from lakebed.errors import InvalidArgumentError
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.spark.alignment import align_by_position
from lakebed.spark.calls import Calls
from lakebed.spark.conditions import analysis_error, spark_errors, unsupported_operation
from lakebed.spark.evolution import MERGE_OPTIONS, onto_table
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName
from lakebed.spark.places import Place
from lakebed.spark.types import to_table_schema
from lakebed.table.table import Table

# Spark's own options of writers; all others are the table's.
_WRITER_OPTIONS = {"path", "partitionoverwritemode", *MERGE_OPTIONS}
_OVERWRITE_OPTION = "partitionOverwriteMode"

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
    """`read.format("paimon").load(path)`."""
    place = Place(_path(calls, path), _without_path(calls.options), lake.registry)
    with spark_errors():
        table = place.load()
    return lake.read(table, options=place.table_options)


def save_path(lake: Lake, calls: Calls, path: str | None) -> None:
    """`write.format("paimon").save(path)`: makes the table where there is none."""
    frame = _frame(calls)
    mode = _mode(calls)
    options = _own_options(calls.options)
    place = Place(_path(calls, path), options, lake.registry)
    _refuse_unsupported(calls, place.path)
    with spark_errors():
        table = place.find()
        if table is None:
            table = place.create(
                to_table_schema(frame.schema), partition_by=_names(frame, calls.partition_by)
            )
            mode = "append"
        elif mode not in {"error", "ignore"}:
            _check_options(place.table_options, table)
    if mode == "error":
        raise _already_exists(place.path)
    if mode != "ignore":
        _save(lake, calls, table, mode=mode)


def save_table(lake: Lake, calls: Calls, name: TableName) -> None:
    """`write.saveAsTable(name)`: makes the table where there is none."""
    frame = _frame(calls)
    mode = _mode(calls)
    _refuse_unsupported(calls, str(name))
    if calls.format is not None and not calls.is_paimon:
        raise unsupported_operation(f"the format {calls.format}", str(name))
    if not lake.exists(name):
        table = lake.create(
            name,
            frame.schema,
            partition_by=_names(frame, calls.partition_by),
            properties=_own_options(calls.options),
        )
        mode = "append"
    elif mode == "error":
        raise _already_exists(str(name))
    elif mode == "ignore":
        return
    else:
        table = _existing(lake, calls, name)
    _save(lake, calls, table, mode=mode)


def insert_into(lake: Lake, calls: Calls, name: TableName, *, overwrite: bool | None) -> None:
    """`write.insertInto(name)`, by position."""
    table = _existing(lake, calls, name)
    is_overwrite = calls.mode == "overwrite" if overwrite is None else overwrite
    mode = lake.overwrite_mode(_overwrite_option(calls)) if is_overwrite else "append"
    lake.write(align_by_position(_frame(calls), table), table, mode=_for_table(mode, table))


def append(lake: Lake, calls: Calls, name: TableName) -> None:
    """`writeTo(name).append()`."""
    _write(lake, calls, _existing(lake, calls, name), mode="append")


def overwrite(  # noqa: PLR0917 - the arguments of every action, then its own
    lake: Lake, calls: Calls, name: TableName, condition: Column | str
) -> None:
    """`writeTo(name).overwrite(condition)`; the condition is true for every row."""
    frame = _frame(calls)
    if frame.sparkSession.range(1).select(condition).columns != ["true"]:
        raise unsupported_operation("overwrite by a condition other than true", str(name))
    _write(lake, calls, _existing(lake, calls, name), mode="overwrite")


def overwrite_partitions(lake: Lake, calls: Calls, name: TableName) -> None:
    """`writeTo(name).overwritePartitions()`."""
    _write(lake, calls, _existing(lake, calls, name), mode="dynamic")


def create(lake: Lake, calls: Calls, name: TableName) -> None:
    """`writeTo(name).create()`."""
    frame = _frame(calls)
    if calls.format is not None and not calls.is_paimon:
        raise unsupported_operation(f"USING {calls.format}", str(name))
    if lake.exists(name):
        raise _already_exists(str(name))
    table = lake.create(
        name,
        frame.schema,
        partition_by=_names(frame, calls.partition_by),
        properties={**_own_options(calls.options), **calls.properties},
    )
    _write(lake, calls, table, mode="append")


def _existing(lake: Lake, calls: Calls, name: TableName) -> Table:
    """The table that a writer names, which has its options already."""
    table = lake.load(name)
    _check_options(_own_options(calls.options), table)
    return table


def _check_options(given: Mapping[str, str], table: Table) -> None:
    """Options of one write are those of the table: nothing that is given may go unheeded."""
    held = TABLE_OPTIONS.with_current_keys(table.options)
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


def _save(lake: Lake, calls: Calls, table: Table, *, mode: Mode) -> None:
    chosen = lake.overwrite_mode(_overwrite_option(calls)) if mode == "overwrite" else "append"
    _write(lake, calls, table, mode=chosen)


def _write(lake: Lake, calls: Calls, table: Table, *, mode: WriteMode) -> None:
    """Writes the rows by name, to a schema that is changed first where that is asked for."""
    rows, table = onto_table(lake, _frame(calls), table, options=calls.options)
    lake.write(rows, table, mode=_for_table(mode, table))


def _for_table(mode: WriteMode, table: Table) -> WriteMode:
    """Without partitions there is one partition, and overwriting it is overwriting the table."""
    return "overwrite" if mode == "dynamic" and not table.partition_keys else mode


def _frame(calls: Calls) -> DataFrame:
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


def _names(frame: DataFrame, columns: Sequence[object]) -> list[str]:
    """Names of partition columns, which may come as lists or columns."""
    flat: list[object] = []
    for column in columns:
        flat += column if isinstance(column, list | tuple) else [column]
    return [
        each if isinstance(each, str) else frame.select(each).columns[0]
        for each in flat
        if isinstance(each, str | Column)
    ]


def _path(calls: Calls, path: str | None) -> str:
    found = path if path is not None else calls.options.get("path")
    if found is None:
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT", "the format paimon needs the path of a table"
        )
    return found


def _without_path(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if key != "path"}


def _own_options(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if key.lower() not in _WRITER_OPTIONS}


def _overwrite_option(calls: Calls) -> str | None:
    lower = {key.lower(): value for key, value in calls.options.items()}
    return lower.get(_OVERWRITE_OPTION.lower())


def _refuse_unsupported(calls: Calls, name: str) -> None:
    if calls.unsupported:
        raise unsupported_operation(f"{calls.unsupported[0]} of a DataFrame writer", name)


def _already_exists(name: str) -> Exception:
    return analysis_error(
        "TABLE_OR_VIEW_ALREADY_EXISTS",
        f"Cannot create table or view {name} because it already exists.",
        {"relationName": name},
    )
