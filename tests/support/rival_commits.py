"""A table that another writer commits to just before or after this one does."""

import pyarrow as pa

from lakebed.table.table import Table
from support.effects import reopen
from support.scripted_file_io import Put, ScriptedFileIO
from support.table_builder import BuiltTable, Row, Shape, Step, sorted_rows

KEYED = Shape(buckets=1)
UNAWARE = Shape(has_primary_key=False, buckets=-1)
PARTITIONED = Shape(has_primary_key=False, buckets=-1, is_partitioned=True)
START = (Step("write", range(4)),)


def mine(built: BuiltTable, *script: Put) -> tuple[Table, ScriptedFileIO]:
    """The table through a store that plays a script."""
    store = ScriptedFileIO(built.file_io, list(script))
    return reopen(built.table, store, seed=7), store


def rows_of(built: BuiltTable) -> list[Row]:
    """All rows of the newest snapshot."""
    return sorted_rows(built.table.scan().to_arrow())


def one(built: BuiltTable, number: int, version: int = 5) -> pa.Table:
    """A row to write."""
    return built.arrow([built.shape.row(number, version)])
