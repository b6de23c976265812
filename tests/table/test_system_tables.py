"""System tables: the golden ones answer as the real engine does, and hold what scans promise."""

import json
import pickle
from collections.abc import Callable

import pyarrow as pa
import pytest

import golden_adapter
import lakebed
from lakebed.catalog.catalog import Catalog
from lakebed.errors import (
    CorruptTableError,
    InvalidArgumentError,
    NotFoundError,
    UnsupportedError,
)
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.system.registry import SYSTEM_TABLES
from lakebed.table.system.system_table import SystemTable
from lakebed.table.table import Table
from support.effects import EPOCH_MS, open_catalog
from support.golden_answers import EXPECTED, GoldenQuery, golden_queries

DATABASE = EXPECTED.parent / "warehouse" / "db.db"
QUERIES = [
    query
    for path in sorted(EXPECTED.glob("*.json"))
    for query in golden_queries(path.stem)
    if query.args.get("system_table") in SYSTEM_TABLES
]
COLUMNS: list[tuple[str, pa.DataType]] = [
    ("id", pa.int64()),
    ("dt", pa.string()),
    ("v", pa.string()),
]
SCHEMA = pa.schema(COLUMNS)


def golden(table: str, system_table: str) -> SystemTable:
    found = lakebed.load_table(f"{DATABASE}/{table}${system_table}", {"lakebed.time-zone": "UTC"})
    assert isinstance(found, SystemTable)
    return found


def rows_of(table: Table, system_table: str, **scan: object) -> list[dict[str, object]]:
    found = SystemTable.over(table, SYSTEM_TABLES[system_table])
    rows: list[dict[str, object]] = found.scan(**scan).to_arrow().to_pylist()  # type: ignore[arg-type]
    return rows


@pytest.fixture
def store() -> MemoryFileIO:
    return MemoryFileIO()


@pytest.fixture
def catalog(store: MemoryFileIO) -> Catalog:
    catalog = open_catalog(store)
    catalog.create_database("db")
    return catalog


@pytest.fixture
def table(catalog: Catalog) -> Table:
    """Two snapshots, of one file and then of two partitions."""
    table = catalog.create_table(
        "db.t",
        schema=SCHEMA,
        primary_key=["id", "dt"],
        partition_by=["dt"],
        options={"bucket": 1},
    )
    table.append(pa.table({"id": [1, 2], "dt": ["a", "a"], "v": ["x", None]}, schema=SCHEMA))
    table.append(pa.table({"id": [3], "dt": ["b"], "v": ["y"]}, schema=SCHEMA))
    return table


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.table}{query.id}")
def test_answer_is_the_real_engine_s(query: GoldenQuery) -> None:
    names = [name for name, _ in query.columns]
    system = golden(query.table, query.args["system_table"])
    rows = golden_adapter.plain(system.scan(names).to_arrow()).to_pylist()
    assert query.difference(normalized(rows, query)) is None


def normalized(rows: list[dict[str, object]], query: GoldenQuery) -> list[dict[str, object]]:
    """The options of a schema come in no order from the real engine: they take its order here."""
    if query.args["system_table"] != "schemas":
        return rows
    place = [name for name, _ in query.columns].index("options")
    texts = {frozenset(json.loads(row[place]).items()): row[place] for row in query.rows}
    return [
        {**row, "options": texts[frozenset(json.loads(str(row["options"])).items())]}
        for row in rows
    ]


@pytest.mark.parametrize("name", sorted({query.args["system_table"] for query in QUERIES}))
def test_types_are_those_that_the_real_engine_shows(name: str) -> None:
    schema = to_arrow_schema(SYSTEM_TABLES[name].schema.fields)
    for query in QUERIES:
        if query.args["system_table"] == name:
            for column, kind in query.columns:
                assert spark_type(schema.field(column).type) == kind


def spark_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"array<{spark_type(kind.value_type)}>"
    names = {"string": "string", "int64": "bigint", "int32": "int", "bool": "boolean"}
    return names[str(kind)]


def test_every_golden_system_table_is_asked() -> None:
    assert len(QUERIES) == 337
    assert set(SYSTEM_TABLES) - {query.args["system_table"] for query in QUERIES} == {
        "consumers",
        "file_indexes",
        "file_key_ranges",
    }


@pytest.mark.parametrize("name", sorted(SYSTEM_TABLES))
def test_a_table_without_snapshots_has_no_rows_but_of_its_definition(
    catalog: Catalog, name: str
) -> None:
    table = catalog.create_table("db.empty", schema=SCHEMA, options={"write-only": True})
    found = SystemTable.over(table, SYSTEM_TABLES[name])
    rows = found.scan().to_arrow()
    expected = {"schemas": 1, "options": 1, "aggregation_fields": len(SCHEMA)}
    assert rows.num_rows == expected.get(name, 0)
    assert rows.schema == found.scan().schema == to_arrow_schema(found.schema.fields)


@pytest.mark.parametrize("name", sorted(SYSTEM_TABLES))
def test_a_scan_is_pickled_and_gives_the_same_rows(name: str) -> None:
    scan = golden("tags_branches", name).scan()
    assert pickle.loads(pickle.dumps(scan)).to_arrow().equals(scan.to_arrow())


def test_scans_choose_columns_rows_and_a_limit(table: Table) -> None:
    files = SystemTable.over(table, SYSTEM_TABLES["files"])
    assert files.name == "db.t$files"
    assert files.primary_keys == ["file_path"]
    assert (files.partition_keys, dict(files.options)) == ([], {})
    scan = files.scan(["record_count", "min_key"], where="partition = '{a}'")
    assert scan.to_arrow().to_pylist() == [{"record_count": 2, "min_key": "[1]"}]
    assert scan.to_polars().rows() == [(2, "[1]")]
    assert [batch.num_rows for batch in scan.to_batches()] == [1]
    assert files.scan(where="level = 0 AND record_count < 2").count() == 1
    assert files.scan(limit=1).count() == files.scan(limit=1).to_arrow().num_rows == 1
    assert "record_count, min_key" in scan.explain()
    wrongs: list[Callable[[], object]] = [
        lambda: files.scan(["size"]),
        lambda: files.scan(where="size > 1"),
        lambda: files.scan(limit=-1),
        lambda: files.scan(incremental=(1, 2)),
        lambda: files.scan(options={"incremental-between": "1,2"}),
        lambda: files.scan(snapshot_id=1, tag="v"),
    ]
    for wrong in wrongs:
        with pytest.raises(InvalidArgumentError):
            wrong()


def test_a_system_table_is_never_written(table: Table) -> None:
    system = SystemTable.over(table, SYSTEM_TABLES["snapshots"])
    rows = pa.table({"snapshot_id": [9]})
    writes: list[Callable[[], object]] = [
        lambda: system.append(rows),
        lambda: system.upsert(rows),
        lambda: system.overwrite(rows),
        lambda: system.delete("snapshot_id = 1"),
        system.truncate,
        system.writer,
    ]
    for write in writes:
        with pytest.raises(UnsupportedError, match=r"db\.t\$snapshots is a system table"):
            write()
    assert system.latest_snapshot() == table.latest_snapshot()


@pytest.mark.parametrize(
    "travel", [{"snapshot_id": 1}, {"options": {"scan.snapshot-id": 1}}, {"timestamp": EPOCH_MS}]
)
def test_what_is_about_files_shows_the_snapshot_asked_for(
    table: Table, travel: dict[str, object]
) -> None:
    if "timestamp" in travel:
        travel = {"timestamp": table.snapshots()[0].time_millis}
    for name in ("files", "file_key_ranges", "buckets"):
        assert [row["partition"] for row in rows_of(table, name, **travel)] == ["{a}"]
        assert len(rows_of(table, name)) == 2
    assert [row["partition"] for row in rows_of(table, "partitions", **travel)] == ["dt=a"]
    assert len(rows_of(table, "manifests", **travel)) == 1
    assert len(rows_of(table, "snapshots", **travel)) == 2
    with pytest.raises(NotFoundError, match="Snapshots 1 to 2 exist"):
        rows_of(table, "files", snapshot_id=7)


def test_a_tag_keeps_the_files_of_its_snapshot() -> None:
    tags = golden("tags_branches", "tags").scan(["tag_name"]).to_arrow().column(0).to_pylist()
    files = golden("tags_branches", "files")
    assert tags
    for tag in tags:
        counted = golden("tags_branches", "tags").scan(where=f"tag_name = '{tag}'").to_arrow()
        rows = files.scan(["record_count"], tag=tag).to_arrow().to_pylist()
        assert sum(row["record_count"] for row in rows) == counted.column("record_count")[0].as_py()


def test_times_are_those_of_the_session_s_clocks(store: MemoryFileIO) -> None:
    catalog = open_catalog(store, options={"lakebed.time-zone": "Asia/Kathmandu"})
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=SCHEMA)
    table.append(pa.table({"id": [1], "dt": ["a"], "v": ["x"]}, schema=SCHEMA))
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    offset_ms = (5 * 60 + 45) * 60_000
    scan = SystemTable.over(table, SYSTEM_TABLES["snapshots"]).scan(["commit_time"])
    shown = scan.to_arrow().column(0).cast(pa.int64())[0].as_py()
    assert shown == snapshot.time_millis + offset_ms
    updated = rows_of(table, "partitions")[0]["last_update_time"]
    assert updated == rows_of(table, "files")[0]["creation_time"]


def test_consumers_are_listed_with_their_positions(store: MemoryFileIO, table: Table) -> None:
    store.write(f"{table.location}/consumer/consumer-b", b'{"nextSnapshot": 7}')
    store.write(f"{table.location}/consumer/consumer-a b", b'{ "nextSnapshot" : 2 }')
    assert rows_of(table, "consumers") == [
        {"consumer_id": "a b", "next_snapshot_id": 2},
        {"consumer_id": "b", "next_snapshot_id": 7},
    ]
    store.write(f"{table.location}/consumer/consumer-c", b'{"nextSnapshot": null}')
    with pytest.raises(CorruptTableError, match="consumer-c: nextSnapshot is None"):
        rows_of(table, "consumers")


def test_a_tag_shows_how_long_it_is_kept(store: MemoryFileIO, table: Table) -> None:
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    plain = snapshot.to_json()
    kept = plain.rstrip()[:-1] + (
        b', "tagCreateTime": [2026, 1, 2, 3, 4, 5, 678000000], "tagTimeRetained": 86401.500000000}'
    )
    store.write(f"{table.location}/tag/tag-plain", plain)
    store.write(f"{table.location}/tag/tag-kept", kept)
    found = SystemTable.over(table, SYSTEM_TABLES["tags"]).scan(
        ["tag_name", "snapshot_id", "record_count", "create_time", "time_retained"]
    )
    rows = golden_adapter.plain(found.to_arrow()).to_pylist()
    assert [list(row.values()) for row in rows] == [
        ["kept", 2, 3, "2026-01-02 03:04:05.678", "PT24H1.5S"],
        ["plain", 2, 3, None, None],
    ]


def test_a_partition_that_lost_its_files_is_gone_and_others_keep_their_sums(table: Table) -> None:
    table.overwrite(
        pa.table({"id": [5], "dt": ["a"], "v": ["z"]}, schema=SCHEMA), partition={"dt": "a"}
    )
    table.delete("dt = 'b'")
    rows = {row["partition"]: row for row in rows_of(table, "partitions")}
    assert (rows["dt=a"]["record_count"], rows["dt=a"]["file_count"]) == (1, 1)
    assert rows["dt=a"]["total_buckets"] == 1
    assert rows["dt=a"]["done"] is False
    table.overwrite(pa.table({"id": [6], "dt": ["c"], "v": ["z"]}, schema=SCHEMA))
    assert [row["partition"] for row in rows_of(table, "partitions")] == ["dt=c"]
    assert [row["partition"] for row in rows_of(table, "buckets")] == ["{c}"]


def test_file_indexes_name_every_index_of_every_file() -> None:
    rows = golden("append_index", "file_indexes").scan().to_arrow().to_pylist()
    files = golden("append_index", "files").scan(["file_path"]).to_arrow().column(0).to_pylist()
    assert rows
    assert {row["file_path"] for row in rows} <= set(files)
    assert {row["storage_type"] for row in rows} == {"EMBEDDED", "FILE"}
    for row in rows:
        assert (row["index_file_path"] is None) == (row["storage_type"] == "EMBEDDED")
        assert (
            row["is_empty"] or 0 < row["index_size_in_bytes"] < row["index_container_size_in_bytes"]
        )


def test_names_are_found_in_any_case_and_near_ones_are_told(table: Table, catalog: Catalog) -> None:
    assert catalog.load_table("db.t$FILES").name == "db.t$files"
    with pytest.raises(NotFoundError, match="There is files") as caught:
        catalog.load_table("db.t$file")
    assert (caught.value.kind, caught.value.name) == ("system table", "db.t$file")
    with pytest.raises(NotFoundError, match=r"There are .*snapshots"):
        catalog.load_table("db.t$xyz")
    assert table.name == "db.t"
