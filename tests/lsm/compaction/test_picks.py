"""Which runs of a bucket are picked, drawn; and what holds of every pick."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datadriven.script import check_script
from lakebed.lsm.compaction.full import pick_full
from lakebed.lsm.compaction.levels import Levels
from lakebed.lsm.compaction.pick import Cause, Pick, size_text
from lakebed.lsm.compaction.policy import CompactionPolicy, History
from lakebed.lsm.compaction.universal import OffPeakHours
from lakebed.options.compaction_options import CompactionOptions
from lsm.compaction.drawn_buckets import (
    HOUR_MS,
    data_file,
    draw_runs,
    names_of,
    told_files,
    told_options,
)

_NOW, _QUIET = "now", "quiet picks"


def drawn(levels: Levels, pick: Pick | None) -> list[str]:
    lines = draw_runs([(run.level, run.files) for run in levels.runs], pick.files if pick else ())
    if pick is None:
        return [*lines, "nothing"]
    each = ", file by file" if pick.file_by_file else ""
    return [*lines, f"to L{pick.output_level}{each}: {pick.why}"]


def pick(told: tuple[str, ...]) -> list[str]:
    given_options = told_options(told)
    now_ms = int(given_options.pop(_NOW, "0 h").removesuffix(" h")) * HOUR_MS
    history = History(quiet_picks=int(given_options.pop(_QUIET, "0")))
    options = CompactionOptions.parse(given_options)
    levels = Levels.of(told_files(told), count=options.level_count)
    policy = CompactionPolicy.of(options)
    return drawn(levels, policy.pick(levels, now_ms=now_ms, history=history))


def full(told: tuple[str, ...]) -> list[str]:
    given_options = told_options(told)
    expired, marked = names_of(given_options, "expired"), names_of(given_options, "marked")
    options = CompactionOptions.parse(
        {key: text for key, text in given_options.items() if key not in {"expired", "marked"}}
    )
    levels = Levels.of(told_files(told), count=options.level_count)
    found = pick_full(levels, rewrites_all=options.rewrites_all, expired=expired, marked=marked)
    return drawn(levels, found)


@pytest.mark.parametrize("name", ["universal", "early_full", "level_0", "full"])
def test_picks(name: str, request: pytest.FixtureRequest) -> None:
    rewrite = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name(f"{name}.txt")
    check_script(path, {"pick": pick, "full": full}, rewrite=rewrite)


RUNS = st.tuples(
    st.lists(st.integers(0, 40), max_size=8),
    st.dictionaries(st.integers(1, 5), st.integers(0, 200), max_size=5),
)
OPTIONS = st.fixed_dictionaries(
    {
        "num-sorted-run.compaction-trigger": st.integers(1, 6).map(str),
        "compaction.size-ratio": st.sampled_from(["0", "1", "50"]),
        "compaction.max-size-amplification-percent": st.sampled_from(["0", "30", "200"]),
        "compaction.force-up-level-0": st.sampled_from(["true", "false"]),
    },
    optional={
        "compaction.optimization-interval": st.just("1 h"),
        "compaction.total-size-threshold": st.integers(0, 100).map(str),
        "compaction.incremental-size-threshold": st.integers(0, 100).map(str),
        "num-levels": st.integers(2, 7).map(str),
    },
)


@given(RUNS, OPTIONS, st.integers(0, 100))
def test_a_pick_is_a_prefix_of_the_runs_and_its_output_stands_above_what_is_left(
    shape: tuple[list[int], dict[int, int]], given_options: dict[str, str], hour: int
) -> None:
    files = [
        data_file(f"new-{place}", size=size, sequence=100 - place)
        for place, size in enumerate(shape[0])
    ]
    files += [data_file(f"L{level}", size=size, level=level) for level, size in shape[1].items()]
    options = CompactionOptions.parse(given_options)
    levels = Levels.of(files, count=options.level_count)
    assert sorted(file.file_name for run in levels.runs for file in run.files) == sorted(
        file.file_name for file in files
    )
    found = CompactionPolicy.of(options).pick(levels, now_ms=hour * HOUR_MS)
    if found is None:
        assert not (options.forces_level_0 and shape[0])
        return
    ordered = [file for run in levels.runs for file in run.files]
    assert list(found.files) == ordered[: len(found.files)], "the newest, without a gap"
    left = ordered[len(found.files) :]
    assert 0 < found.output_level <= levels.max_level
    assert all(file.level > found.output_level for file in left)
    assert found.is_full == (not left)
    assert len(found.files) > 1 or found.files[0].level < found.output_level, "something changes"
    assert found.why


def test_level_0_is_in_the_order_of_age_and_ties_have_one_order() -> None:
    oldest = data_file("a", size=1, sequence=3)
    alike = data_file("d", size=1, sequence=7)
    starts_before = replace(alike, file_name="e", min_sequence_number=5)
    made_later = replace(alike, file_name="b", creation_time=1)
    named_after = replace(alike, file_name="f")
    newest = data_file("c", size=1, sequence=9)
    expected = [newest, starts_before, alike, named_after, made_later, oldest]
    for order in permutations(expected):
        found = Levels.of(order, count=3).runs
        assert [run.files for run in found] == [(file,) for file in expected]


def test_a_file_above_the_levels_of_the_options_makes_more_levels() -> None:
    levels = Levels.of([data_file("a", size=1, level=7)], count=3)
    assert (levels.count, levels.max_level, levels.highest) == (8, 7, 7)
    assert Levels.of([], count=3).highest == 0


@pytest.mark.parametrize(
    ("start", "end", "hours"),
    [
        (2, 5, {2, 3, 4}),
        (22, 2, {22, 23, 0, 1}),
        (0, 24, set(range(24))),
        (-1, 5, set()),
        (5, -1, set()),
        (4, 4, set()),
    ],
)
def test_off_peak_hours_end_before_their_end_and_may_go_over_midnight(
    start: int, end: int, hours: set[int]
) -> None:
    off_peak = OffPeakHours(start=start, end=end, ratio=9)
    assert {hour for hour in range(24) if off_peak.ratio_at(hour) == 9} == hours


def test_a_writer_remembers_its_full_compaction_and_counts_quiet_picks() -> None:
    options = {
        "num-sorted-run.compaction-trigger": "3",
        "changelog-producer": "lookup",
        "lookup-compact": "gentle",
        "lookup-compact.max-interval": "3",
    }
    policy = CompactionPolicy.of(CompactionOptions.parse(options))
    levels = Levels.of([data_file("new", size=1), data_file("old", size=9, level=3)], count=4)
    history, picks = History(), []
    for now_ms in range(7):
        found = policy.pick(levels, now_ms=now_ms, history=history)
        picks.append(found.cause if found else None)
        history = history.after(found, now_ms=now_ms)
    assert picks == [None, None, Cause.LEVEL_0] * 2 + [None]
    assert history == History(last_full_ms=None, quiet_picks=7)
    whole = pick_full(levels)
    assert history.after(whole, now_ms=9) == History(last_full_ms=9, quiet_picks=7)


def test_what_the_writer_remembers_counts_more_than_the_age_of_files() -> None:
    options = CompactionOptions.parse({"compaction.optimization-interval": "1 h"})
    policy = CompactionPolicy.of(options)
    old = data_file("old", size=9, level=5, made_ms=0)
    levels = Levels.of([data_file("new", size=1), old], count=6)
    found = policy.pick(levels, now_ms=2 * HOUR_MS)
    assert found is not None
    assert found.cause is Cause.INTERVAL
    remembered = History(last_full_ms=HOUR_MS)
    assert policy.pick(levels, now_ms=2 * HOUR_MS, history=remembered) is None


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (1000, "1000 B"),
        (1023, "1023 B"),
        (1536, "1.5 KB"),
        (1010 << 10, "1010 KB"),
        (1 << 20, "1 MB"),
        (128_456_789, "123 MB"),
        (5 << 40, "5 TB"),
        (5000 << 40, "5000 TB"),
    ],
)
def test_sizes_are_told_to_people(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text
