"""Tables with deletion vectors: files stay where rows go, until a compaction takes the rows out."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from lakebed.catalog.loading import load_table
from lakebed.errors import InvalidArgumentError, InvalidTableError
from lakebed.format.arrow.typing import python_values
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind
from lakebed.storage.memory import MemoryFileIO
from support.effects import open_catalog
from support.golden_manifests import DATABASE
from support.index_files import unnamed_files
from support.marked_tables import (
    BUCKETED,
    KEYED,
    UNAWARE,
    VECTORS,
    WRITE_ONLY,
    index_files,
    live_files,
    marked,
    newest,
)
from support.table_builder import HISTORIES, BuiltTable, Shape, Step, build_table, sorted_rows

APPEND = {
    "unaware": UNAWARE,
    "unaware-dt": Shape(has_primary_key=False, buckets=-1, is_partitioned=True).with_options(
        VECTORS
    ),
    "bucketed-dt": Shape(
        key="string", has_primary_key=False, buckets=2, is_partitioned=True
    ).with_options(VECTORS),
    "64-bit": UNAWARE.with_options({"deletion-vectors.bitmap64": "true"}),
    "small index files": UNAWARE.with_options({"deletion-vector.index-file.target-size": "1 b"}),
}


def check_rows(built: BuiltTable) -> None:
    """The newest rows, and those of each snapshot that a step made."""
    table = built.table
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows(built.rows)
    assert table.scan().count() == len(built.rows)
    for snapshot_id, rows in built.past.items():
        assert sorted_rows(table.scan(snapshot_id=snapshot_id).to_arrow()) == sorted_rows(rows)
    assert unnamed_files(table, built.file_io) == set()


@pytest.mark.parametrize("shape", APPEND.values(), ids=APPEND)
@pytest.mark.parametrize("history", HISTORIES)
def test_rows_of_an_append_table_go_and_come_back_with_time_travel(
    shape: Shape, history: str
) -> None:
    check_rows(build_table(shape, HISTORIES[history]))


@pytest.mark.parametrize("shape", APPEND.values(), ids=APPEND)
def test_a_delete_marks_rows_and_leaves_their_files(shape: Shape) -> None:
    built = build_table(shape, [Step("write", range(12)), Step("write", range(12, 24))])
    files = live_files(built.table)
    for steps in ([1, 2, 13], [3, 4], [14]):
        built.take(Step("delete", steps))
        snapshot = newest(built.table)
        assert snapshot.commit_kind is CommitKind.OVERWRITE
        assert (snapshot.delta_record_count, snapshot.total_record_count) == (0, 24)
        check_rows(built)
    assert live_files(built.table) == files
    assert sum(marked(built.table).values()) == 6


def test_a_file_that_loses_its_last_rows_goes_with_its_vector() -> None:
    built = build_table(UNAWARE, [Step("write", range(4)), Step("write", range(4, 8))])
    built.take(Step("delete", [0, 1, 5]))
    assert len(marked(built.table)) == 2
    snapshot = built.table.delete("amount < 4")
    assert snapshot is not None
    assert (snapshot.delta_record_count, snapshot.total_record_count) == (-4, 4)
    assert len(live_files(built.table)) == len(marked(built.table)) == 1
    assert built.table.delete("true") is not None
    assert live_files(built.table) == marked(built.table) == {}
    assert index_files(built.table) == []


def test_a_delete_that_finds_no_row_or_only_deleted_ones_commits_nothing() -> None:
    built = build_table(UNAWARE, [Step("write", range(4)), Step("delete", [2])])
    before = newest(built.table)
    assert built.table.delete("amount > 99") is None
    assert built.table.delete(f"amount = {built.shape.row(2, 0)['amount']}") is None
    assert newest(built.table) == before
    assert build_table(UNAWARE).table.delete("true") is None


def test_a_condition_is_not_asked_of_deleted_rows() -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=schema([("v", "STRING")]), options=VECTORS)
    table.append(pa.table({"v": ["2", "many", None, "5"]}))
    with pytest.raises(InvalidArgumentError, match="many"):
        table.delete("CAST(v AS INT) < 4")
    table.delete("v = 'many'")
    table.delete("CAST(v AS INT) < 4")
    assert table.scan().to_arrow()["v"].to_pylist() == [None, "5"]


def test_index_files_of_a_partition_are_cut_and_those_of_a_bucket_are_not() -> None:
    small = {"deletion-vector.index-file.target-size": "1 b"}
    history = [Step("write", range(n, n + 4)) for n in range(0, 12, 4)]
    history.append(Step("delete", [0, 4, 8]))
    unaware = build_table(UNAWARE.with_options(small), history)
    unaware.table.delete("amount IN (1, 5.125, 9.25)")
    assert [entry.row_count for entry in index_files(unaware.table)] == [1, 1, 1]
    bucketed = build_table(BUCKETED.with_options(small), history)
    assert [entry.row_count for entry in index_files(bucketed.table)] == [3]


@pytest.mark.parametrize("shape", [UNAWARE, BUCKETED], ids=["unaware", "bucketed"])
def test_a_compaction_takes_deleted_rows_out_and_drops_their_vectors(shape: Shape) -> None:
    built = build_table(shape, [Step("write", range(n, n + 8)) for n in range(0, 24, 8)])
    built.take(Step("delete", [1, 9, 10, 23]))
    table = built.table
    assert len(marked(table)) == 3
    snapshot = table.compact()
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.COMPACT
    assert snapshot.total_record_count == 20
    assert index_files(table) == []
    assert len(live_files(table)) == 1
    check_rows(built)
    built.take(Step("delete", [2]))
    check_rows(built)


def test_a_compaction_of_some_files_keeps_the_vectors_of_the_others() -> None:
    options = {"target-file-size": "10 kb", "compaction.delete-ratio-threshold": "0.5"}
    built = build_table(UNAWARE.with_options(options))
    for start in (0, 3000):
        built.table.append(built.arrow([built.shape.row(n, 0) for n in range(start, start + 3000)]))
    table = built.table
    assert table.delete("amount < 2 OR amount >= 3000 AND amount < 5000") is not None
    [entry] = index_files(table)
    counts = marked(table)
    assert sorted(counts.values()) == [2, 2000]
    assert table.compact() is not None
    [left] = index_files(table)
    assert left.file_name != entry.file_name
    assert marked(table) == {name: count for name, count in counts.items() if count == 2}
    amounts = sorted(python_values(table.scan().to_arrow()["amount"]))
    assert amounts == [*range(2, 3000), *range(5000, 6000)]


def test_rows_above_level_0_are_marked_when_their_keys_are_written_again() -> None:
    built = build_table(KEYED.with_options(WRITE_ONLY), [Step("write", range(3000))])
    table = built.table
    assert table.scan().count() == 0
    assert table.compact() is not None
    [(first, level)] = live_files(table).items()
    assert (level, marked(table)) == (2, {})
    for numbers, count in ([1, 2], 2), ([2, 700], 3), ([9], 4):
        built.table.upsert(built.arrow([built.shape.row(n, 9) for n in numbers]))
        assert table.compact("minor") is not None
        assert live_files(table)[first] == 2
        assert marked(table)[first] == count
        assert set(live_files(table).values()) == {1, 2}
        assert table.scan().count() == 3000
    table.delete("amount < 5.5")
    assert table.compact("minor") is not None
    rows = table.scan().to_arrow().to_pylist()
    assert len(rows) == len({row["id"] for row in rows}) == 3000 - 6
    assert len(index_files(table)) == 1
    assert table.compact() is not None
    assert set(live_files(table).values()) == {2}
    assert index_files(table) == []
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows(rows)


def test_a_full_compaction_rewrites_a_file_of_the_top_level_that_has_marks() -> None:
    built = build_table(KEYED.with_options(WRITE_ONLY), [Step("write", range(3000))])
    table = built.table
    table.compact()
    table.delete("amount = 7")
    table.compact("minor")
    assert set(live_files(table).values()) == {2}
    assert list(marked(table).values()) == [1]
    assert table.compact() is not None
    assert marked(table) == {}
    assert newest(table).total_record_count == 2999
    assert table.compact() is None


def test_a_large_new_file_rises_as_it_is_and_marks_what_it_replaces() -> None:
    options = {"compaction.small-file-ratio": "0", "num-sorted-run.compaction-trigger": "10"}
    built = build_table(KEYED.with_options(WRITE_ONLY | options), [Step("write", range(3000))])
    table = built.table
    table.compact()
    built.table.upsert(built.arrow([built.shape.row(n, 1) for n in range(500, 2500)]))
    [new] = [name for name, level in live_files(table).items() if level == 0]
    table.compact("minor")
    assert live_files(table)[new] == 1
    assert sum(marked(table).values()) == 2000
    assert new not in marked(table)
    rows = table.scan().to_arrow().to_pylist()
    assert len(rows) == len({row["id"] for row in rows}) == 3000
    assert sum(row["amount"] % 1 == 0.125 for row in rows) == 2000


def test_a_file_that_rises_keeps_its_marks() -> None:
    options = {"num-levels": "4", "compaction.small-file-ratio": "0"}
    built = build_table(
        KEYED.with_options(WRITE_ONLY | options), [Step("write", range(1000, 4000))]
    )
    table = built.table
    table.compact("minor")
    table.upsert(built.arrow([built.shape.row(number, 1) for number in range(400)]))
    table.compact("minor")
    table.delete("amount = 7.125")
    table.compact("minor")
    assert sorted(live_files(table).values()) == [2, 3]
    [(name, count)] = marked(table).items()
    assert (live_files(table)[name], count) == (2, 1)
    table.compact()
    assert set(live_files(table).values()) == {3}
    assert marked(table) == {name: 1}
    assert table.scan().count() == 3399


CONTRADICTIONS = [
    ({"merge-engine": "first-row"}, "contradicts merge-engine=first-row"),
    ({"changelog-producer": "full-compaction"}, "use none, input or lookup"),
]


@pytest.mark.parametrize(("options", "message"), CONTRADICTIONS)
def test_deletion_vectors_that_would_mark_nothing_or_too_late_are_refused(
    options: dict[str, str], message: str
) -> None:
    with pytest.raises(InvalidTableError, match=message):
        build_table(KEYED.with_options(options))


@pytest.mark.parametrize("name", ["append_dv", "pk_dv"])
def test_rows_of_a_table_that_the_real_writer_marked_are_marked_further(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / "db.db" / name
    shutil.copytree(DATABASE / name, path)
    table = load_table(str(path))
    rows = table.scan().to_arrow().to_pylist()
    before = marked(table)
    assert before
    table.delete("id < 12 OR id = 40")
    rows = [row for row in rows if row["id"] >= 12 and row["id"] != 40]
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows(rows)
    assert marked(table) != before
    table.compact()
    assert marked(table) == {}
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows(rows)


@pytest.mark.parametrize("on_table", [False, True], ids=["of a scan", "of the table"])
def test_rows_that_wait_for_a_compaction_are_merged_when_the_option_says_so(
    *, on_table: bool
) -> None:
    merging = {"deletion-vectors.merge-on-read": "true"}
    shape = KEYED.with_options(WRITE_ONLY | (merging if on_table else {}))
    built = build_table(shape, [Step("write", range(8))])
    built.table.compact()
    built.take(Step("write", range(4)))
    built.table.delete("amount = 7")
    built.table.update({"note": "'new'"}, "amount < 1")
    scan = built.table.scan(options={} if on_table else merging)
    rows = [{**row, "note": "new"} if row["id"] == -5 else row for row in built.rows]
    found = sorted_rows([row for row in rows if row["amount"] != 7])
    assert sorted_rows(scan.to_arrow()) == found
    assert scan.count() == 7
    hidden = built.table.scan()
    assert (sorted_rows(hidden.to_arrow()) == found) == on_table
    built.table.compact()
    assert sorted_rows(built.table.scan().to_arrow()) == found
