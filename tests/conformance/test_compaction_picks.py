"""What the real Paimon 1.4.2 compacts of a bucket, and how, against what Lakebed would.

Its own policies and tasks run over thousands of buckets that are drawn by lot
(`tools/referee/CompactionPicks.java`). One rule is younger than it: once there is something to
compact, what is left of level 1 and below joins whatever its size, and counts for the size ratio
(Paimon 2.1; before, level 0 and the next run joined at the end). Picks that it may have changed are
left out here and drawn in `tests/lsm/compaction/universal.txt`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.lsm.clustering.incremental import IncrementalClustering
from lakebed.lsm.compaction.append import AppendCompaction, DeletedRows
from lakebed.lsm.compaction.full import pick_full
from lakebed.lsm.compaction.levels import Levels
from lakebed.lsm.compaction.pick import Cause, Pick
from lakebed.lsm.compaction.policy import CompactionPolicy, History
from lakebed.lsm.compaction.rewrite_plan import Rewrite, RewritePlan, RewriteRules, plan_rewrite
from lakebed.options.compaction_options import CompactionOptions
from lakebed.options.merge_options import MergeOptions
from lakebed.options.table_options import TableOptions
from lsm.compaction.drawn_buckets import HOUR_MS, data_file
from support.golden_manifests import DATABASE
from tools.peers.java import REFEREE
from tools.peers.process import JsonProcess

pytestmark = pytest.mark.peers

CASE_COUNT = 3000
NOW_MS = 240 * HOUR_MS
KEYS = 60
Answer = dict[str, Any]


@pytest.fixture(scope="module")
def referee() -> Iterator[JsonProcess]:
    with JsonProcess("the referee", REFEREE.command(), environment={}) as process:
        yield process


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCase:
    """A bucket, the options of its table, and what is asked.

    Attributes:
        options: The options.
        files: Its files, each with its smallest and greatest key.
        full: Whether a full compaction is asked for.
        compacted: Whether there has just been one.
        marked: Names of files that have a deletion vector.
    """

    options: dict[str, str]
    files: list[tuple[DataFileMeta, int, int]]
    full: bool
    compacted: bool
    marked: list[str]

    def asked(self, kind: str) -> dict[str, object]:
        """The question to the referee."""
        return {
            "kind": kind,
            "options": self.options,
            "files": [
                [
                    *(file.file_name, file.level, file.file_size, low, high),
                    *(file.max_sequence_number, file.delete_row_count),
                ]
                for file, low, high in self.files
            ],
            "full": self.full,
            "compacted": self.compacted,
            "marked": self.marked,
        }


def draw_options(lot: Random) -> dict[str, str]:
    options = {
        "target-file-size": "100 b",
        "num-sorted-run.compaction-trigger": str(lot.randint(1, 6)),
        "compaction.size-ratio": lot.choice(["0", "1", "30"]),
        "compaction.max-size-amplification-percent": lot.choice(["20", "200", "1000"]),
    }
    choices = {
        "num-levels": ["3", "8"],
        "compaction.optimization-interval": ["1 d"],
        "compaction.total-size-threshold": ["300 b"],
        "compaction.incremental-size-threshold": ["400 b"],
        "compaction.offpeak-ratio": ["50"],
        "compaction.force-up-level-0": ["true"],
        "compaction.force-rewrite-all-files": ["true"],
        "changelog-producer": ["input", "lookup", "full-compaction"],
        "lookup-compact": ["gentle", "radical"],
        "lookup-compact.max-interval": ["1"],
        "merge-engine": ["deduplicate", "aggregation", "first-row"],
        "sequence.field": ["s"],
        "force-lookup": ["true"],
        "file.format.per.level": ["0:avro"],
    }
    options |= {key: lot.choice(texts) for key, texts in choices.items() if lot.random() < 0.2}
    if "compaction.offpeak-ratio" in options:
        # At every hour, or never: the referee looks at the clock.
        options["compaction.offpeak.start.hour"] = "0"
        options["compaction.offpeak.end.hour"] = lot.choice(["24", "0", "-1"])
    if options.get("merge-engine") != "first-row" and lot.random() < 0.2:
        options["deletion-vectors.enabled"] = "true"
    return options


def draw_case(number: int) -> DrawnCase:
    lot = Random(number)
    options = draw_options(lot)
    files = []
    for place in range(lot.choice([0, 1, 2, 3, 5, 8])):
        low = lot.randrange(KEYS)
        files.append((draw_file(lot, f"new-{place}", 0), low, low + lot.randrange(12)))
    top = CompactionOptions.parse(options).level_count - 1
    for level in range(1, top + 1):
        if lot.random() < (0.7 if level == top else 0.25):
            cuts = sorted(lot.sample(range(KEYS), 2 * lot.randint(1, 4)))
            for low, high in zip(cuts[::2], cuts[1::2], strict=True):
                files.append((draw_file(lot, f"old-{level}-{low}", level), low, high))
    lot.shuffle(files)
    return DrawnCase(
        options=options,
        files=files,
        full=lot.random() < 0.3,
        compacted=lot.random() < 0.5,
        marked=[file.file_name for file, _, _ in files if lot.random() < 0.3],
    )


def draw_file(lot: Random, name: str, level: int) -> DataFileMeta:
    size = lot.choice([lot.randint(1, 20), lot.randint(60, 80), lot.randint(80, 300)])
    return data_file(
        name,
        level=level,
        size=size,
        sequence=lot.randint(1, 10_000),
        deletes=lot.choice([0, 0, 0, 2, None]),
    )


def pick_of(case: DrawnCase) -> tuple[Levels, Pick | None]:
    options = CompactionOptions.parse(case.options)
    levels = Levels.of([file for file, _, _ in case.files], count=options.level_count)
    if case.full:
        marked = case.marked if options.with_deletion_vectors else []
        return levels, pick_full(levels, rewrites_all=options.rewrites_all, marked=marked)
    history = History(last_full_ms=NOW_MS if case.compacted else None)
    policy = CompactionPolicy.of(options)
    return levels, policy.pick(levels, now_ms=NOW_MS, history=history)


def plan_of(case: DrawnCase, levels: Levels, pick: Pick) -> RewritePlan:
    table = TableOptions.parse(case.options, has_primary_key=True)
    compaction = CompactionOptions.parse(case.options)
    rules = RewriteRules.of(table, MergeOptions.parse(case.options), compaction)
    spans = {file.file_name: (low, high) for file, low, high in case.files}
    return plan_rewrite(
        pick,
        levels,
        rules,
        low_ranks=[spans[file.file_name][0] for file in pick.files],
        high_ranks=[spans[file.file_name][1] for file in pick.files],
    )


def answer_of(pick: Pick, plan: RewritePlan) -> Answer:
    """What Lakebed does, as the referee says it."""
    steps: list[list[object]] = []
    for step in plan.steps:
        is_rewrite = isinstance(step, Rewrite)
        files = step.files if isinstance(step, Rewrite) else [step.file]
        name = "rewrite" if is_rewrite else "upgrade"
        steps.append([name, step.tracks_changes, *sorted(file.file_name for file in files)])
    answer: Answer = {
        "files": sorted(file.file_name for file in pick.files),
        "level": plan.output_level,
        "steps": steps,
    }
    if any(isinstance(step, Rewrite) for step in plan.steps):
        answer["deletes"] = "dropped" if plan.drops_deletes else "kept"
    return answer


def in_order(answer: Answer | None) -> Answer | None:
    """An answer of the referee, with names in an order."""
    if answer is None:
        return None
    steps = [[*step[:2], *sorted(step[2:])] for step in answer["steps"]]
    return {**answer, "files": sorted(answer["files"]), "steps": steps}


def is_of_the_younger_rule(case: DrawnCase, levels: Levels, pick: Pick | None) -> bool:
    """Whether a run joined the pick that is larger than all that was picked before it."""
    if pick is None or pick.cause not in {Cause.SIZE_RATIO, Cause.RUN_COUNT, Cause.LEVEL_0}:
        return False
    options = CompactionOptions.parse(case.options)
    is_off_peak = options.off_peak_end_hour == 24
    ratio = options.size_ratio + (options.off_peak_ratio if is_off_peak else 0)
    starts_with = {
        Cause.SIZE_RATIO: 1,
        Cause.RUN_COUNT: len(levels.runs) - options.run_trigger + 1,
        Cause.LEVEL_0: sum(run.level == 0 for run in levels.runs),
    }
    size, names = 0, {file.file_name for file in pick.files}
    for place, run in enumerate(levels.runs):
        is_larger = size * (100.0 + ratio) / 100.0 < run.size_bytes
        joined = place >= starts_with[pick.cause] and run.files[0].file_name in names
        if joined and is_larger:
            return True
        size += run.size_bytes
    return False


def test_the_real_paimon_compacts_the_same_files_in_the_same_way(referee: JsonProcess) -> None:
    cases = [draw_case(number) for number in range(CASE_COUNT)]
    asked = [case.asked("keyed") for case in cases]
    answers = referee.ask("picks", cases=asked)["answers"]
    causes: dict[Cause | None, int] = dict.fromkeys((*Cause, None), 0)
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        levels, pick = pick_of(case)
        if is_of_the_younger_rule(case, levels, pick):
            continue
        found = None if pick is None else answer_of(pick, plan_of(case, levels, pick))
        assert found == in_order(answer), f"case {number}: {case.asked('keyed')}"
        causes[pick.cause if pick else None] += 1
    assert min(causes.values()) >= 30, f"every rule is met often enough: {causes}"


def test_the_real_paimon_compacts_the_same_files_of_a_bucket_without_keys(
    referee: JsonProcess,
) -> None:
    cases = []
    for number in range(CASE_COUNT):
        lot = Random(number)
        options = {
            "target-file-size": "100 b",
            "compaction.min.file-num": str(lot.randint(1, 6)),
            "compaction.force-rewrite-all-files": lot.choice(["true", "false", "false"]),
        }
        sizes = [draw_file(lot, f"f{place}", 0) for place in range(lot.randrange(12))]
        files = [
            (replace(file, min_sequence_number=place, max_sequence_number=place), place, place)
            for place, file in enumerate(sizes)
        ]
        cases.append(
            DrawnCase(
                options=options, files=files, full=lot.random() < 0.5, compacted=False, marked=[]
            )
        )
    answers = referee.ask("picks", cases=[case.asked("append") for case in cases])["answers"]
    picked = 0
    for case, answer in zip(cases, answers, strict=True):
        table = TableOptions.parse(case.options, has_primary_key=False)
        policy = AppendCompaction.of(table, CompactionOptions.parse(case.options))
        bucket = [file for file, _, _ in case.files]
        if case.full:
            pick = policy.pick_full_bucket(bucket, deleted={})
        else:
            pick = policy.pick_in_bucket(bucket)
        found = None if pick is None else [file.file_name for file in pick.files]
        assert found == answer, case.asked("append")
        picked += found is not None
    assert CASE_COUNT // 4 < picked < CASE_COUNT


def test_the_real_paimon_clusters_the_same_files(referee: JsonProcess) -> None:
    cases, asked, columns = [], [], []
    for number in range(CASE_COUNT):
        case = draw_case(number)
        lot = Random(number)
        then = lot.choice(["a,b", "a,b", "b"])
        options = {"clustering.incremental": "true", "clustering.columns": "a,b"}
        for key in ("num-sorted-run.compaction-trigger", "compaction.size-ratio"):
            options[key] = case.options[key]
        options["compaction.max-size-amplification-percent"] = lot.choice(["20", "200", "1000"])
        top = CompactionOptions.parse(options).level_count - 1
        files = [each for each in case.files if each[0].level <= top]
        if lot.random() < 0.2:
            files = [each for each in files if each[0].level == top]
        cases.append(replace(case, options=options, files=files))
        columns.append(then)
        asked.append({**cases[-1].asked("clustered"), "columns": then})
    answers = referee.ask("clustering-picks", cases=asked)["answers"]
    counts: dict[tuple[bool, Cause | None], int] = {}
    for case, then, answer in zip(cases, columns, answers, strict=True):
        policy = IncrementalClustering.of(("a", "b"), CompactionOptions.parse(case.options))
        levels = policy.levels([file for file, _, _ in case.files])
        if case.full:
            pick = policy.pick_full(levels, columns_then={0: tuple(then.split(","))})
        else:
            pick = policy.pick(levels)
        if is_of_the_younger_rule(case, levels, pick):
            continue
        found = pick and {
            "level": pick.output_level,
            "files": [file.file_name for file in pick.files],
        }
        assert found == answer, case.asked("clustered")
        kind = (case.full, pick.cause if pick else None)
        counts[kind] = counts.get(kind, 0) + 1
    assert len(counts) == 6
    assert min(counts.values()) >= 30, f"every rule is met often enough: {counts}"


@pytest.fixture(scope="module")
def small_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table without buckets, of two partitions with small files of many sizes."""
    location = tmp_path_factory.mktemp("append")
    catalog = lakebed.load_catalog(warehouse=str(location))
    catalog.create_database("db")
    columns = lakebed.schema([("p", "INT"), ("v", "DOUBLE")])
    table = catalog.create_table("db.t", schema=columns, partition_by=["p"])
    lot = Random(7)
    for count in [1, 20, 40, 80, 120, 160, 240, 300, 350, 400, 500, 600]:
        values = [lot.random() for _ in range(count)]
        partitions = pa.array([place % 2 for place in range(count)], pa.int32())
        table.append(pa.table({"p": partitions, "v": values}))
    return location / "db.db" / "t"


@pytest.mark.parametrize("is_golden", [True, False], ids=["deletion vectors", "small files"])
@pytest.mark.parametrize("target", ["700 b", "1 kb", "2 kb", "3 kb", "1 mb"])
@pytest.mark.parametrize("cost", ["0 b", "1 kb"])
@pytest.mark.parametrize("least", ["2", "5", "30"])
def test_the_real_paimon_packs_the_same_files_of_a_partition(
    referee: JsonProcess, small_files: Path, *, is_golden: bool, target: str, cost: str, least: str
) -> None:
    options = {
        "target-file-size": target,
        "source.split.open-file-cost": cost,
        "compaction.min.file-num": least,
        # One of its files has 24 rows of 100 deleted, another one 8 of 50.
        "deletion-vectors.enabled": str(is_golden).lower(),
    }
    table = DATABASE / "append_dv" if is_golden else small_files
    answer = referee.ask("append-plan", table=str(table), options=options)
    partitions: dict[int, list[DataFileMeta]] = {}
    deleted: dict[str, DeletedRows] = {}
    for partition, file, size, row_count, index, cardinality in answer["files"]:
        found = data_file(file, size=size, row_count=row_count)
        partitions.setdefault(partition, []).append(found)
        if index is not None:
            deleted[file] = DeletedRows(index_file=index, row_count=cardinality)
    policy = AppendCompaction.of(
        TableOptions.parse(options, has_primary_key=False), CompactionOptions.parse(options)
    )
    picks = [pick for files in partitions.values() for pick in policy.pack(files, deleted=deleted)]
    sizes = {file.file_name: file.file_size for files in partitions.values() for file in files}
    # Which of two files of one size comes first is not said.
    theirs = [sorted(sizes[file] for file in task) for task in answer["tasks"]]
    ours = [sorted(file.file_size for file in pick.files) for pick in picks]
    assert sorted(ours) == sorted(theirs)
