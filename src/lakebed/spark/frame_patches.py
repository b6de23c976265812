"""What stands in front of the methods of DataFrame readers and writers?"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame

from lakebed.spark import frames
from lakebed.spark.calls import Calls, calls_of
from lakebed.spark.hidden_frames import HIDDEN, table_frame
from lakebed.spark.lake import Lake, find_lake
from lakebed.spark.names import TableName
from lakebed.spark.session_patches import Method, Patch
from lakebed.spark.sql.row_changes.frame_merge import merge_frame
from lakebed.spark.sql.row_changes.frame_statements import FrameMerge, FrameMergeWriter


def _frame_write(original: Method) -> Method:
    def write(self: DataFrame) -> object:
        writer: object = original(self)
        calls_of(writer).frame = self
        return writer

    return write


def _frame_write_to(original: Method) -> Method:
    def write_to(self: DataFrame, table: str) -> object:
        writer: object = original(self, table)
        calls = calls_of(writer)
        calls.frame, calls.table = self, table
        return writer

    return write_to


def _frame_merge_into(original: Method) -> Method:
    def merge_into(self: DataFrame, table: str, condition: Column) -> object:
        lake = find_lake(self.sparkSession)
        name = lake.resolve_text(table) if lake is not None else None
        if lake is None or name is None:
            return original(self, table, condition)
        statement = FrameMerge(name=name, source=self, condition=condition)
        return FrameMergeWriter(statement, partial(merge_frame, lake))

    return merge_into


def noting(note: Callable[..., None]) -> Patch:
    """A call that is written down and passed on."""

    def patch(original: Method) -> Method:
        def method(self: object, *args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - any call
            note(calls_of(self), *args, **kwargs)
            result: object = original(self, *args, **kwargs)
            return result

        return method

    return patch


def _note_format(calls: Calls, source: str) -> None:
    calls.format = source


def _note_mode(calls: Calls, saveMode: str | None) -> None:  # noqa: N803 - PySpark's name
    calls.mode = saveMode if saveMode is not None else calls.mode


def _note_option(calls: Calls, key: str, value: Any) -> None:  # noqa: ANN401 - PySpark's signature
    calls.add_options({key: value})


def _note_options(calls: Calls, **options: Any) -> None:  # noqa: ANN401 - PySpark's signature
    calls.add_options(options)


def _note_partition(calls: Calls, *columns: Any, **named: Any) -> None:  # noqa: ANN401 - PySpark's signature
    calls.partition_by = (*columns, *named.values())


def _note_property(calls: Any, property: str, value: str) -> None:  # noqa: A002, ANN401 - as above
    calls.properties[property] = value


def _unsupported(name: str) -> Patch:
    def note(calls: Calls, *_args: Any, **_kwargs: Any) -> None:  # noqa: ANN401 - PySpark's signature
        calls.unsupported.append(name)

    return noting(note)


def _reader_table(original: Method) -> Method:
    def table(self: object, tableName: str) -> DataFrame:  # noqa: N803 - PySpark's name
        calls = calls_of(self)
        lake = find_lake(calls.session) if calls.session is not None else None
        name = lake.resolve_text(tableName) if lake is not None else None
        if lake is None or name is None:
            passed: DataFrame = original(self, tableName)
            return passed
        return table_frame(lake, lake.load(name), calls.options)

    return table


def _reader_load(original: Method) -> Method:
    def load(  # noqa: PLR0917 - PySpark's signature
        self: object,
        path: Any = None,  # noqa: ANN401 - PySpark's signature
        format: str | None = None,  # noqa: A002 - PySpark's name
        schema: Any = None,  # noqa: ANN401 - PySpark's signature
        **options: Any,  # noqa: ANN401 - PySpark's signature
    ) -> DataFrame:
        calls = calls_of(self)
        lake = find_lake(calls.session) if calls.session is not None else None
        calls.format = format or calls.format
        if lake is None or not calls.is_paimon or schema is not None or isinstance(path, list):
            passed: DataFrame = original(self, path, format, schema, **options)
            return passed
        calls.add_options(options)
        return frames.load_path(lake, calls, path)

    return load


def writer_lake(self: object) -> Lake | None:
    """What is attached to the session of the frame that is written; None where nothing is."""
    frame = calls_of(self).frame
    return find_lake(frame.sparkSession) if frame is not None else None


def _writer_save(original: Method) -> Method:
    def save(  # noqa: PLR0917 - PySpark's signature
        self: object,
        path: str | None = None,
        format: str | None = None,  # noqa: A002 - PySpark's name
        mode: str | None = None,
        partitionBy: Any = None,  # noqa: ANN401, N803 - PySpark's signature
        **options: Any,  # noqa: ANN401 - PySpark's signature
    ) -> None:
        lake = writer_lake(self)
        calls = calls_of(self)
        calls.format = format or calls.format
        if lake is None or not calls.is_paimon:
            original(self, path, format, mode, partitionBy, **options)
            return
        _note_save(calls, mode, partitionBy, options=options)
        frames.save_path(lake, calls, path)

    return save


def _writer_save_as_table(original: Method) -> Method:
    def save_as_table(  # noqa: PLR0917 - PySpark's signature
        self: object,
        name: str,
        format: str | None = None,  # noqa: A002 - PySpark's name
        mode: str | None = None,
        partitionBy: Any = None,  # noqa: ANN401, N803 - PySpark's signature
        **options: Any,  # noqa: ANN401 - PySpark's signature
    ) -> None:
        lake = writer_lake(self)
        found = lake.resolve_text(name) if lake is not None else None
        if lake is None or found is None:
            original(self, name, format, mode, partitionBy, **options)
            return
        calls = calls_of(self)
        calls.format = format or calls.format
        _note_save(calls, mode, partitionBy, options=options)
        frames.save_table(lake, calls, found)

    return save_as_table


def _note_save(
    calls: Calls,
    mode: str | None,
    partition_by: Any,  # noqa: ANN401 - PySpark's signature
    *,
    options: Mapping[str, Any],
) -> None:
    _note_mode(calls, mode)
    calls.add_options(options)
    if partition_by is not None:
        calls.partition_by = (partition_by,)


def _writer_insert_into(original: Method) -> Method:
    def insert_into(self: object, tableName: str, overwrite: bool | None = None) -> None:  # noqa: FBT001, N803 - PySpark's signature
        lake = writer_lake(self)
        found = lake.resolve_text(tableName) if lake is not None else None
        if lake is None or found is None:
            original(self, tableName, overwrite)
        else:
            frames.insert_into(lake, calls_of(self), found, overwrite=overwrite)

    return insert_into


def _writing_to(action: Callable[..., None]) -> Patch:
    """An action of `writeTo`."""

    def patch(original: Method) -> Method:
        def method(self: object, *args: Column | str) -> None:
            lake, calls = writer_lake(self), calls_of(self)
            found: TableName | None = None
            if lake is not None and calls.table is not None:
                found = lake.resolve_text(calls.table)
            if lake is None or found is None:
                original(self, *args)
            else:
                action(lake, calls, found, *args)

        return method

    return patch


OPTIONS: Mapping[str, Patch] = {
    "format": noting(_note_format),
    "option": noting(_note_option),
    "options": noting(_note_options),
}
READER: Mapping[str, Patch] = {**OPTIONS, "table": _reader_table, "load": _reader_load}
FRAME: Mapping[str, Patch] = {
    "write": _frame_write,
    "writeTo": _frame_write_to,
    "mergeInto": _frame_merge_into,
    **HIDDEN,
}
WRITER: Mapping[str, Patch] = {
    **OPTIONS,
    "mode": noting(_note_mode),
    "partitionBy": noting(_note_partition),
    "bucketBy": _unsupported("bucketBy"),
    "sortBy": _unsupported("sortBy"),
    "clusterBy": _unsupported("clusterBy"),
    "save": _writer_save,
    "saveAsTable": _writer_save_as_table,
    "insertInto": _writer_insert_into,
}
WRITER_V2: Mapping[str, Patch] = {
    "using": noting(_note_format),
    "option": noting(_note_option),
    "options": noting(_note_options),
    "tableProperty": noting(_note_property),
    "partitionedBy": noting(_note_partition),
    "clusterBy": _unsupported("clusterBy"),
    "create": _writing_to(frames.create),
    "append": _writing_to(frames.append),
    "overwrite": _writing_to(frames.overwrite),
    "overwritePartitions": _writing_to(frames.overwrite_partitions),
    "replace": _writing_to(frames.replace),
    "createOrReplace": _writing_to(frames.create_or_replace),
}
