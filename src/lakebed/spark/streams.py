"""What do stream readers and writers do with Lakebed tables?"""

from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame

from lakebed.spark.calls import PAIMON, Calls, calls_of
from lakebed.spark.changelog_option import shown_by
from lakebed.spark.conditions import analysis_error, spark_errors, unsupported_operation
from lakebed.spark.evolution import MERGE_OPTIONS
from lakebed.spark.frames import (
    check_options,
    check_partitioning,
    column_names,
    frame_of,
    path_of,
    without_path,
)
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName
from lakebed.spark.new_table import NewTable
from lakebed.spark.places import Place, scan_options
from lakebed.spark.plain_writer import NO_CHECKPOINT
from lakebed.spark.stream_sink import OUTPUT_MODES, StreamSink
from lakebed.spark.stream_tables import FOLLOWED, check_version, stream_options
from lakebed.spark.types import to_table_schema
from lakebed.table.table import Table

_CHECKPOINT = "checkpointLocation"
_CHECKPOINTS = "spark.sql.streaming.checkpointLocation"
# Spark's own options of stream writers; all others are the table's.
_WRITER_OPTIONS = {"path", _CHECKPOINT.lower(), *MERGE_OPTIONS}

Start = Callable[[Any], object]


def is_prepared(calls: Calls) -> bool:
    """Whether a reader was told its table by `read_table` or `read_path` already."""
    return FOLLOWED in calls.options


def read_table(lake: Lake, reader: Any, name: TableName) -> DataFrame:  # noqa: ANN401 - either of PySpark's readers
    """`readStream.table(name)`."""
    return _stream(lake, reader, lake.load(name), options=calls_of(reader).options)


def read_path(lake: Lake, reader: Any, path: str | None) -> DataFrame:  # noqa: ANN401 - as above
    """`readStream.format("paimon").load(path)`."""
    calls = calls_of(reader)
    place = Place(path_of(calls, path), without_path(calls.options), lake.registry)
    with spark_errors():
        table = lake.configured(place.load())
    return _stream(lake, reader, table, options=place.table_options)


def _stream(
    lake: Lake,
    reader: Any,  # noqa: ANN401 - as above
    table: Table,
    *,
    options: Mapping[str, str],
) -> DataFrame:
    with spark_errors():
        shown, left = shown_by(table, scan_options(options))
        check_version(shown, left, lake.spark.version)
        # What cannot be is refused here, not in a process of Spark's later.
        shown.following(options=left, with_kinds=False)
    frame: DataFrame = reader.format(PAIMON).options(**stream_options(shown, left)).load()
    return frame


def write_path(lake: Lake, writer: Any, path: str | None, *, start: Start) -> object:  # noqa: ANN401 - either of PySpark's writers
    """`writeStream.format("paimon").start(path)`: makes the table where there is none."""
    calls = calls_of(writer)
    place = Place(path_of(calls, path), _table_options(calls), lake.registry)
    with spark_errors():
        table = place.find()
        if table is None:
            frame = frame_of(calls)
            table = place.create(
                to_table_schema(frame.schema), partition_by=column_names(frame, calls.partition_by)
            )
        else:
            check_options(place.table_options, table)
            check_partitioning(calls, table)
    return _start(lake, writer, lake.configured(table), start=start)


def write_table(lake: Lake, writer: Any, name: TableName, *, start: Start) -> object:  # noqa: ANN401 - as above
    """`writeStream.toTable(name)`: makes the table where there is none."""
    calls = calls_of(writer)
    if calls.format is not None and not calls.is_paimon:
        raise unsupported_operation(f"the format {calls.format}", str(name))
    if lake.exists(name):
        table = lake.load(name)
        check_options(_table_options(calls), table)
        check_partitioning(calls, table)
    else:
        frame = frame_of(calls)
        definition = NewTable(
            schema=frame.schema,
            partition_by=column_names(frame, calls.partition_by),
            properties=_table_options(calls),
        )
        table = lake.configured(lake.create(name, definition), name)
    return _start(lake, writer, table, start=start)


def _start(lake: Lake, writer: Any, table: Table, *, start: Start) -> object:  # noqa: ANN401 - as above
    calls = calls_of(writer)
    checkpoint = _checkpoint(lake, calls, table)
    sink = StreamSink(
        table=table,
        mode=_output_mode(calls, table),
        checkpoint=checkpoint,
        options={key: text for key, text in calls.options.items() if _is_merging(key)},
    )
    return start(writer.option(_CHECKPOINT, checkpoint).foreachBatch(sink))


def _output_mode(calls: Calls, table: Table) -> str:
    mode = (calls.mode or "append").lower()
    if mode not in OUTPUT_MODES:
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            f"output mode {calls.mode!r} is none; use append, complete or update",
        )
    if mode == "update" and not table.primary_keys:
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            f"{table.name} has no primary key, by which rows of output mode update would replace"
            " others; use append or complete, or a table with a primary key",
        )
    return mode


def _checkpoint(lake: Lake, calls: Calls, table: Table) -> str:
    """The directory of the query: as given, or below the session's one where Spark would put it."""
    given = {key.lower(): text for key, text in calls.options.items()}
    found = given.get(_CHECKPOINT.lower())
    if found is not None:
        return found
    parent = lake.setting(_CHECKPOINTS)
    if parent is None:
        raise analysis_error("LAKEBED_INVALID_ARGUMENT", NO_CHECKPOINT)
    # A query without a name gets a directory of its own at each start, and never goes on from one.
    name = calls.query_name or table.session.effects.fresh_uuid()
    return f"{parent.rstrip('/')}/{name}"


def _table_options(calls: Calls) -> dict[str, str]:
    return {key: text for key, text in calls.options.items() if key.lower() not in _WRITER_OPTIONS}


def _is_merging(key: str) -> bool:
    return key.lower() in MERGE_OPTIONS
