"""Each step of planning drops what it should, and says so."""

import pickle

import pytest

from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.reading.scan import Scan
from support.effects import open_catalog
from support.table_builder import BuiltTable, Shape, Step, build_table, sorted_rows

# Rows of three partitions in three commits, whose keys do not meet: 0-8, 9-17, 18-26.
COMMITS = tuple(Step("write", range(start, start + 9)) for start in (0, 9, 18))
KEYED = Shape(buckets=1, is_partitioned=True)
BUCKETED = Shape(buckets=4)
UNAWARE = Shape(has_primary_key=False, buckets=-1, is_partitioned=True)


def steps(scan: Scan) -> dict[str, tuple[int, int]]:
    return {step.name: (step.kept, step.total) for step in scan.plan().steps}


def files_of(scan: Scan) -> int:
    return sum(len(split.files) for split in scan.plan().splits)


def test_no_condition_drops_nothing() -> None:
    built = build_table(KEYED, COMMITS)
    scan = built.table.scan()
    assert steps(scan) == {"manifests": (3, 3), "partitions": (9, 9), "live": (9, 9)}
    assert files_of(scan) == 9


@pytest.mark.parametrize("shape", [KEYED, UNAWARE], ids=str)
def test_a_partition_condition_keeps_that_partition_exactly(shape: Shape) -> None:
    built = build_table(shape, COMMITS)
    scan = built.table.scan(where="dt = '2026-01-02' AND amount >= 0")
    assert steps(scan)["partitions"] == (3, 9)
    assert {split.partition for split in scan.plan().splits} == {("2026-01-02",)}
    nothing = built.table.scan(where="dt > '2027'")
    assert nothing.plan().splits == ()
    assert steps(nothing)["manifests"] == (0, 3)


def test_manifests_without_the_partition_are_not_opened() -> None:
    numbers = ([0, 3], [1, 4], [2, 5])
    built = build_table(UNAWARE, [Step("write", each) for each in numbers])
    scan = built.table.scan(where="dt = '2026-01-02'")
    assert steps(scan)["manifests"] == (1, 3)
    assert steps(scan)["partitions"] == (1, 1)
    assert scan.count() == 2


def test_equality_on_the_key_keeps_one_bucket_of_each_commit() -> None:
    built = build_table(BUCKETED, [Step("write", range(64)), Step("write", range(64, 128))])
    scan = built.table.scan(where="id = 3")
    assert steps(scan)["buckets"] == (2, 8)
    assert len({split.bucket for split in scan.plan().splits}) == 1
    assert steps(scan)["keys"] == (1, 2)
    assert files_of(scan) == 1
    both = built.table.scan(where="id IN (3, 4, 5, 6, 7, 8, 9, 10) OR id = 11")
    assert steps(both)["buckets"][0] > 2
    assert both.count() == 9


def test_a_range_of_keys_keeps_the_files_that_it_meets() -> None:
    built = build_table(KEYED, COMMITS)
    scan = built.table.scan(where="id >= 13")
    assert steps(scan)["keys"] == (3, 9)
    assert scan.count() == 9
    assert built.table.scan(where="id > 100").plan().splits == ()


def test_values_drop_files_of_an_append_table() -> None:
    built = build_table(UNAWARE, COMMITS)
    scan = built.table.scan(where="amount < 5")
    assert steps(scan)["values"] == (3, 9)
    assert files_of(scan) == 3
    assert steps(built.table.scan(where="note IS NULL AND amount < 1"))["values"] == (1, 9)


def test_values_drop_a_file_of_keys_only_where_no_other_overlaps_it() -> None:
    apart = build_table(KEYED, COMMITS)
    assert steps(apart.table.scan(where="amount < 5"))["values"] == (3, 9)
    over = build_table(KEYED, [Step("write", range(9)), Step("write", range(9))])
    scan = over.table.scan(where="amount = 3")
    assert steps(scan)["values"] == (6, 6)
    assert scan.count() == 0
    assert over.table.scan(where="amount = 3.125").count() == 1


def test_deleted_files_are_counted_and_dropped() -> None:
    built = build_table(UNAWARE, [*COMMITS, Step("overwrite", range(9))])
    scan = built.table.scan()
    assert steps(scan)["partitions"] == (21, 21)
    assert steps(scan)["live"] == (3, 21)


def test_keys_that_do_not_meet_need_no_merge() -> None:
    apart = build_table(KEYED, COMMITS)
    assert all(split.is_raw for split in apart.table.scan().plan().splits)
    over = build_table(KEYED, [Step("write", range(9)), Step("write", range(9))])
    splits = over.table.scan().plan().splits
    assert not any(split.is_raw for split in splits)
    assert all(len(split.sections[0].runs) == 2 for split in splits)


def test_a_file_with_delete_rows_needs_a_merge_though_it_is_alone() -> None:
    built = build_table(Shape(buckets=1), [Step("write", range(4)), Step("delete", (1,))])
    assert [split.is_raw for split in built.table.scan().plan().splits] == [False]
    built.table.overwrite(built.arrow(built.rows))
    built.table.upsert(built.arrow(built.rows).append_column("_row_kind", [["+I", "-D", "+I"]]))
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows([built.rows[0], built.rows[2]])


def test_raw_and_merging_sections_of_a_bucket_are_apart() -> None:
    built = build_table(
        Shape(buckets=1), [Step("write", range(4)), Step("write", (1,)), Step("write", (30,))]
    )
    splits = built.table.scan().plan().splits
    assert sorted((split.is_raw, len(split.files)) for split in splits) == [(False, 2), (True, 1)]
    assert built.table.scan().count() == 5


def test_splits_are_packed_to_their_target_size() -> None:
    big = build_table(Shape(has_primary_key=False, buckets=-1), COMMITS)
    assert [len(split.files) for split in big.table.scan().plan().splits] == [3]
    sizes = {"source.split.target-size": "1 b", "source.split.open-file-cost": "1 b"}
    small = big.table.scan(options=sizes)
    assert [len(split.files) for split in small.plan().splits] == [1, 1, 1]
    cost = big.table.scan(
        options={"source.split.target-size": "9 mb", "source.split.open-file-cost": "4 mb"}
    )
    assert [len(split.files) for split in cost.plan().splits] == [2, 1]
    assert small.count() == cost.count() == 27


def test_splits_say_what_they_will_read() -> None:
    built = build_table(UNAWARE, COMMITS)
    for split in built.table.scan().plan().splits:
        assert split.row_count == sum(file.row_count for file in split.files)
        sizes = [built.file_io.size(path) for path in split.file_paths]
        assert split.size_bytes == sum(sizes)


def test_explain_names_each_step_and_what_is_read() -> None:
    built = build_table(KEYED, COMMITS)
    text = built.table.scan(where="dt = '2026-01-02' AND id > 13").explain()
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[:-1] == [
        "snapshot 3",
        "manifests kept 3 of 3",
        "partitions kept 3 of 9",
        "buckets kept 3 of 3",
        "keys kept 1 of 3",
        "live kept 1 of 1",
        "values kept 1 of 1",
        "indexes kept 1 of 1",
    ]
    assert lines[-1].startswith("reads 1 files, ")
    assert lines[-1].endswith(" bytes in 1 splits, 0 with a merge")


def test_planning_twice_gives_the_same_splits() -> None:
    built = build_table(BUCKETED, COMMITS)
    scan = built.table.scan(where="amount > 3")
    assert scan.plan().splits == scan.plan().splits


def test_pruning_never_drops_a_row_of_the_answer(shape_and_rows: BuiltTable) -> None:
    built = shape_and_rows
    for low in range(0, 27, 5):
        answers = {
            f"id BETWEEN {low - 5} AND {low - 2}": range(low, low + 4),
            f"amount >= {low} AND amount < {low + 2}": range(low, low + 2),
            f"id = {low - 5} OR note = 'never'": range(low, low + 1),
        }
        for where, numbers in answers.items():
            keys = {number - 5 for number in numbers}
            wanted = [row for row in built.rows if row["id"] in keys]
            assert sorted_rows(built.table.scan(where=where).to_arrow()) == sorted_rows(wanted), (
                where
            )


@pytest.fixture(params=[KEYED, BUCKETED, UNAWARE], ids=str)
def shape_and_rows(request: pytest.FixtureRequest) -> BuiltTable:
    over = (Step("write", range(20)), Step("write", range(10, 27)), Step("delete", (12, 26)))
    return build_table(request.param, over)


def test_a_section_goes_as_a_whole_where_no_file_of_it_matches() -> None:
    over = build_table(KEYED, [Step("write", range(9)), Step("write", range(9))])
    scan = over.table.scan(where="amount < -1")
    assert steps(scan)["values"] == (0, 6)
    assert scan.plan().splits == ()


def test_a_planned_split_is_what_it_is_pickled_to() -> None:
    built = build_table(BUCKETED, [*COMMITS, Step("write", range(5, 12)), Step("delete", (3,))])
    splits = built.table.scan().plan().splits
    assert any(len(split.sections[0].runs) > 1 for split in splits)
    for split in splits:
        copy = pickle.loads(pickle.dumps(split))
        assert copy == split
        assert isinstance(copy.sections, tuple)
        counts = split.file_count, split.row_count, split.size_bytes, len(split.sections)
        assert counts == (copy.file_count, copy.row_count, copy.size_bytes, len(copy.sections))
        assert hash(copy.sections) == hash(split.sections)


def test_a_pickled_split_carries_its_own_files_only() -> None:
    splits = build_table(Shape(buckets=16, is_partitioned=True), COMMITS).table.scan().plan().splits
    assert len(splits) > 16
    for split in splits:
        foreign = {path for other in splits for path in other.file_paths} - set(split.file_paths)
        carried = pickle.dumps(split)
        assert not any(path.rsplit("/", 1)[-1].encode() in carried for path in foreign)


def test_entries_chosen_otherwise_are_planned_like_those_of_a_snapshot() -> None:
    built = build_table(KEYED, [*COMMITS, Step("write", range(5))])
    parts = built.table.parts()
    snapshot = parts.snapshots.latest()
    assert snapshot is not None
    scan = built.table.scan(where="dt = '2026-01-02' AND id >= 2")
    live = parts.manifests.live(snapshot, partitions=EveryPartition())
    splits, told = scan.planner.plan_entries(live, scan.reader.predicate)
    assert tuple(splits) == tuple(scan.plan().splits)
    assert [step.name for step in told] == ["partitions", "buckets", "keys", "values", "indexes"]


@pytest.mark.parametrize("threads", ["1", "3"])
def test_threads_change_no_plan(threads: str) -> None:
    built = build_table(BUCKETED, [*COMMITS, Step("overwrite", range(9)), *COMMITS])
    catalog = open_catalog(built.file_io, options={"lakebed.read.threads": threads})
    table = catalog.load_table("db.t")
    assert tuple(table.scan().plan().splits) == tuple(built.table.scan().plan().splits)
    assert sorted_rows(table.scan().to_arrow()) == sorted_rows(built.rows)
