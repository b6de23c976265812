"""Which files of an append table are clustered, drawn; and what holds of every pick."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datadriven.script import check_script
from lakebed.lsm.clustering.incremental import IncrementalClustering, cut
from lakebed.lsm.compaction.append import DeletedRows
from lakebed.lsm.compaction.levels import Levels
from lakebed.lsm.compaction.pick import Pick
from lakebed.options.compaction_options import CompactionOptions
from lsm.compaction.drawn_buckets import data_file, draw_runs, told_files, told_options

_SORTED_BY, _TASK, _COST, _INDEX = "sorted by", "task", "cost", "index "
_TODAY = ("a",)


def policy_of(options: dict[str, str]) -> IncrementalClustering:
    return IncrementalClustering.of(_TODAY, CompactionOptions.parse(options))


def drawn(levels: Levels, pick: Pick | None) -> list[str]:
    lines = draw_runs([(run.level, run.files) for run in levels.runs], pick.files if pick else ())
    return [*lines, "nothing" if pick is None else f"to L{pick.output_level}: {pick.why}"]


def pick(told: tuple[str, ...]) -> list[str]:
    policy = policy_of(told_options(told))
    levels = policy.levels(told_files(told))
    return drawn(levels, policy.pick(levels))


def full(told: tuple[str, ...]) -> list[str]:
    options = told_options(told)
    columns = (options.pop(_SORTED_BY, *_TODAY),)
    policy = policy_of(options)
    levels = policy.levels(told_files(told))
    return drawn(levels, policy.pick_full(levels, columns_then={0: columns}))


def cut_whole(told: tuple[str, ...]) -> list[str]:
    """A full pick, cut: the sizes of the files of each task."""
    options = told_options(told)
    deleted = {
        name: DeletedRows(index_file=key, row_count=1)
        for key in list(options)
        if key.startswith(_INDEX)
        for name in options.pop(key).split()
    }
    size, cost = int(options.pop(_TASK)), int(options.pop(_COST, "0"))
    policy = policy_of(options)
    whole = policy.pick_full(policy.levels(told_files(told)), columns_then={})
    assert whole is not None
    tasks = cut(whole, deleted=deleted, task_size=size, open_file_cost=cost)
    return [
        " + ".join(f"{file.file_name} {file.file_size}" for file in task.files)
        + f" to L{task.output_level}"
        for task in tasks
    ]


def test_picks(request: pytest.FixtureRequest) -> None:
    rewrite = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name("incremental.txt")
    check_script(path, {"pick": pick, "full": full, "cut": cut_whole}, rewrite=rewrite)


def test_files_of_level_0_stand_as_they_come() -> None:
    files = [data_file(name, size=1, sequence=number) for name, number in (("b", 1), ("a", 9))]
    runs = policy_of({}).levels(files).runs
    assert [file.file_name for run in runs for file in run.files] == ["b", "a"]


def test_one_file_of_other_columns_has_all_clustered_again() -> None:
    policy = policy_of({"num-levels": "3"})
    old, new = (data_file(name, size=1, level=2) for name in "on")
    levels = policy.levels([old, replace(new, schema_id=1)])
    assert policy.pick_full(levels, columns_then={0: _TODAY, 1: _TODAY}) is None
    found = policy.pick_full(levels, columns_then={0: ("a", "b"), 1: _TODAY})
    assert found is not None
    assert len(found.files) == 2


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 200)), max_size=12),
    st.fixed_dictionaries(
        {
            "num-sorted-run.compaction-trigger": st.integers(1, 6).map(str),
            "compaction.size-ratio": st.sampled_from(["0", "1", "50"]),
            "compaction.max-size-amplification-percent": st.sampled_from(["0", "30", "200"]),
        }
    ),
)
def test_a_pick_takes_whole_levels_so_that_a_level_is_sorted_together(
    shape: list[tuple[int, int]], options: dict[str, str]
) -> None:
    files = [
        data_file(f"f{place}", size=size, level=level) for place, (level, size) in enumerate(shape)
    ]
    policy = policy_of(options)
    levels = policy.levels(files)
    for found in (policy.pick(levels), policy.pick_full(levels, columns_then={0: _TODAY})):
        if found is None:
            continue
        left = {file.level for file in files if file not in found.files}
        assert 0 < found.output_level <= levels.max_level
        assert found.output_level not in left
        assert not left & {file.level for file in found.files if file.level > 0}


@given(
    st.lists(st.tuples(st.integers(0, 50), st.sampled_from([None, "i", "j"])), min_size=1),
    st.integers(0, 60),
)
def test_tasks_are_the_pick_and_share_no_index_file(
    shape: list[tuple[int, str | None]], task_size: int
) -> None:
    files = [data_file(f"f{place}", size=size) for place, (size, _) in enumerate(shape)]
    deleted = {
        f"f{place}": DeletedRows(index_file=index, row_count=None)
        for place, (_, index) in enumerate(shape)
        if index is not None
    }
    policy = policy_of({})
    whole = policy.pick_full(policy.levels(files), columns_then={})
    assert whole is not None
    tasks = cut(whole, deleted=deleted, task_size=task_size, open_file_cost=1)
    names = [[file.file_name for file in task.files] for task in tasks]
    assert all(names)
    assert sorted(name for task in names for name in task) == sorted(
        file.file_name for file in files
    )
    for index in ("i", "j"):
        own = {name for name, rows in deleted.items() if rows.index_file == index}
        assert sum(not own.isdisjoint(task) for task in names) <= 1
