"""What writers put into manifests, seen with fastavro, past the code under test."""

from datetime import UTC, datetime
from io import BytesIO
from typing import Any, cast
from zoneinfo import ZoneInfo

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.format.binary_row.codec import decode_rows
from lakebed.format.types import DataType
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.store_listing import data_files, read_snapshot, snapshot_ids
from support.table_builder import HISTORIES, BuiltTable, Shape, Step, build_table, sorted_rows

KEYED = Shape(buckets=1)
UNAWARE = Shape(has_primary_key=False, buckets=-1)


def records(table: Table, name: str) -> list[dict[str, Any]]:
    data = table.file_io.read(f"{table.location}/manifest/{name}")
    return cast("list[dict[str, Any]]", list(fastavro.reader(BytesIO(data))))


def delta_entries(table: Table, snapshot_id: int) -> list[dict[str, Any]]:
    """The entries that a snapshot added."""
    snapshot = read_snapshot(table.file_io, table.location, snapshot_id)
    return [
        entry
        for meta in records(table, str(snapshot["deltaManifestList"]))
        for entry in records(table, meta["_FILE_NAME"])
    ]


def decoded(row: bytes, types: list[DataType]) -> list[object]:
    columns = decode_rows(pa.array([row], pa.binary()), types, source="test")
    return [column[0].as_py() for column in columns]


def test_the_first_commit_has_an_empty_base_list_and_the_next_builds_on_it() -> None:
    built = build_table(KEYED, HISTORIES["overlapping"])
    table = built.table
    first, second, third = (read_snapshot(table.file_io, table.location, n) for n in (1, 2, 3))
    assert records(table, str(first["baseManifestList"])) == []
    deltas = [records(table, str(one["deltaManifestList"])) for one in (first, second, third)]
    assert [len(delta) for delta in deltas] == [1, 1, 1]
    assert records(table, str(third["baseManifestList"])) == [*deltas[0], *deltas[1]]
    for one in (first, second, third):
        for kind in ("base", "delta"):
            path = f"{table.location}/manifest/{one[f'{kind}ManifestList']}"
            assert one[f"{kind}ManifestListSize"] == table.file_io.size(path)


def test_a_manifest_of_the_list_says_what_is_in_it() -> None:
    built = build_table(Shape(buckets=3, is_partitioned=True), HISTORIES["overwritten"])
    snapshot = read_snapshot(built.file_io, built.table.location, 2)
    [meta] = records(built.table, str(snapshot["deltaManifestList"]))
    entries = records(built.table, meta["_FILE_NAME"])
    path = f"{built.table.location}/manifest/{meta['_FILE_NAME']}"
    assert meta["_FILE_SIZE"] == built.file_io.size(path)
    kinds = [entry["_KIND"] for entry in entries]
    assert (meta["_NUM_ADDED_FILES"], meta["_NUM_DELETED_FILES"]) == (
        kinds.count(0),
        kinds.count(1),
    )
    assert kinds.count(1) >= 3
    assert (meta["_MIN_BUCKET"], meta["_MAX_BUCKET"]) == (
        min(entry["_BUCKET"] for entry in entries),
        max(entry["_BUCKET"] for entry in entries),
    )
    stats, types = meta["_PARTITION_STATS"], [built.table.schema.field("dt").type]
    assert decoded(stats["_MIN_VALUES"], types) == ["2026-01-01"]
    assert decoded(stats["_MAX_VALUES"], types) == ["2026-01-03"]
    assert stats["_NULL_COUNTS"] == [0]


def test_a_delete_entry_repeats_the_meta_of_its_add() -> None:
    built = build_table(UNAWARE, HISTORIES["overwritten"])
    [added] = delta_entries(built.table, 1)
    deleted = [entry for entry in delta_entries(built.table, 2) if entry["_KIND"] == 1]
    assert deleted == [{**added, "_KIND": 1}]


def test_bounds_of_keys_and_values_are_those_of_the_rows() -> None:
    built = build_table(KEYED, [Step("write", range(3, 9))])
    [entry] = delta_entries(built.table, 1)
    file, fields = entry["_FILE"], built.table.schema.fields
    key, values = [fields[0].type], [field.type for field in fields]
    assert decoded(file["_MIN_KEY"], key) == [-2]
    assert decoded(file["_MAX_KEY"], key) == [3]
    assert decoded(file["_KEY_STATS"]["_MIN_VALUES"], key) == [-2]
    assert decoded(file["_KEY_STATS"]["_MAX_VALUES"], key) == [3]
    stats = file["_VALUE_STATS"]
    assert decoded(stats["_MIN_VALUES"], values)[:2] == [-2, 3.0]
    assert decoded(stats["_MAX_VALUES"], values)[:2] == [3, 8.0]
    notes = sorted(str(row["note"]) for row in built.rows if row["note"] is not None)
    # Texts are cut to 16 characters: below for the lower bound, above for the upper.
    assert decoded(stats["_MIN_VALUES"], values)[2] == notes[0]
    assert decoded(stats["_MAX_VALUES"], values)[2] == notes[-1]
    assert stats["_NULL_COUNTS"] == [0, 0, 1]
    assert file["_ROW_COUNT"] == 6
    assert (file["_DELETE_ROW_COUNT"], file["_LEVEL"], file["_FILE_SOURCE"]) == (0, 0, 0)
    assert file["_SCHEMA_ID"] == 0
    assert file["_EXTRA_FILES"] == []


def test_delete_rows_are_counted() -> None:
    built = build_table(KEYED, [Step("write", range(4)), Step("delete", (1,))])
    [entry] = delta_entries(built.table, 2)
    assert (entry["_FILE"]["_ROW_COUNT"], entry["_FILE"]["_DELETE_ROW_COUNT"]) == (1, 1)


def test_an_append_file_has_no_key() -> None:
    built = build_table(UNAWARE, [Step("write", range(4))])
    file = delta_entries(built.table, 1)[0]["_FILE"]
    assert file["_MIN_KEY"] == file["_MAX_KEY"] == file["_KEY_STATS"]["_MIN_VALUES"]
    assert decoded(file["_MIN_KEY"], []) == []
    assert file["_KEY_STATS"]["_NULL_COUNTS"] == []


@pytest.mark.parametrize(
    ("shape", "total", "buckets"),
    [
        (KEYED, 1, {0}),
        (Shape(buckets=3), 3, {0, 1, 2}),
        (UNAWARE, -1, {0}),
        (Shape(key="string", has_primary_key=False, buckets=2), 2, {0, 1}),
    ],
    ids=str,
)
def test_total_buckets_are_those_of_the_table(shape: Shape, total: int, buckets: set[int]) -> None:
    built = build_table(shape, [Step("write", range(40))])
    entries = delta_entries(built.table, 1)
    assert {entry["_TOTAL_BUCKETS"] for entry in entries} == {total}
    assert {entry["_BUCKET"] for entry in entries} == buckets


def test_sequence_numbers_go_on_where_the_bucket_ended() -> None:
    built = build_table(Shape(buckets=1, is_partitioned=True))
    ranges = []
    for step in (Step("write", (0, 3)), Step("write", (0, 3, 6)), Step("write", (1,))):
        built.take(step)
        [entry] = delta_entries(built.table, len(built.past))
        file = entry["_FILE"]
        ranges.append((file["_MIN_SEQUENCE_NUMBER"], file["_MAX_SEQUENCE_NUMBER"]))
    assert ranges == [(0, 1), (2, 4), (0, 0)]


def test_sequence_numbers_of_rows_are_in_the_file() -> None:
    built = build_table(KEYED, [Step("write", (3, 1, 2)), Step("write", (2, 2, 9))])
    [path] = [
        path
        for path in data_files(built.file_io, built.table.location)
        if delta_entries(built.table, 2)[0]["_FILE"]["_FILE_NAME"] in path
    ]
    rows = pq.read_table(BytesIO(built.file_io.read(path)))
    assert rows.column_names[:3] == ["_KEY_id", "_SEQUENCE_NUMBER", "_VALUE_KIND"]
    assert rows["_KEY_id"].to_pylist() == [-3, 4]
    assert rows["_SEQUENCE_NUMBER"].to_pylist() == [4, 5]
    assert rows["_VALUE_KIND"].to_pylist() == [0, 0]


def big_rows(built: BuiltTable, count: int) -> pa.Table:
    return built.arrow([built.shape.row(number, 0) for number in range(count)])


@pytest.mark.parametrize("shape", [KEYED, UNAWARE], ids=str)
@pytest.mark.parametrize("option", [{"target-file-row-num": "100"}, {"target-file-size": "4 kb"}])
def test_files_roll_at_their_target(shape: Shape, option: dict[str, str]) -> None:
    built = build_table(shape.with_options(option))
    built.table.append(big_rows(built, 1000))
    files = [entry["_FILE"] for entry in delta_entries(built.table, 1)]
    assert len(files) >= 2
    assert sum(file["_ROW_COUNT"] for file in files) == 1000
    if "target-file-row-num" in option:
        assert {file["_ROW_COUNT"] for file in files} == {100}
    else:
        assert all(file["_FILE_SIZE"] < 4096 * 4 for file in files)
    if shape.has_primary_key:
        bounds = [(file["_MIN_KEY"], file["_MAX_KEY"]) for file in files]
        assert len(set(bounds)) == len(files)
        [split] = built.table.scan().plan().splits
        assert split.is_raw
    assert built.table.scan().count() == 1000
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(big_rows(built, 1000))


def test_statistics_modes_decide_which_bounds_are_kept() -> None:
    options = {"metadata.stats-mode": "none", "fields.amount.stats-mode": "full"}
    built = build_table(UNAWARE.with_options(options), [Step("write", range(4))])
    file = delta_entries(built.table, 1)[0]["_FILE"]
    assert file["_VALUE_STATS_COLS"] == ["amount"]
    types = [built.table.schema.field("amount").type]
    assert decoded(file["_VALUE_STATS"]["_MAX_VALUES"], types) == [3.0]
    assert file["_VALUE_STATS"]["_NULL_COUNTS"] == [0]
    assert built.table.scan(where="amount < 1").count() == 1
    assert built.table.scan(where="amount < 0").plan().splits == ()
    assert built.table.scan(where="id > 999").count() == 0


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns"])
def test_creation_time_is_the_wall_clock_of_the_zone_as_if_it_were_utc(zone: str) -> None:
    now = 1_782_864_000_000  # 2026-07-01T00:00:00Z
    store = MemoryFileIO()
    catalog = open_catalog(store, options={"lakebed.time-zone": zone})
    built = build_table(UNAWARE, file_io=store)
    table = reopen(catalog.load_table("db.t"), store, clock=lambda: now)
    table.append(big_rows(built, 2))
    [entry] = delta_entries(table, 1)
    wall = datetime.fromtimestamp(now / 1000, ZoneInfo(zone)).replace(tzinfo=UTC)
    written = entry["_FILE"]["_CREATION_TIME"]
    assert (written if isinstance(written, datetime) else None) == wall
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    assert snapshot.time_millis == now


@pytest.mark.parametrize(("zone", "matches"), [("UTC", [1]), ("Asia/Kathmandu", [2])])
def test_timestamp_literals_are_of_the_zone(zone: str, matches: list[int]) -> None:
    catalog = open_catalog(MemoryFileIO(), options={"lakebed.time-zone": zone})
    catalog.create_database("db")
    instants = [datetime(2026, 1, 1, tzinfo=UTC), datetime(2025, 12, 31, 18, 15, tzinfo=UTC)]
    rows = pa.table({"id": [1, 2], "t": pa.array(instants, pa.timestamp("us", "UTC"))})
    table = catalog.create_table("db.t", schema=rows.schema)
    table.append(rows)
    for spelling in ("TIMESTAMP '2026-01-01 00:00:00'", "CAST('2026-01-01' AS TIMESTAMP)"):
        found = table.scan(columns=["id"], where=f"t = {spelling}").to_arrow()
        assert found["id"].to_pylist() == matches


def test_many_commits_merge_manifests_and_keep_every_row() -> None:
    shape = Shape(buckets=1).with_options({"write-only": "true"})
    built = build_table(shape, [Step("write", (n % 20,)) for n in range(34)])
    counts = [
        len(
            records(
                built.table,
                str(read_snapshot(built.file_io, built.table.location, n)["baseManifestList"]),
            )
        )
        for n in snapshot_ids(built.file_io, built.table.location)
    ]
    assert counts == [*range(30), 1, 2, 3, 4]
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)
    for snapshot_id in (1, 29, 30, 31, 34):
        then = built.table.scan(snapshot_id=snapshot_id).to_arrow()
        assert sorted_rows(then) == sorted_rows(built.past[snapshot_id])


def test_a_full_merge_nets_deletes_away() -> None:
    options = {"manifest.full-compaction-threshold-size": "1 kb"}
    built = build_table(UNAWARE.with_options(options))
    for number in range(8):
        built.take(Step("overwrite", (number,)))
    snapshot = read_snapshot(built.file_io, built.table.location, 8)
    base = records(built.table, str(snapshot["baseManifestList"]))
    entries = [entry for meta in base for entry in records(built.table, meta["_FILE_NAME"])]
    assert len(entries) < 6
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)
