"""Measures Lakebed beside its peers: `./dev bench [NAME ...] [--rounds N] [--record | --smoke]`.

The status is 1 when a promise was missed. A smoke run judges nothing: it shows that all runs.
"""

import argparse
import importlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.status import Status

from benchmarks.harness import Effort, Outcome, print_outcomes

NAMES = (
    "merge_read",
    "merge_engines",
    "upsert",
    "write",
    "dynamic_bucket",
    "write_memory",
    "spark_merge_scan",
    "spark_deletion_vectors",
    "hot_bucket",
    "compaction",
    "spark_compaction",
    "spark_merge",
    "streaming",
    "tpch",
    "compaction_memory",
    "import_time",
    "lost_commits",
    "memory",
    "planning",
)
ROUNDS = 5
RUN_ROWS = 1_000_000
SMOKE_ROWS = 20_000
SCALE, SMOKE_SCALE = "1", "0.01"
RECORD = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
HEAD = """# Performance

Recorded by `./dev bench --record`; newest last. Figures of one run are comparable with each other,
figures of different runs are not: machines and their loads differ. What each comparison does is
the first line of its module in `benchmarks/`.
"""


def main() -> int:
    """Runs the benchmarks that were named, or all; 1 when a promise was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--scale", default=SCALE, help="the scale factor of tpch")
    parser.add_argument("--smoke", action="store_true", help="small, once, without the peers")
    parser.add_argument("--record", action="store_true", help=f"append to docs/{RECORD.name}")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no benchmark {', '.join(unknown)}; there are {', '.join(NAMES)}")
    console = Console()
    outcomes: list[Outcome] = []
    for name in arguments.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        with console.status(name) as status:
            effort = Effort(
                rounds=1 if arguments.smoke else arguments.rounds,
                run_rows=SMOKE_ROWS if arguments.smoke else RUN_ROWS,
                scale=SMOKE_SCALE if arguments.smoke else arguments.scale,
                peers=not arguments.smoke,
                progress=partial(_show, status, name),
            )
            outcomes += module.run(effort)
    print_outcomes(outcomes, console)
    if arguments.smoke:
        return 0
    missed = [sentence for outcome in outcomes for sentence in outcome.missed]
    for sentence in missed:
        console.print(f"missed  {sentence}", style="bold red")
    if arguments.record:
        record(outcomes)
        console.print(f"recorded in docs/{RECORD.name}")
    return 1 if missed else 0


def _show(status: Status, name: str, text: str) -> None:
    status.update(f"{name}: {text}")


def record(outcomes: Sequence[Outcome]) -> None:
    """Appends the figures with what is needed to understand them later."""
    text = RECORD.read_text(encoding="utf-8") if RECORD.exists() else HEAD
    today = time.strftime("%Y-%m-%d", time.gmtime())
    lines = [
        f"\n## {today}, {_commit()}\n",
        f"{_machine()}; Python {platform.python_version()}.\n",
        "| comparison | contender | median | min … max (rounds) | ÷ ours |",
        "|---|---|---:|---:|---:|",
    ]
    for outcome in outcomes:
        for name, figures in outcome.figures.items():
            middle = outcome.median(name)
            spread = f"{min(figures):.3f} … {max(figures):.3f} ({len(figures)})"
            cells = (f"{middle:.3f} {outcome.unit}", spread, outcome.ratio(name))
            lines.append(f"| {outcome.name} | {name} | {' | '.join(cells)} |")
    RECORD.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=RECORD.parent)
    return f"commit {done.stdout.strip() or 'none'}"


def _machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GB, {platform.system()}"


if __name__ == "__main__":
    sys.exit(main())
