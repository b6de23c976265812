"""Data files of every format, as Lakebed writes them, read by its Python peers."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.format.schema_definition import Schema
from support.typed_columns import CODECS, TypedColumn, columns_of, fields_of, rows_of
from tools.peers.environments import PEERS
from tools.peers.process import PeerProcess, read_ipc

pytestmark = pytest.mark.peers

CELLS = [(file_format, codec) for file_format, codecs in CODECS.items() for codec in codecs]


@pytest.fixture(scope="module", params=PEERS)
def peer(request: pytest.FixtureRequest) -> Iterator[tuple[str, PeerProcess]]:
    with PeerProcess(request.param) as process:
        yield request.param, process


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_peers_read_the_types_that_they_have(
    cell: tuple[str, str], peer: tuple[str, PeerProcess], tmp_path: Path
) -> None:
    file_format, codec = cell
    name, process = peer
    columns = [column for column in columns_of(file_format) if _has(name, file_format, column)]
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=Schema(fields=fields_of(columns)),
        options={"file.format": file_format, "file.compression": codec},
    )
    rows = rows_of(columns)
    table.append(rows)
    out = tmp_path / "out.arrow"
    process.ask("read", table=str(tmp_path / "db.db" / "t"), out=str(out))
    read = read_ipc(out)
    assert read.num_rows == rows.num_rows
    assert [
        each.name for each in columns if _cells(read, each, rows) != _cells(rows, each, rows)
    ] == []


def _has(peer: str, file_format: str, column: TypedColumn) -> bool:
    """What peers lack: MULTISET in the one, years beyond nanoseconds in ORC in both.

    Nor does pypaimon-rust read fractions of a second before 1970 from ORC as the library leaves
    them there.
    """
    if column.name.startswith("multiset"):
        return peer != "pypaimon"
    is_moment = column.name.startswith(("local", "instant"))
    if file_format != "orc" or not (is_moment or column.name == "nano_rows"):
        return True
    return peer == "pypaimon" and column.name[-1] not in "0123456"


def _cells(rows: pa.Table, column: TypedColumn, like: pa.Table) -> list[str]:
    cells = rows.column(column.name).cast(like.schema.field(column.name).type)
    return sorted(repr(_in_order(value)) for value in cells.to_pylist())


def _in_order(value: object) -> object:
    """The value with the pairs of maps, which peers give in any order, in one."""
    if isinstance(value, dict):
        return {name: _in_order(part) for name, part in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(isinstance(each, tuple) for each in value):
        return sorted(((key, _in_order(item)) for key, item in value), key=repr)
    return [_in_order(each) for each in value]
