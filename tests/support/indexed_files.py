"""Tables whose data files have indexes of chosen rows: their own, or a lie for them."""

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.data_file import read_file
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.snapshot import Operation
from lakebed.table.committing import commit
from lakebed.table.parts import TableParts
from lakebed.table.routers import rows_writer
from lakebed.table.row_changes import append_changes
from lakebed.table.table import Table
from lakebed.table.writing.file_summary import FileSummary, SummaryPlan

Rows = Callable[[pa.Table], pa.Table]


def as_they_are(rows: pa.Table) -> pa.Table:
    return rows


def append_indexed(table: Table, data: pa.Table, *, indexed: Rows = as_they_are) -> None:
    """Appends rows in one commit.

    Args:
        table: Its options say which indexes there are.
        data: The rows.
        indexed: From the rows of a file to those that its indexes are of, as many.
    """
    parts = table.parts()
    base = parts.write_base()
    with rows_writer(parts, base) as rows:
        rows.add(data)
        written = rows.finish()
    messages = []
    for message in written:
        directory = parts.split_files.bucket_directory(message.partition, message.bucket)
        files = [
            _indexed(parts, file, directory=directory, indexed=indexed)
            for file in message.new_files
        ]
        messages.append(replace(message, new_files=tuple(files)))
    changes = append_changes(parts, messages, base=base, operation=Operation.WRITE)
    commit(parts, changes, messages)


def _indexed(
    parts: TableParts, file: DataFileMeta, *, directory: str, indexed: Rows
) -> DataFileMeta:
    fields = parts.schema.fields
    if parts.schema.primary_keys:
        fields = (SEQUENCE_NUMBER, VALUE_KIND, *fields)
    path = f"{directory}/{file.file_name}"
    rows = read_file(parts.file_io, path, schema=to_arrow_schema(fields))
    summary = FileSummary(SummaryPlan.of(parts.schema, parts.options))
    summary.add(indexed(rows))
    placed = summary.place_index(path, file_io=parts.file_io)
    return replace(file, embedded_file_index=placed.embedded, extra_files=placed.extra_files)
