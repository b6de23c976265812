"""A file of an older schema, read whole and in parts."""

from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from lakebed.errors import InvalidDataError
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.schema import TableSchema
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.planning.split import SplitFile
from lakebed.table.reading.file_view import FileView

PATH = "/t/bucket-0/data-1.parquet"
ROWS = 5000
WRITTEN = TableSchema(
    id=0,
    fields=(
        DataField(id=0, name="n", type=parse_type("INT")),
        DataField(id=1, name="t", type=parse_type("TIMESTAMP(3)")),
        DataField(id=2, name="s", type=parse_type("STRING")),
    ),
    highest_field_id=2,
    partition_keys=(),
    primary_keys=(),
    options={},
    comment=None,
    time_millis=0,
)
TEXT = DataField(id=0, name="text", type=parse_type("STRING"))
INSTANT = DataField(id=1, name="t", type=parse_type("TIMESTAMP(3) WITH LOCAL TIME ZONE"))
NUMBER = DataField(id=2, name="number", type=parse_type("INT"))
ADDED = DataField(id=3, name="n", type=parse_type("DATE"))


def view(*fields: DataField) -> FileView:
    file_io = MemoryFileIO()
    rows = pa.table(
        {
            "n": pa.array(range(ROWS), pa.int32()),
            "t": pa.array([0] * ROWS, pa.timestamp("ms")),
            "s": pa.array(["word"] * ROWS),
        }
    )
    with file_io.open_output(PATH) as sink:
        pyarrow.parquet.write_table(rows, sink)
    return FileView(
        file_io=file_io,
        file=SplitFile(
            path=PATH,
            size_bytes=file_io.size(PATH),
            row_count=ROWS,
            schema_id=0,
            ordinal=0,
            level=0,
            min_sequence_number=0,
            max_sequence_number=0,
            delete_row_count=0,
        ),
        file_schema=WRITTEN,
        fields=fields,
        use_threads=False,
        time_zone=ZoneInfo("Asia/Kathmandu"),
    )


@pytest.mark.parametrize("budget_bytes", [1, 1 << 30], ids=["parts", "whole"])
def test_columns_come_under_the_names_and_types_of_today(budget_bytes: int) -> None:
    keep = np.arange(ROWS) % 1000 == 999
    parts = list(view(TEXT, INSTANT, ADDED).read_values(keep, budget_bytes=budget_bytes))
    assert (len(parts) > 1) == (budget_bytes == 1)
    found = pa.concat_tables(parts)
    assert found.schema.names == ["text", "t", "n"]
    assert found.column("text").to_pylist() == ["999", "1999", "2999", "3999", "4999"]
    # Kathmandu was five and a half hours before UTC then.
    millis = found.column("t").cast(pa.int64())
    assert millis.to_pylist() == [-19_800_000] * 5
    assert found.column("n").type == pa.date32()
    assert found.column("n").null_count == 5


def test_a_file_without_kinds_holds_inserted_rows() -> None:
    for found in (
        view(VALUE_KIND, SEQUENCE_NUMBER).read_whole(),
        pa.concat_tables(view(VALUE_KIND, SEQUENCE_NUMBER).stream(batch_rows=999)),
    ):
        assert found.column(VALUE_KIND.name).to_pylist() == [0] * ROWS
        assert found.column(SEQUENCE_NUMBER.name).null_count == ROWS


def test_a_value_without_a_cast_names_file_column_and_value() -> None:
    with pytest.raises(InvalidDataError, match=rf"{PATH}: column 'number': the text 'word'"):
        view(NUMBER).read_whole()
