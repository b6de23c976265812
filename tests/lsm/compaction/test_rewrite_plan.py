"""How the files of a pick get to its output level, drawn."""

import re
from itertools import chain, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datadriven.script import check_script
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.lsm.compaction.full import pick_full
from lakebed.lsm.compaction.levels import Levels
from lakebed.lsm.compaction.pick import Cause, Pick
from lakebed.lsm.compaction.rewrite_plan import Rewrite, RewritePlan, RewriteRules, plan_rewrite
from lakebed.options.compaction_options import CompactionOptions
from lakebed.options.merge_options import MergeOptions
from lakebed.options.table_options import TableOptions
from lsm.compaction.drawn_buckets import data_file, names_of, told_options

_FILE = re.compile(
    r"(?P<name>\w+) \[(?P<low>\d+),(?P<high>\d+)\] L(?P<level>\d) (?P<size>\d+)"
    r"(?P<deletes> with deletes| with unknown deletes)?"
)
_DELETES = {None: 0, " with deletes": 7, " with unknown deletes": None}
_PSEUDO = ("output", "left", "expired", "marked")
_WIDTH = 26
Ranks = dict[str, tuple[int, int]]


def rules_of(options: dict[str, str]) -> RewriteRules:
    table = TableOptions.parse(options, has_primary_key=True)
    return RewriteRules.of(table, MergeOptions.parse(options), CompactionOptions.parse(options))


def parse_file(line: str) -> tuple[DataFileMeta, tuple[int, int]]:
    found = _FILE.fullmatch(line)
    assert found is not None, line
    file = data_file(
        found["name"],
        size=int(found["size"]),
        level=int(found["level"]),
        deletes=_DELETES[found["deletes"]],
    )
    return file, (int(found["low"]), int(found["high"]))


def rewrite(told: tuple[str, ...]) -> list[str]:
    options = told_options(told)
    parsed = [parse_file(line) for line in told if " = " not in line]
    files = [file for file, _ in parsed]
    ranks = {file.file_name: span for file, span in parsed}
    left, expired = names_of(options, "left"), names_of(options, "expired")
    own = {key: text for key, text in options.items() if key not in _PSEUDO}
    rules = rules_of(own)
    levels = Levels.of(files, count=CompactionOptions.parse(own).level_count)
    found: Pick | None = Pick(
        files=tuple(file for file in files if file.file_name not in left),
        output_level=int(options.get("output", levels.max_level)),
        is_full=not left,
        cause=Cause.REQUEST,
        why="",
    )
    if "output" not in options:
        marked = names_of(options, "marked")
        found = pick_full(levels, rewrites_all=rules.rewrites_all, expired=expired, marked=marked)
    assert found is not None
    return draw_plan(planned(found, levels, rules, ranks=ranks, expired=expired), ranks)


def planned(
    pick: Pick,
    levels: Levels,
    rules: RewriteRules,
    *,
    ranks: Ranks,
    expired: tuple[str, ...] = (),
) -> RewritePlan:
    spans = [ranks[file.file_name] for file in pick.files]
    return plan_rewrite(
        pick,
        levels,
        rules,
        low_ranks=[low for low, _ in spans],
        high_ranks=[high for _, high in spans],
        expired=expired,
    )


def draw_plan(plan: RewritePlan, ranks: Ranks) -> list[str]:
    lines = []
    for step in plan.steps:
        tracks = ", tracked" if step.tracks_changes else ""
        lines.append(f"{type(step).__name__.lower()}{tracks}")
        sections = step.sections if isinstance(step, Rewrite) else (((step.file,),),)
        for run in chain.from_iterable(sections):
            bars = ""
            for file in run:
                low, high = ranks[file.file_name]
                bars = bars.ljust(low) + ("|" if low == high else f"|{'-' * (high - low - 1)}|")
            names = " ".join(f"{file.file_name}/L{file.level}" for file in run)
            lines.append(f"  {bars:<{_WIDTH}} {names}")
    deletes = "dropped" if plan.drops_deletes else "kept"
    size = f"{plan.rewritten_bytes} bytes rewritten, {plan.upgraded_bytes} upgraded"
    return [*lines, f"to L{plan.output_level}, deletes {deletes}, {size}"]


def test_rewrites(request: pytest.FixtureRequest) -> None:
    is_rewritten = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name("rewrite_plan.txt")
    check_script(path, {"rewrite": rewrite}, rewrite=is_rewritten)


FILES = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.integers(0, 6),
        st.integers(1, 200),
        st.sampled_from([None, 0, 3]),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=10,
)
TABLES = st.sampled_from(
    [
        {},
        {"changelog-producer": "lookup"},
        {"changelog-producer": "lookup", "merge-engine": "aggregation"},
        {"changelog-producer": "full-compaction"},
        {"deletion-vectors.enabled": "true"},
        {"merge-engine": "first-row"},
        {"compaction.force-rewrite-all-files": "true"},
    ]
)


@given(FILES, TABLES)
def test_files_that_share_keys_are_merged_and_each_file_has_one_fate(
    shapes: list[tuple[int, int, int, int | None, int]], options: dict[str, str]
) -> None:
    rules = rules_of({"target-file-size": "100 b", **options})
    files, ranks = [], {}
    for place, (low, length, size, deletes, level) in enumerate(shapes):
        name = f"f{place}"
        files.append(data_file(name, size=size, deletes=deletes, level=level * 2, sequence=place))
        ranks[name] = (low, low + length)
    levels = Levels.of(files, count=7)
    pick = pick_full(levels)
    if pick is None:
        return
    plan = planned(pick, levels, rules, ranks=ranks)
    assert plan.drops_deletes
    fates: dict[str, int] = {}
    for number, step in enumerate(plan.steps):
        read = step.files if isinstance(step, Rewrite) else [step.file]
        for file in read:
            assert file.file_name not in fates, "no file twice"
            fates[file.file_name] = number
        if not isinstance(step, Rewrite):
            assert step.file.delete_row_count == 0, "at the max level there are no -D rows"
            assert step.file.level != plan.output_level
    for file in files:
        low, high = ranks[file.file_name]
        others = [
            other
            for other in files
            if other is not file
            and ranks[other.file_name][0] <= high
            and low <= ranks[other.file_name][1]
        ]
        fate = fates.get(file.file_name)
        assert all(fates.get(other.file_name) == fate for other in others), "merged together"
        if fate is None:
            assert not others
            assert file.level == plan.output_level
            assert file.delete_row_count == 0
        elif others:
            assert isinstance(plan.steps[fate], Rewrite)
    reaches = [
        [
            ranks[file.file_name]
            for file in (step.files if isinstance(step, Rewrite) else [step.file])
        ]
        for step in plan.steps
    ]
    for before, after in pairwise(reaches):
        assert max(high for _, high in before) < min(low for low, _ in after), "in key order"
