"""How fast is an upsert in process? 1 M rows into a table of 1 M rows in 2 buckets, one commit."""

import shutil
from contextlib import ExitStack
from functools import partial

from benchmarks.datasets import CACHE, upsert_rows, upsert_table
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from tools.peers.process import PeerProcess

SLOW_ROUNDS = 2  # pypaimon takes some 15 s an upsert, and gains nothing from warmth
TARGETS = (Target(of="pypaimon", at_most=1 / 15),)


def run(effort: Effort) -> list[Outcome]:
    """Lakebed, pypaimon-rust and pypaimon upsert the same rows into copies of the same table."""
    rounds = {"lakebed": None, "pypaimon-rust": None, "pypaimon": SLOW_ROUNDS}
    names = list(rounds) if effort.peers else ["lakebed"]
    rows = upsert_rows(run_rows=effort.run_rows)
    copy = CACHE / "scratch" / "db.db" / "upsert"
    with ExitStack() as stack:
        writers = {name: stack.enter_context(PeerProcess(name)) for name in names}
        base = upsert_table(writers["lakebed"], run_rows=effort.run_rows)

        def seconds(name: str) -> float:
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(base, copy)
            return writers[name].ask("write", table=str(copy), data=str(rows))["seconds"]

        contenders = [
            Contender(name=name, measure=partial(seconds, name), rounds=rounds[name])
            for name in names
        ]
        figures = alternate(contenders, effort=effort)
    return [Outcome(name="upsert of one commit's rows", figures=figures, targets=TARGETS)]
