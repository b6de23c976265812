"""What stands in front of the methods of stream readers and writers?"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakebed.spark import streams
from lakebed.spark.calls import Calls, calls_of
from lakebed.spark.lake import Lake, find_lake
from lakebed.spark.session_patches import Method, Patch


def _session_read_stream(original: Method) -> Method:
    def read_stream(self: SparkSession) -> object:
        reader: object = original(self)
        calls_of(reader).session = self
        return reader

    return read_stream


def _frame_write_stream(original: Method) -> Method:
    def write_stream(self: DataFrame) -> object:
        writer: object = original(self)
        calls_of(writer).frame = self
        return writer

    return write_stream


def _format(original: Method) -> Method:
    def method(self: object, source: str) -> object:
        calls_of(self).format = source
        result: object = original(self, source)
        return result

    return method


def _option(original: Method) -> Method:
    def option(self: object, key: str, value: Any) -> object:  # noqa: ANN401 - PySpark's signature
        calls_of(self).add_options({key: value})
        result: object = original(self, key, value)
        return result

    return option


def _options(original: Method) -> Method:
    def method(self: object, **options: Any) -> object:  # noqa: ANN401 - PySpark's signature
        calls_of(self).add_options(options)
        result: object = original(self, **options)
        return result

    return method


def _schema(original: Method) -> Method:
    def schema(self: object, schema: Any) -> object:  # noqa: ANN401 - PySpark's signature
        calls_of(self).unsupported.append("schema")
        result: object = original(self, schema)
        return result

    return schema


def _output_mode(original: Method) -> Method:
    def method(self: object, outputMode: str) -> object:  # noqa: N803 - PySpark's name
        calls_of(self).mode = outputMode
        result: object = original(self, outputMode)
        return result

    return method


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
        lake, calls = _writer_lake(self), calls_of(self)
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
        lake, calls = _writer_lake(self), calls_of(self)
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


def _writer_lake(self: object) -> Lake | None:
    frame = calls_of(self).frame
    return find_lake(frame.sparkSession) if frame is not None else None


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


STREAM_SESSION: Mapping[str, Patch] = {"readStream": _session_read_stream}
STREAM_FRAME: Mapping[str, Patch] = {"writeStream": _frame_write_stream}
STREAM_READER: Mapping[str, Patch] = {
    "format": _format,
    "option": _option,
    "options": _options,
    "table": _reader_table,
    "load": _reader_load,
}
STREAM_WRITER: Mapping[str, Patch] = {
    "format": _format,
    "option": _option,
    "options": _options,
    "outputMode": _output_mode,
    "partitionBy": _partition_by,
    "start": _start,
    "toTable": _to_table,
}
