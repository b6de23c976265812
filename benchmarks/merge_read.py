"""How fast is a merge on read to Arrow? 5 M rows in 2 buckets of 5 overlapping runs, 1.94 M out."""

from contextlib import ExitStack
from functools import partial

from benchmarks.datasets import merge_table, merged_count
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from tools.peers.process import PeerProcess

SLOW_ROUNDS = 2  # pypaimon takes some 25 s a read, and gains nothing from warmth
TARGETS = (Target(of="pypaimon-rust", at_most=1.0), Target(of="pypaimon", at_most=1 / 20))


def run(effort: Effort) -> list[Outcome]:
    """Lakebed, pypaimon-rust and pypaimon read the same files."""
    rounds = {"lakebed": None, "pypaimon-rust": None, "pypaimon": SLOW_ROUNDS}
    names = list(rounds) if effort.peers else ["lakebed"]
    rows = merged_count(run_rows=effort.run_rows)
    with ExitStack() as stack:
        readers = {name: stack.enter_context(PeerProcess(name)) for name in names}
        table = merge_table(readers["lakebed"], run_rows=effort.run_rows)

        def seconds(name: str) -> float:
            answer = readers[name].ask("read", table=str(table))
            if answer["rows"] != rows:
                raise AssertionError(f"{name} read {answer['rows']} rows, not {rows}")
            return answer["seconds"]

        contenders = [
            Contender(name=name, measure=partial(seconds, name), rounds=rounds[name])
            for name in names
        ]
        figures = alternate(contenders, effort=effort)
    return [Outcome(name="merge read to Arrow", figures=figures, targets=TARGETS)]
