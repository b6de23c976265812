"""Importing Lakebed costs next to nothing, and its values travel between processes."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import UnsupportedError
from lakebed.storage.memory import MemoryFileIO
from support.effects import open_catalog
from support.table_builder import HISTORIES, Shape, build_table, sorted_rows

SOURCE = Path(__file__).resolve().parents[1] / "src"
HEAVY = {"pyspark", "polars", "duckdb", "sqlglot", "pandas"}
ROWS = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "v": ["a", "b", "c"]})


def modules_after(code: str) -> set[str]:
    """Top-level modules that are loaded after some code in a new interpreter."""
    script = f"{code}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return {name.split(".", 1)[0] for name in names}


def test_import_loads_nothing_heavy() -> None:
    assert not modules_after("import lakebed") & (HEAVY | {"pyarrow", "numpy"})


def test_dir_and_version_load_nothing_heavy() -> None:
    assert not modules_after("import lakebed; dir(lakebed); lakebed.__version__") & HEAVY


@pytest.mark.parametrize("name", ["load_catalog", "load_table", "schema", "Schema", "errors"])
def test_no_name_of_the_core_loads_spark_or_duckdb(name: str) -> None:
    loaded = modules_after(f"import lakebed; lakebed.{name}")
    assert "lakebed" in loaded
    assert not loaded & {"pyspark", "duckdb", "sqlglot"}


def test_reading_and_writing_load_no_spark_or_duckdb(tmp_path: Path) -> None:
    code = f"""
import lakebed, pyarrow as pa
catalog = lakebed.load_catalog(warehouse={str(tmp_path)!r})
catalog.create_database("db")
schema = lakebed.schema([("id", "BIGINT"), ("v", "STRING")])
table = catalog.create_table("db.t", schema=schema, primary_key=["id"], options={{"bucket": 1}})
table.upsert(pa.table({{"id": [1], "v": ["a"]}}))
table.upsert(pa.table({{"id": [1], "v": ["b"]}}))
table.delete("id = 2")
assert table.scan(where="v = 'b'").to_arrow().num_rows == 1
"""
    assert not modules_after(code) & {"pyspark", "duckdb", "sqlglot"}


@pytest.fixture
def table(tmp_path: Path) -> lakebed.Table:
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    made = catalog.create_table(
        "db.t", schema=ROWS.schema, primary_key=["id"], options={"bucket": 2}
    )
    made.upsert(ROWS)
    made.upsert(pa.table({"id": [2, 4], "v": ["B", "d"]}))
    return made


WANTED = [
    {"id": 1, "v": "a"},
    {"id": 2, "v": "B"},
    {"id": 3, "v": "c"},
    {"id": 4, "v": "d"},
]


def test_a_table_travels(table: lakebed.Table) -> None:
    there: lakebed.Table = pickle.loads(pickle.dumps(table))
    assert there == table
    there.upsert(pa.table({"id": [5], "v": ["e"]}))
    assert sorted_rows(table.scan().to_arrow()) == [*WANTED, {"id": 5, "v": "e"}]


def test_a_reader_and_its_splits_travel_apart(table: lakebed.Table) -> None:
    plan = table.scan(where="id < 10").plan()
    reader = pickle.loads(pickle.dumps(plan.reader))
    splits = [pickle.loads(pickle.dumps(split)) for split in plan.splits]
    assert splits == list(plan.splits)
    batches = [batch for split in splits for batch in reader.read(split)]
    assert sorted_rows(pa.Table.from_batches(batches, reader.schema)) == WANTED
    assert sum(reader.count(split) for split in splits) == 4


def test_a_scan_and_its_plan_travel(table: lakebed.Table) -> None:
    scan = pickle.loads(pickle.dumps(table.scan(columns=["v"], where="id = 2")))
    assert scan.to_arrow().to_pylist() == [{"v": "B"}]
    assert pickle.loads(pickle.dumps(table.scan().plan())).splits == table.scan().plan().splits


def test_writers_of_buckets_and_what_they_wrote_travel(table: lakebed.Table) -> None:
    parts = table.parts()
    writes = pickle.loads(pickle.dumps(parts.write_base().writes))
    again = pickle.loads(pickle.dumps(writes))
    assert pickle.loads(pickle.dumps(parts)).schema == parts.schema
    names = set()
    for opener in (writes, again):
        directory = f"{table.location}/elsewhere"
        with opener.open(b"\x00\x00\x00\x00" + bytes(8), 0, directory=directory) as writer:
            writer.add(ROWS)
            message = writer.finish()
        assert pickle.loads(pickle.dumps(message)) == message
        names |= {file.file_name for file in message.new_files}
        assert [file.row_count for file in message.new_files] == [3]
    assert len(names) == 2


def test_a_catalog_travels(tmp_path: Path, table: lakebed.Table) -> None:
    catalog = pickle.loads(pickle.dumps(lakebed.load_catalog(warehouse=str(tmp_path))))
    assert catalog.list_tables("db") == ["t"]
    assert catalog.load_table("db.t").schema == table.schema


def test_a_table_in_memory_stays_where_it_is() -> None:
    built = build_table(Shape(), HISTORIES["one-commit"])
    with pytest.raises(UnsupportedError, match="belongs to its process"):
        pickle.dumps(built.table.file_io)
    with pytest.raises(UnsupportedError, match="belongs to its process"):
        pickle.dumps(open_catalog(MemoryFileIO()).file_io)
