"""How far was a claim tried, where, and what came of it?

Seeds run one after the other until the time is up. Each result is kept, so that a run that was
stopped goes on where it was, on the same commit. Once all seeds of a slice are there, the slice
becomes a line of the report. A violation names its seed and ends the run.
"""

import datetime as dt
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.provenance import describe_machine

TABLE_HEAD = "| date | commit | machine | seeds | result |\n|---|---|---|---|---|\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedResult:
    """What one seed found.

    Attributes:
        counts: How much was tried, by what it is called in the report; seeds are summed.
        violations: What went wrong, a line each; empty when the claim held.
    """

    counts: Mapping[str, int]
    violations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One proof.

    Attributes:
        name: What it is called on the command line, and its report's file.
        claim: What it shows, as the head of its report.
        run_seed: Tries it once, in a few seconds, so that a proof can be stopped.
        slice_seeds: How many seeds make a slice, the unit that is reported.
    """

    name: str
    claim: str
    run_seed: Callable[[int], SeedResult]
    slice_seeds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Where the results of a commit are kept and its slices are reported.

    Attributes:
        state: Directory of the results by seed; None where nothing is to be taken up again.
        reports: Directory of the reports; None for a sample, which leaves no trace.
        commit: What is being tried.
    """

    state: Path | None
    reports: Path | None
    commit: str

    def read_results(self, stage: Stage) -> dict[int, SeedResult]:
        """The results that are there already, by seed."""
        path = self._state_path(stage)
        if path is None or not path.exists():
            return {}
        rows = (_parsed(line) for line in path.read_text(encoding="utf-8").splitlines())
        return {
            row["seed"]: SeedResult(counts=row["counts"], violations=tuple(row["violations"]))
            for row in rows
            if row is not None
        }

    def append_result(self, stage: Stage, seed: int, result: SeedResult) -> None:
        """Keeps a result, on a line of its own whatever became of the one before."""
        path = self._state_path(stage)
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        row = {"seed": seed, "counts": dict(result.counts), "violations": result.violations}
        with path.open("a", encoding="utf-8") as kept:
            kept.write(f"\n{json.dumps(row)}")

    def append_slice(self, stage: Stage, seeds: range, results: Sequence[SeedResult]) -> None:
        """Adds a finished slice to the report, with the head when it is the first."""
        if self.reports is None:
            return
        path = self.reports / f"{stage.name}.md"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {stage.name}\n\n{stage.claim}\n\n{TABLE_HEAD}", encoding="utf-8")
        today = dt.datetime.now(dt.UTC).date().isoformat()
        span = f"{seeds[0]} to {seeds[-1]}"
        cells = (today, self.commit, describe_machine(), span, summarize(results))
        with path.open("a", encoding="utf-8") as report:
            report.write(f"| {' | '.join(cells)} |\n")

    def _state_path(self, stage: Stage) -> Path | None:
        return self.state / f"{stage.name}-{self.commit}.jsonl" if self.state else None


def _parsed(line: str) -> dict[str, Any] | None:
    """A kept result; None for a line that a stopped run did not end."""
    try:
        row: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return row


def summarize(results: Sequence[SeedResult]) -> str:
    """One line: what was tried, summed over seeds, and how many violations there were."""
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.counts)
    violations = sum(len(result.violations) for result in results)
    tried = "".join(f"{count:,} {name}, " for name, count in counts.items())
    return f"{tried}{violations} violations"


def prove(
    stage: Stage,
    ledger: Ledger,
    *,
    first_seed: int,
    seconds: float,
    seed_count: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Runs seeds until the time is up, one at least; returns whether the claim held in each.

    Slices count from the first seed, and a seed whose result is kept is not run again. With
    `seed_count` it ends after so many.
    """
    deadline = clock() + seconds
    results = ledger.read_results(stage)
    ran: list[SeedResult] = []
    seed = first_seed
    last_seed = None if seed_count is None else first_seed + seed_count - 1
    while not ran or (clock() < deadline and seed - 1 != last_seed):
        is_fresh = seed not in results
        if is_fresh:
            results[seed] = stage.run_seed(seed)
            ran.append(results[seed])
            ledger.append_result(stage, seed, results[seed])
        if results[seed].violations:
            print(f"prove: {stage.name} seed {seed}:", *results[seed].violations, sep="\n  ")
            return False
        seed += 1
        if is_fresh and (seed - first_seed) % stage.slice_seeds == 0:
            seeds = range(seed - stage.slice_seeds, seed)
            ledger.append_slice(stage, seeds, [results[member] for member in seeds])
    rest = (seed - first_seed) % stage.slice_seeds
    print(f"prove: {stage.name} seeds {first_seed} to {seed - 1}; this run: {summarize(ran)}")
    if rest and ledger.reports:
        print(f"prove: {rest} of {stage.slice_seeds} seeds of a slice; run again to finish it")
    return True
