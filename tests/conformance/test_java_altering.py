"""Schemas changed by Lakebed and by the real Paimon 1.4.2: both make the same of the same changes.

Each then reads the table that Lakebed changed, and writes on.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from conformance.encoding import count_arrow, count_java, spark_type
from lakebed import changes
from lakebed.changes import SchemaChange
from lakebed.errors import LakebedError
from lakebed.format.type_json import type_to_json
from lakebed.format.type_text import parse_type
from tools.peers.process import PeerError
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

Json = Any
COLUMNS = [
    ("id", "BIGINT NOT NULL"),
    ("v", "INT"),
    ("r", "ROW<a INT, b STRING>"),
    ("xs", "ARRAY<ROW<x INT>>"),
    ("m", "MAP<STRING, ARRAY<INT>>"),
    ("n", "INT NOT NULL"),
    ("dt", "STRING NOT NULL"),
]
ROWS = [
    {
        "id": number,
        "v": number,
        "r": {"a": number, "b": "b"},
        "xs": [{"x": number}, None],
        "m": [("k", [number])],
        "n": 1,
        "dt": "d",
    }
    for number in (1, 2)
]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def told(change: SchemaChange) -> Json:
    """A change as the JSON of Paimon's REST catalog."""
    match change:
        case changes.SetOption(key, value):
            return {"action": "setOption", "key": key, "value": str(value).lower()}
        case changes.RemoveOption(key):
            return {"action": "removeOption", "key": key}
        case changes.SetComment(comment):
            return {"action": "updateComment", "comment": comment}
        case changes.ChangeColumnPosition(name, position):
            return {"action": "updateColumnPosition", "move": move(names(name)[-1], position)}
        case _:
            return told_of_column(change)


def told_of_column(change: SchemaChange) -> Json:
    match change:
        case changes.AddColumn(name, kind):
            return {
                "action": "addColumn",
                "fieldNames": names(name),
                "dataType": type_of(kind),
                "comment": change.comment,
                "move": change.position and move(names(name)[-1], change.position),
            }
        case changes.RenameColumn(name, new_name):
            return {"action": "renameColumn", "fieldNames": names(name), "newName": new_name}
        case changes.DropColumn(name):
            return {"action": "dropColumn", "fieldNames": names(name)}
        case changes.ChangeColumnType(name, kind):
            found = {"action": "updateColumnType", "newDataType": type_of(kind)}
            return {**found, "fieldNames": names(name), "keepNullability": True}
        case changes.ChangeColumnNullability(name):
            found = {"action": "updateColumnNullability", "newNullability": change.nullable}
            return {**found, "fieldNames": names(name)}
        case changes.ChangeColumnComment(name, comment):
            found = {"action": "updateColumnComment", "newComment": comment}
            return {**found, "fieldNames": names(name)}
        case _:
            raise TypeError(change)


def names(name: changes.ColumnName) -> list[str]:
    return [name] if isinstance(name, str) else list(name)


def type_of(kind: object) -> Json:
    assert isinstance(kind, str)
    return type_to_json(parse_type(kind))


def move(name: str, position: changes.Position) -> Json:
    other = getattr(position, "column", None)
    return {
        "fieldName": name,
        "referenceFieldName": other,
        "type": type(position).__name__.upper(),
    }


def make(directory: Path, **definition: Any) -> Path:  # noqa: ANN401 - as create_table takes it
    catalog = lakebed.load_catalog(warehouse=str(directory))
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=lakebed.schema(COLUMNS), **definition)
    table.append(pa.Table.from_pylist(ROWS, table.scan().schema))
    return directory / "db.db" / "t"


def newest_schema(table: Path) -> Mapping[str, Json]:
    path = max((table / "schema").glob("schema-*"), key=lambda each: int(each.name[7:]))
    found: dict[str, Json] = json.loads(path.read_text())
    del found["timeMillis"], found["version"]
    return found


def check_alike(referee: Referee, path: Path) -> None:
    answer = referee.read(path)
    types = {name: spark_type(kind) for name, kind in answer.columns}
    ours = lakebed.load_table(str(path)).scan().to_arrow()
    assert count_java(answer.rows, types) == count_arrow(ours, types)


KEYED = {
    "primary_key": ["id", "dt"],
    "partition_by": ["dt"],
    "options": {"bucket": 1, "sequence.field": "v"},
}
BUCKETED = {"options": {"bucket": 2, "bucket-key": "n"}}
ALLOWED: list[Sequence[SchemaChange]] = [
    [changes.AddColumn("c", "DATE", comment="a day")],
    [changes.AddColumn("c", "ROW<p INT, q ARRAY<ROW<s INT>>>"), changes.AddColumn("d", "INT")],
    [changes.AddColumn("c", "INT", position=changes.First())],
    [changes.AddColumn("c", "INT", position=changes.After("id"))],
    [changes.AddColumn(("r", "c"), "INT", position=changes.Before("b"))],
    [changes.AddColumn(("xs", "element", "y"), "STRING")],
    [changes.RenameColumn("v", "w")],
    [changes.RenameColumn("id", "key")],
    [changes.RenameColumn(("r", "a"), "z")],
    [changes.RenameColumn(("xs", "element", "x"), "z")],
    [changes.DropColumn("m"), changes.DropColumn(("r", "b"))],
    [changes.DropColumn("m"), changes.AddColumn("m", "INT")],
    [changes.ChangeColumnType("v", "BIGINT")],
    [changes.ChangeColumnType("v", "STRING")],
    [changes.ChangeColumnType("v", "SMALLINT")],
    [changes.ChangeColumnType("r", "STRING")],
    [changes.ChangeColumnType(("r", "a"), "DOUBLE")],
    [changes.ChangeColumnType(("xs", "element", "x"), "BIGINT")],
    [changes.ChangeColumnType(("m", "value", "element"), "BIGINT")],
    [changes.ChangeColumnNullability("n", nullable=True)],
    [changes.ChangeColumnComment("v", "c"), changes.ChangeColumnComment(("r", "a"), "d")],
    [changes.ChangeColumnPosition("v", changes.Last())],
    [changes.ChangeColumnPosition("m", changes.First())],
    [changes.ChangeColumnPosition("v", changes.After("m"))],
    [changes.ChangeColumnPosition("m", changes.Before("v"))],
    [changes.SetOption("snapshot.num-retained.min", 3), changes.SetComment("c")],
    [changes.SetOption("bucket", 4), changes.SetOption("ignore-delete", value=True)],
]
REFUSED: list[SchemaChange] = [
    changes.AddColumn("v", "INT"),
    changes.AddColumn("c", "INT NOT NULL"),
    changes.AddColumn("c", "INT", position=changes.After("no")),
    changes.AddColumn(("no", "c"), "INT"),
    changes.RenameColumn("dt", "day"),
    changes.RenameColumn("v", "r"),
    changes.RenameColumn("no", "c"),
    changes.DropColumn("dt"),
    changes.DropColumn("id"),
    changes.DropColumn("no"),
    changes.DropColumn("v"),
    changes.DropColumn(("xs", "element", "x")),
    changes.ChangeColumnType("dt", "INT"),
    changes.ChangeColumnType("id", "STRING"),
    changes.ChangeColumnType("v", "DATE"),
    changes.ChangeColumnNullability("v", nullable=False),
    changes.ChangeColumnNullability("id", nullable=True),
    changes.ChangeColumnComment("no", "c"),
    changes.ChangeColumnPosition("v", changes.After("v")),
    changes.ChangeColumnPosition("v", changes.After("no")),
    changes.SetOption("bucket", -1),
    changes.SetOption("merge-engine", "aggregation"),
    changes.SetOption("force-lookup", value=True),
    changes.SetOption("deletion-vectors.enabled", value=True),
    changes.RemoveOption("bucket"),
]


@pytest.mark.parametrize("wanted", ALLOWED, ids=repr)
@pytest.mark.parametrize("kind", ["keyed", "bucketed"])
def test_both_make_the_same_schema_and_read_and_write_on(
    referee: Referee, tmp_path: Path, *, kind: str, wanted: Sequence[SchemaChange]
) -> None:
    ours = make(tmp_path / "ours", **(KEYED if kind == "keyed" else BUCKETED))
    theirs = tmp_path / "theirs" / "db.db" / "t"
    shutil.copytree(ours, theirs)
    lakebed.load_catalog(warehouse=str(tmp_path / "ours")).alter_table("db.t", wanted)
    referee.alter(theirs, [told(change) for change in wanted])
    assert newest_schema(ours) == newest_schema(theirs)
    check_alike(referee, ours)
    if "bucket" in repr(wanted):
        # A partition keeps its number of buckets until it is rescaled.
        return
    rows = referee.read(ours).rows
    referee.write(ours, [["+I", *rows[0]]])
    check_alike(referee, ours)
    table = lakebed.load_table(str(ours))
    table.append(table.scan().to_arrow())
    table.compact()
    check_alike(referee, ours)


def test_java_reads_and_writes_a_replaced_table_and_its_old_snapshots(
    referee: Referee, tmp_path: Path
) -> None:
    path = make(tmp_path, **KEYED)
    before = referee.read(path).rows
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.replace_table(
        "db.t",
        schema=lakebed.schema([*COLUMNS[:2], ("w", "ROW<a INT>"), COLUMNS[-1]]),
        primary_key=["id", "v", "dt"],
        partition_by=["dt"],
        options={"bucket": 3},
    )
    assert referee.read(path).rows == []
    referee.write(path, [["+I", 1, 2, {"a": 3}, "d"]])
    check_alike(referee, path)
    first = lakebed.load_table(str(path)).snapshots()[0].id
    assert referee.read(path, options={"scan.snapshot-id": str(first)}).rows == before


@pytest.mark.parametrize("change", REFUSED, ids=repr)
def test_both_refuse(referee: Referee, tmp_path: Path, change: SchemaChange) -> None:
    path = make(tmp_path, **KEYED)
    with pytest.raises(LakebedError):
        lakebed.load_catalog(warehouse=str(tmp_path)).alter_table("db.t", [change])
    with pytest.raises(PeerError):
        referee.alter(path, [told(change)])
