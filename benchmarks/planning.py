"""How long does planning take? A table of 1 M live files in 3 M entries, whole and for one key.

Metadata alone, out of a warm file cache, in a process that has planned a small table before. The
memory is the peak over what the process held before.
"""

from dataclasses import replace
from functools import partial

from benchmarks.big_metadata import DAYS, FIRST_DAY, big_table
from benchmarks.datasets import CACHE
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from tools.peers.process import PeerProcess

LIVE_FILES = 1_000_192
FULL_RUN_ROWS = 1_000_000
POINT = f"day = {FIRST_DAY + DAYS // 2} AND id = 100500"
SECONDS_MAX, POINT_SECONDS_MAX, MB_MAX = 4.0, 0.5, 500
ROUNDS = 3
MIB = 1 << 20


def run(effort: Effort) -> list[Outcome]:
    """A plan of the whole table, one of a key in a partition, and the memory of the first."""
    files = max(DAYS, LIVE_FILES * effort.run_rows // FULL_RUN_ROWS)
    fewer = replace(effort, rounds=min(effort.rounds, ROUNDS))
    with PeerProcess("lakebed") as planner:
        table = str(big_table(planner, CACHE, live_files=files))

        def seconds(where: str | None) -> float:
            return planner.ask("plan", table=table, where=where)["seconds"]

        whole = alternate([Contender(name="lakebed", measure=partial(seconds, None))], effort=fewer)
        point = alternate(
            [Contender(name="lakebed", measure=partial(seconds, POINT))], effort=fewer
        )

    def peak_mb() -> float:
        with PeerProcess("lakebed") as fresh:
            return fresh.ask("plan", table=table, where=None)["peak_bytes"] / MIB

    peak = alternate([Contender(name="lakebed", measure=peak_mb)], effort=fewer)
    return [
        Outcome(name="plan of 1 M files", figures=whole, targets=(_at_most(SECONDS_MAX),)),
        Outcome(name="plan of one key", figures=point, targets=(_at_most(POINT_SECONDS_MAX),)),
        Outcome(name="peak of that plan", figures=peak, unit="MB", targets=(_at_most(MB_MAX),)),
    ]


def _at_most(limit: float) -> Target:
    return Target(of=None, at_most=limit)
