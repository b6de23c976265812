"""Writing calls and what is read after them."""

import pyarrow as pa
import pytest

from lakebed.errors import InvalidArgumentError, InvalidDataError, NotFoundError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog
from support.store_listing import orphans, snapshot_ids
from support.table_builder import HISTORIES, Row, Shape, build_table, sorted_rows

KEYED = Shape(buckets=2)
PARTITIONED = Shape(buckets=1, is_partitioned=True)
UNAWARE = Shape(has_primary_key=False, buckets=-1)
UNAWARE_PARTITIONED = Shape(has_primary_key=False, buckets=-1, is_partitioned=True)
COLUMNS = [("id", "INT NOT NULL"), ("v", "STRING")]


def keyed_table(**options: str) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    given = {"bucket": "1", **{key.replace("_", "-"): value for key, value in options.items()}}
    return catalog.create_table("db.t", schema=schema(COLUMNS), primary_key=["id"], options=given)


def rows_of(table: Table, *, snapshot_id: int | None = None) -> list[Row]:
    return sorted_rows(table.scan(snapshot_id=snapshot_id).to_arrow())


def test_the_last_row_of_a_key_wins_within_one_call() -> None:
    table = keyed_table()
    table.upsert(pa.table({"id": [1, 2, 1], "v": ["a", "b", "c"]}))
    assert rows_of(table) == [{"id": 1, "v": "c"}, {"id": 2, "v": "b"}]


def test_row_kinds_of_the_data_delete_and_update() -> None:
    table = keyed_table()
    table.upsert(pa.table({"id": [1, 2, 3], "v": ["a", "b", "c"]}))
    changes = {"id": [1, 2, 2, 4], "v": ["a", "b", "B", "d"], "_row_kind": ["-D", "-U", "+U", "+I"]}
    table.upsert(pa.table(changes))
    assert rows_of(table) == [{"id": 2, "v": "B"}, {"id": 3, "v": "c"}, {"id": 4, "v": "d"}]
    assert table.scan().count() == 3


def test_a_deleted_key_may_come_back() -> None:
    table = keyed_table()
    table.upsert(pa.table({"id": [1], "v": ["a"]}))
    table.delete("id = 1")
    assert rows_of(table) == []
    table.upsert(pa.table({"id": [1], "v": ["z"]}))
    assert rows_of(table) == [{"id": 1, "v": "z"}]


def test_row_kinds_on_an_append_table_are_inserts_or_refused() -> None:
    built = build_table(Shape(has_primary_key=False, buckets=-1))
    built.table.append(pa.table({"id": [1], "_row_kind": ["+I"]}))
    with pytest.raises(InvalidDataError, match=r"_row_kind .* append table takes inserts only"):
        built.table.append(pa.table({"id": [2], "_row_kind": ["-D"]}))
    assert built.table.scan(columns=["id"]).to_arrow().to_pylist() == [{"id": 1}]
    assert orphans(built.table, built.file_io) == set()


def test_upsert_needs_a_primary_key() -> None:
    built = build_table(UNAWARE)
    with pytest.raises(InvalidArgumentError, match="no primary key to upsert by; use append"):
        built.table.upsert(built.arrow([built.shape.row(1, 0)]))
    assert built.table.latest_snapshot() is None


@pytest.mark.parametrize("shape", [KEYED, UNAWARE], ids=str)
def test_writing_no_rows_makes_no_snapshot(shape: Shape) -> None:
    built = build_table(shape)
    assert built.table.append(built.arrow([])) is None
    assert built.table.delete("id = 1") is None
    assert snapshot_ids(built.file_io, built.table.location) == []
    built = build_table(shape, HISTORIES["one-commit"])
    assert built.table.append(built.arrow([])) is None
    assert built.table.delete("id = 1000000") is None
    assert snapshot_ids(built.file_io, built.table.location) == [1]
    assert orphans(built.table, built.file_io) == set()


@pytest.mark.parametrize("shape", [PARTITIONED, UNAWARE_PARTITIONED], ids=str)
def test_overwrite_replaces_all_or_one_or_the_found_partitions(shape: Shape) -> None:
    built = build_table(shape, HISTORIES["one-commit"])
    rows = built.rows
    days = {
        name: [row for row in rows if row["dt"] == name]
        for name in ("2026-01-01", "2026-01-02", "2026-01-03")
    }
    first = shape.row(0, 7)
    assert first["dt"] == "2026-01-01"

    snapshot = built.table.overwrite(built.arrow([first]), partition="dynamic")
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.operation) == ("OVERWRITE", "OVERWRITE")
    kept = [*days["2026-01-02"], *days["2026-01-03"]]
    assert rows_of(built.table) == sorted_rows([first, *kept])

    bare = built.arrow([shape.row(1, 8)]).drop_columns(["dt"])
    built.table.overwrite(bare, partition={"dt": "2026-01-02"})
    assert rows_of(built.table) == sorted_rows([first, shape.row(1, 8), *days["2026-01-03"]])

    built.table.overwrite(built.arrow([shape.row(2, 9)]))
    assert rows_of(built.table) == [shape.row(2, 9)]
    assert rows_of(built.table, snapshot_id=1) == sorted_rows(rows)


def test_overwrite_of_a_partition_with_no_rows_empties_it() -> None:
    built = build_table(UNAWARE_PARTITIONED, HISTORIES["one-commit"])
    built.table.overwrite(built.arrow([]).drop_columns(["dt"]), partition={"dt": "2026-01-02"})
    left = [row for row in built.rows if row["dt"] != "2026-01-02"]
    assert rows_of(built.table) == sorted_rows(left)


def test_overwrite_of_nothing_in_the_dynamic_partitions_changes_nothing() -> None:
    built = build_table(UNAWARE_PARTITIONED, HISTORIES["one-commit"])
    assert built.table.overwrite(built.arrow([]), partition="dynamic") is None
    assert rows_of(built.table) == sorted_rows(built.rows)


def test_overwrite_takes_rows_that_carry_the_partition_that_they_belong_to() -> None:
    built = build_table(UNAWARE_PARTITIONED, HISTORIES["one-commit"])
    row = built.shape.row(1, 8)
    built.table.overwrite(built.arrow([row]), partition={"dt": "2026-01-02"})
    left = [other for other in built.rows if other["dt"] != "2026-01-02"]
    assert rows_of(built.table) == sorted_rows([*left, row])


def test_overwrite_refuses_rows_outside_the_partition_and_leaves_no_file() -> None:
    built = build_table(UNAWARE_PARTITIONED, HISTORIES["one-commit"])
    with pytest.raises(InvalidDataError, match=r"outside the partition .*nothing was written"):
        built.table.overwrite(built.arrow([built.shape.row(0, 8)]), partition={"dt": "2026-01-02"})
    assert rows_of(built.table) == sorted_rows(built.rows)
    assert orphans(built.table, built.file_io) == set()


@pytest.mark.parametrize("partition", ["static", 7, ["dt"]])
def test_overwrite_refuses_what_names_no_partition_and_leaves_no_file(partition: object) -> None:
    built = build_table(UNAWARE_PARTITIONED, HISTORIES["one-commit"])
    with pytest.raises(InvalidArgumentError, match='a mapping of values, "dynamic" or None'):
        built.table.overwrite(built.arrow(built.rows), partition=partition)  # type: ignore[arg-type]  # the point
    assert orphans(built.table, built.file_io) == set()


def test_overwrite_refuses_a_column_that_does_not_partition() -> None:
    built = build_table(UNAWARE_PARTITIONED, HISTORIES["one-commit"])
    with pytest.raises(InvalidArgumentError, match=r"'id' is no partition column; .* are: dt"):
        built.table.overwrite(built.arrow([]), partition={"id": 3})
    assert snapshot_ids(built.file_io, built.table.location) == [1]


@pytest.mark.parametrize("shape", [KEYED, PARTITIONED, UNAWARE], ids=str)
def test_truncate_empties_the_table_and_keeps_its_past(shape: Shape) -> None:
    built = build_table(shape, HISTORIES["overlapping"])
    snapshot = built.table.truncate()
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.operation) == ("OVERWRITE", "TRUNCATE")
    assert snapshot.total_record_count == 0
    assert rows_of(built.table) == []
    assert built.table.scan().count() == 0
    assert rows_of(built.table, snapshot_id=3) == sorted_rows(built.past[3])
    assert built.table.truncate() is None


@pytest.mark.parametrize("shape", [KEYED, PARTITIONED, UNAWARE, UNAWARE_PARTITIONED], ids=str)
def test_delete_takes_the_matching_rows_alone(shape: Shape) -> None:
    built = build_table(shape, HISTORIES["overlapping"])
    snapshot = built.table.delete("amount >= 5 AND amount < 11")
    assert snapshot is not None
    assert snapshot.operation == "DELETE"
    assert snapshot.commit_kind == ("APPEND" if shape.has_primary_key else "OVERWRITE")
    left = [row for row in built.rows if not 5 <= _number(row["amount"]) < 11]
    assert rows_of(built.table) == sorted_rows(left)
    assert rows_of(built.table, snapshot_id=3) == sorted_rows(built.rows)
    assert built.table.scan().count() == len(left)


def test_delete_keeps_rows_for_which_the_condition_is_null() -> None:
    built = build_table(UNAWARE, HISTORIES["one-commit"])
    built.table.delete("note > ''")
    assert rows_of(built.table) == sorted_rows([row for row in built.rows if row["note"] is None])
    assert len(rows_of(built.table)) > 0


def test_delete_rewrites_only_the_append_files_that_hold_a_match() -> None:
    built = build_table(UNAWARE, HISTORIES["overlapping"])
    before = {path for split in built.table.scan().plan().splits for path in split.file_paths}
    built.table.delete(f"note = '{built.rows[0]['note'] or 'note 1 v0'}'")
    after = {path for split in built.table.scan().plan().splits for path in split.file_paths}
    assert len(before) == len(after) == 3
    assert len(before & after) == 2


def test_delete_of_every_row_of_an_append_file_writes_no_file() -> None:
    built = build_table(UNAWARE, HISTORIES["one-commit"])
    built.table.delete("id IS NOT NULL")
    assert rows_of(built.table) == []
    assert built.table.scan().plan().splits == ()


def test_snapshots_are_listed_oldest_first_and_say_what_they_did() -> None:
    built = build_table(KEYED, HISTORIES["overlapping"])
    found = built.table.snapshots()
    assert [snapshot.id for snapshot in found] == [1, 2, 3]
    assert [snapshot.delta_record_count for snapshot in found] == [12, 12, 6]
    assert [snapshot.total_record_count for snapshot in found] == [12, 24, 30]
    assert found[-1] == built.table.latest_snapshot()
    assert {snapshot.operation for snapshot in found} == {"WRITE"}
    assert all(str(snapshot.writer_version).startswith("lakebed-") for snapshot in found)
    assert [snapshot.next_row_id for snapshot in found] == [0, 0, 0]
    assert len({snapshot.uuid for snapshot in found}) == 3


def test_a_snapshot_that_never_was_is_not_found_and_the_range_is_named() -> None:
    built = build_table(KEYED, HISTORIES["overlapping"])
    for snapshot_id in (0, 4, -1):
        with pytest.raises(NotFoundError, match="Snapshots 1 to 3 exist") as caught:
            built.table.scan(snapshot_id=snapshot_id)
        assert (caught.value.kind, caught.value.name) == ("snapshot", str(snapshot_id))
    with pytest.raises(NotFoundError, match="The table has no snapshot"):
        build_table(KEYED).table.scan(snapshot_id=1)


def test_time_travel_by_option_is_time_travel_by_argument() -> None:
    built = build_table(KEYED, HISTORIES["overlapping"])
    scan = built.table.scan(options={"scan.snapshot-id": 1})
    assert sorted_rows(scan.to_arrow()) == sorted_rows(built.past[1])
    with pytest.raises(InvalidArgumentError, match="both say what to read"):
        built.table.scan(snapshot_id=1, options={"scan.snapshot-id": 1})


def test_a_small_write_buffer_makes_several_runs_and_loses_nothing() -> None:
    table = keyed_table(write_buffer_size="2 kb")
    for start in (0, 300):
        batches = [
            pa.record_batch({"id": range(low, low + 100), "v": [f"v{start}"] * 100})
            for low in (start, start + 50, start + 100)
        ]
        table.upsert(pa.Table.from_batches(batches))
    assert table.scan().count() == 400
    [split] = table.scan().plan().splits[:1]
    assert len(split.files) >= 2


def _number(value: object) -> float:
    assert isinstance(value, float)
    return value
