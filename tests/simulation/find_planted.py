"""`python -m simulation.find_planted [NAME ...]`: looks for seeds in which planted bugs do harm.

It runs seeds under each bug, all of them unless some are named, until a few show it and are well
without it, and keeps what it found in `planted_seeds.json`. There are several, because whatever
changes the calls of an operation changes what a seed does.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from simulation.planted import BUGS, Bug
from simulation.simulation import Scenario, simulate

SEEDS = Path(__file__).with_name("planted_seeds.json")


def read_seeds() -> dict[str, list[int]]:
    """By bug, the seeds that show it."""
    found: dict[str, list[int]] = json.loads(SEEDS.read_text(encoding="utf-8"))
    return found


def harm(bug: Bug, seed: int) -> str | None:
    """What a bug does in a seed; None for nothing."""
    with bug.plant():
        return simulate(seed).violation


def find(bug: Bug, seeds: Iterable[int]) -> Iterator[tuple[int, str]]:
    """The seeds among some in which a bug does harm, and what it does; without it they are well."""
    for seed in seeds:
        found = harm(bug, seed) if bug.may_harm(Scenario.of(seed)) else None
        if found is not None and simulate(seed).violation is None:
            yield seed, found


def main() -> None:
    """Reads the arguments, and ends with status 1 where a bug was not found."""
    parser = argparse.ArgumentParser(prog="python -m simulation.find_planted")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--from-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1_000)
    parser.add_argument("--count", type=int, default=3, help="how many to find of each")
    arguments = parser.parse_args()
    seeds = range(arguments.from_seed, arguments.from_seed + arguments.seeds)
    lost = 0
    for bug in BUGS:
        if arguments.names and bug.name not in arguments.names:
            continue
        shown: list[int] = []
        for seed, what in find(bug, seeds):
            shown.append(seed)
            sys.stdout.write(f"{bug.name}: seed {seed}: {what}\n")
            sys.stdout.flush()
            text = json.dumps(read_seeds() | {bug.name: shown}, indent=2, sort_keys=True)
            SEEDS.write_text(f"{text}\n", encoding="utf-8")
            if len(shown) == arguments.count:
                break
        lost += not shown
    sys.exit(bool(lost))


if __name__ == "__main__":
    main()
