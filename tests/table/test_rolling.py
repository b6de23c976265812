from datetime import UTC
from itertools import count

import pyarrow as pa
import pytest

from lakebed.errors import InvalidDataError
from lakebed.format.data_file import read_file
from lakebed.format.schema import TableSchema
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.options.table_options import TableOptions
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.writing.file_layout import FileLayout
from lakebed.table.writing.rolling import RollingWriter

DIRECTORY = "memory:/t/bucket-0"
FIELDS = (DataField(id=0, name="n", type=parse_type("INT")),)


def rolling(store: MemoryFileIO, file_format: str, *, target_rows: int) -> RollingWriter:
    given = {"file.format": file_format, "target-file-row-num": str(target_rows)}
    options = TableOptions.parse(given, has_primary_key=False)
    schema = TableSchema(
        id=0,
        fields=FIELDS,
        highest_field_id=0,
        partition_keys=(),
        primary_keys=(),
        options={},
        time_millis=0,
    )
    layout = FileLayout.of(schema, options, time_zone=UTC)
    numbers = count()
    return RollingWriter(
        file_io=store,
        directory=DIRECTORY,
        next_name=lambda extension: f"data-{next(numbers)}.{extension}",
        layout=layout,
    )


@pytest.mark.parametrize("file_format", ["avro", "orc", "parquet"])
def test_full_files_are_closed_and_the_next_ones_go_on(file_format: str) -> None:
    store = MemoryFileIO()
    rows = pa.table({"n": pa.array(range(25), pa.int32())})
    with rolling(store, file_format, target_rows=10) as writer:
        writer.write(rows.slice(0, 12))
        writer.write(rows.slice(12))
        files = writer.finish()
    assert [file.summary.row_count for file in files] == [10, 10, 5]
    paths = [f"{DIRECTORY}/{file.name}" for file in files]
    assert [file.size_bytes for file in files] == [store.size(path) for path in paths]
    parts = [read_file(store, path, schema=rows.schema) for path in paths]
    assert pa.concat_tables(parts).equals(rows)


@pytest.mark.parametrize("file_format", ["avro", "orc", "parquet"])
def test_an_error_leaves_no_file(file_format: str) -> None:
    store = MemoryFileIO()
    with (
        pytest.raises(InvalidDataError),
        rolling(store, file_format, target_rows=10) as writer,
    ):
        writer.write(pa.table({"n": pa.array([*range(25), 2**40])}))
    assert store.list(DIRECTORY) == []
