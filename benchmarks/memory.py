"""How much memory does a merge take? One bucket four times the budget, read batch by batch.

The budget is `lakebed.merge.memory`. What a process needs beside it (decoders, the batch that is
handed out, an allocator's slack) is the constant, `ALLOWANCE_MB`.
"""

from dataclasses import replace

from benchmarks.datasets import big_bucket_table
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from tools.peers.process import PeerProcess

BUDGET_MB = 128
ALLOWANCE_MB = 160
ROUNDS = 3
MIB = 1 << 20
FULL_RUN_ROWS = 1_000_000


def run(effort: Effort) -> list[Outcome]:
    """The peak of resident memory over that before the scan, each time in a fresh process."""
    budget_mb = max(1, BUDGET_MB * effort.run_rows // FULL_RUN_ROWS)
    with PeerProcess("lakebed") as writer:
        table = big_bucket_table(writer, run_rows=effort.run_rows, arrow_bytes=4 * budget_mb * MIB)

    def peak_mb() -> float:
        with PeerProcess("lakebed") as reader:
            options = {"lakebed.merge.memory": f"{budget_mb} mb"}
            return reader.ask("peak_memory", table=str(table), options=options)["bytes"] / MIB

    contender = Contender(name=f"budget {budget_mb} MB", measure=peak_mb)
    figures = alternate([contender], effort=replace(effort, rounds=min(effort.rounds, ROUNDS)))
    targets = (Target(of=None, at_most=budget_mb + ALLOWANCE_MB),)
    name = "peak of a merge, bucket 4 x budget"
    return [Outcome(name=name, figures=figures, unit="MB", targets=targets)]
