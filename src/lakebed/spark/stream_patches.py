"""What stands in front of the methods of stream readers and writers?"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from lakebed.spark import streams
from lakebed.spark.calls import Calls, calls_of
from lakebed.spark.frame_patches import FRAME, OPTIONS, noting, writer_lake
from lakebed.spark.lake import Lake, find_lake
from lakebed.spark.session_patches import SESSION, Method, Patch


def _note_output_mode(calls: Calls, outputMode: str) -> None:  # noqa: N803 - PySpark's name
    calls.mode = outputMode


def _note_query_name(calls: Calls, queryName: str) -> None:  # noqa: N803 - PySpark's name
    calls.query_name = queryName


def _partition_by(original: Method) -> Method:
    """Passed on when the query starts: Spark refuses it with the function that writes a batch."""

    def method(self: object, *cols: Any) -> object:  # noqa: ANN401 - PySpark's signature
        calls = calls_of(self)
        calls.partition_by = cols
        if calls.frame is None or find_lake(calls.frame.sparkSession) is None:
            result: object = original(self, *cols)
            return result
        return self

    return method


def _reader_lake(self: object) -> Lake | None:
    session = calls_of(self).session
    return find_lake(session) if session is not None else None


def _reader_table(original: Method) -> Method:
    def table(self: Any, tableName: str) -> DataFrame:  # noqa: N803, ANN401 - PySpark's reader
        lake = _reader_lake(self)
        name = lake.resolve_text(tableName) if lake is not None else None
        if lake is None or name is None:
            passed: DataFrame = original(self, tableName)
            return passed
        return streams.read_table(lake, self, name)

    return table


def _reader_load(original: Method) -> Method:
    def load(  # noqa: PLR0917 - PySpark's signature
        self: Any,  # noqa: ANN401 - either of PySpark's readers
        path: str | None = None,
        format: str | None = None,  # noqa: A002 - PySpark's name
        schema: Any = None,  # noqa: ANN401 - PySpark's signature
        **options: Any,  # noqa: ANN401 - PySpark's signature
    ) -> DataFrame:
        lake, calls = _reader_lake(self), calls_of(self)
        calls.format = format or calls.format
        is_plain = lake is None or not calls.is_paimon or schema is not None
        if lake is None or is_plain or streams.is_prepared(calls):
            passed: DataFrame = original(self, path, format, schema, **options)
            return passed
        calls.add_options(options)
        return streams.read_path(lake, self, path)

    return load


def _start(original: Method) -> Method:
    def start(  # noqa: PLR0917 - PySpark's signature
        self: Any,  # noqa: ANN401 - either of PySpark's writers
        path: str | None = None,
        format: str | None = None,  # noqa: A002 - PySpark's name
        outputMode: str | None = None,  # noqa: N803
        partitionBy: Any = None,  # noqa: ANN401, N803
        queryName: str | None = None,  # noqa: N803
        **options: Any,  # noqa: ANN401
    ) -> object:
        lake, calls = writer_lake(self), calls_of(self)
        calls.format = format or calls.format
        if lake is None or not calls.is_paimon:
            _pass_partitioning(self, calls)
            result: object = original(
                self, path, format, outputMode, partitionBy, queryName, **options
            )
            return result
        _note_start(self, outputMode, partitionBy, queryName, options)
        return streams.write_path(lake, self, path, start=original)

    return start


def _to_table(original: Method) -> Method:
    def to_table(  # noqa: PLR0917 - PySpark's signature
        self: Any,  # noqa: ANN401 - either of PySpark's writers
        tableName: str,  # noqa: N803
        format: str | None = None,  # noqa: A002 - PySpark's name
        outputMode: str | None = None,  # noqa: N803
        partitionBy: Any = None,  # noqa: ANN401, N803
        queryName: str | None = None,  # noqa: N803
        **options: Any,  # noqa: ANN401
    ) -> object:
        lake, calls = writer_lake(self), calls_of(self)
        name = lake.resolve_text(tableName) if lake is not None else None
        if lake is None or name is None:
            _pass_partitioning(self, calls)
            result: object = original(
                self, tableName, format, outputMode, partitionBy, queryName, **options
            )
            return result
        calls.format = format or calls.format
        _note_start(self, outputMode, partitionBy, queryName, options)
        start = type(self).start
        return streams.write_table(lake, self, name, start=getattr(start, "__wrapped__", start))

    return to_table


def _pass_partitioning(self: Any, calls: Calls) -> None:  # noqa: ANN401 - as above
    if calls.partition_by and calls.frame is not None:
        type(self).partitionBy.__wrapped__(self, *calls.partition_by)


def _note_start(  # noqa: PLR0917 - the arguments of start
    self: Any,  # noqa: ANN401 - as above
    mode: str | None,
    partition_by: Any,  # noqa: ANN401
    name: str | None,
    options: Mapping[str, Any],
) -> None:
    """What `start` says beside where: as if it had been said before."""
    calls = calls_of(self)
    if mode is not None:
        self.outputMode(mode)
    if name is not None:
        self.queryName(name)
    if options:
        self.options(**options)
    if partition_by is not None:
        calls.partition_by = (partition_by,)


STREAM_SESSION: Mapping[str, Patch] = {"readStream": SESSION["read"]}
STREAM_FRAME: Mapping[str, Patch] = {"writeStream": FRAME["write"]}
STREAM_READER: Mapping[str, Patch] = {**OPTIONS, "table": _reader_table, "load": _reader_load}
STREAM_WRITER: Mapping[str, Patch] = {
    **OPTIONS,
    "outputMode": noting(_note_output_mode),
    "queryName": noting(_note_query_name),
    "partitionBy": _partition_by,
    "start": _start,
    "toTable": _to_table,
}
