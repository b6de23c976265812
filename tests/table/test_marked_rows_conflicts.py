"""Deletion vectors when others write, the store fails or files are damaged: no row is lost."""

from collections.abc import Callable

import pytest

from lakebed.errors import CommitConflictError, CorruptTableError, StorageError
from lakebed.table.compaction.job import CompactionJob
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.effects import reopen
from support.faulty_file_io import FaultyFileIO
from support.index_files import unnamed_files
from support.marked_tables import (
    BUCKETED,
    KEYED,
    UNAWARE,
    VECTORS,
    WRITE_ONLY,
    index_files,
    marked,
)
from support.scripted_file_io import ScriptedFileIO, meanwhile
from support.store_listing import read_store
from support.table_builder import Shape, Step, build_table, sorted_rows

PARTITIONED = Shape(has_primary_key=False, buckets=-1, is_partitioned=True).with_options(VECTORS)

Act = Callable[[Table], object]


def delete_of(number: int) -> Act:
    return lambda table: table.delete(f"amount = {number}")


def update_of(number: int) -> Act:
    return lambda table: table.update({"note": "'new'"}, f"amount = {number}")


def compact(table: Table) -> object:
    return table.compact()


RIVALS: dict[str, tuple[Act, Act]] = {
    "two deletes of one row": (delete_of(1), delete_of(1)),
    "two deletes in one file": (delete_of(1), delete_of(2)),
    "a delete of the last rows and one of others": (delete_of(1), lambda t: t.delete("amount < 4")),
    "a delete, and a compaction of its file": (delete_of(1), compact),
    "a compaction, and a delete in its file": (compact, delete_of(1)),
    "two compactions": (compact, compact),
    "two updates of one row": (update_of(1), update_of(1)),
    "two updates in one file": (update_of(1), update_of(2)),
    "an update, and a delete of its row": (update_of(1), delete_of(1)),
    "a delete, and an update of its row": (delete_of(1), update_of(1)),
    "an update, and a compaction of its file": (update_of(1), compact),
    "a compaction, and an update in its file": (compact, update_of(1)),
    "a delete, and an overwrite": (delete_of(1), lambda table: table.truncate()),
}


@pytest.mark.parametrize("shape", [UNAWARE, BUCKETED], ids=["unaware", "bucketed"])
@pytest.mark.parametrize("has_vectors", [False, True], ids=["no vectors yet", "vectors"])
@pytest.mark.parametrize("name", RIVALS)
def test_of_two_that_change_the_rows_of_one_file_the_second_conflicts(
    name: str, shape: Shape, *, has_vectors: bool
) -> None:
    ours, theirs = RIVALS[name]
    shape = shape.with_options(WRITE_ONLY | {"compaction.min.file-num": "2"})
    built = build_table(shape, [Step("write", range(n, n + 4)) for n in range(0, 12, 4)])
    if has_vectors:
        built.take(Step("delete", [3]))
    store = ScriptedFileIO(built.file_io, [meanwhile(lambda: theirs(built.table))])
    with pytest.raises(CommitConflictError):
        ours(reopen(built.table, store, seed=7))
    expected = build_table(shape, [Step("write", range(n, n + 4)) for n in range(0, 12, 4)])
    if has_vectors:
        expected.take(Step("delete", [3]))
    theirs(expected.table)
    assert store.puts == 1
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(
        expected.table.scan().to_arrow()
    )
    assert unnamed_files(built.table, built.file_io) == set()


def test_deletes_in_files_of_several_index_files_both_succeed() -> None:
    built = build_table(UNAWARE, [Step("write", range(4)), Step("write", range(4, 8))])
    others = [meanwhile(lambda: built.table.delete("amount = 5.125"))]
    table = reopen(built.table, ScriptedFileIO(built.file_io, others), seed=7)
    assert table.delete("amount = 1") is not None
    assert sorted(marked(built.table).values()) == [1, 1]
    assert built.table.scan().count() == 6


@pytest.mark.parametrize("first", ["marks", "rewrites"])
def test_a_file_is_not_marked_by_one_compaction_and_rewritten_by_another(first: str) -> None:
    options = WRITE_ONLY | {"compaction.force-rewrite-all-files": "true"}
    built = build_table(KEYED.with_options(options), [Step("write", range(3000))])
    table = built.table
    table.compact()
    everything = EveryPartition()
    rewrites = CompactionJob.of(table.parts(), everything, is_full=True)
    table.upsert(built.arrow([built.shape.row(9, 1)]))
    marks = CompactionJob.of(table.parts(), everything, is_full=False)
    jobs = [marks, rewrites] if first == "marks" else [rewrites, marks]
    messages = [job.run() for job in jobs]
    assert jobs[0].commit(messages[0]) is not None
    with pytest.raises(CommitConflictError, match=r"this commit deletes|would return"):
        jobs[1].commit(messages[1])
    table.compact("minor")
    rows = table.scan().to_arrow().to_pylist()
    assert len(rows) == len({row["id"] for row in rows}) == 3000
    assert built.shape.row(9, 1) in rows
    assert unnamed_files(table, built.file_io) == set()


@pytest.mark.parametrize(
    "shape", [PARTITIONED, BUCKETED, KEYED], ids=["unaware-dt", "bucketed", "keyed"]
)
def test_a_store_that_fails_leaves_the_table_as_it_was(shape: Shape) -> None:
    for fail_at in range(1, 999):
        built = build_table(
            shape.with_options(WRITE_ONLY), [Step("write", range(n, n + 9)) for n in (0, 9)]
        )
        if shape is KEYED:
            built.table.compact()
            built.table.upsert(built.arrow([built.shape.row(3, 1)]))
        before = read_store(built.file_io, built.table.location)
        faulty = FaultyFileIO(built.file_io, fail_at)
        table = reopen(built.table, faulty, seed=7)
        try:
            if shape is KEYED:
                table.compact("minor")
            else:
                table.delete("amount IN (1, 11.125)")
        except StorageError:
            assert read_store(built.file_io, built.table.location) == before, faulty.failed_call
        else:
            assert len(marked(built.table)) == (1 if shape is KEYED else 2)
            assert fail_at > 5
            return


def test_a_damaged_index_file_stops_a_delete_that_would_carry_its_vectors_on() -> None:
    built = build_table(UNAWARE, [Step("write", range(4)), Step("write", range(4, 8))])
    table = built.table
    table.delete("amount IN (1, 5.125)")
    [entry] = index_files(table)
    path = table.parts().index_paths.of(entry)
    data = built.file_io.read(path)
    ranges = {each.data_file_name: each for each in entry.deletion_vectors_ranges or ()}
    names = sorted(ranges, key=lambda name: ranges[name].offset)
    # The last byte is of the second vector's checksum.
    built.file_io.write(path, data[:-1] + bytes([data[-1] ^ 1]))
    before = read_store(built.file_io, table.location)
    for condition in ("amount < 4", "amount >= 4"):
        with pytest.raises(CorruptTableError, match=f"{names[1]}: its checksum does not match"):
            table.delete(f"({condition}) AND amount <> 3 AND amount <> 7.125")
    assert read_store(built.file_io, table.location) == before
