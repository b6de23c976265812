"""`./dev prove STAGE --seconds N --from-seed K`: which proofs there are, and what a seed does.

Results are kept in `.cache/prove` and reported in `docs/proofs/STAGE.md`. On a tree with changes
nothing is taken up again, for nobody knows which changes the kept results belong to.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from support.race import race_rounds
from tools.proofs import Ledger, SeedResult, Stage, prove
from tools.provenance import ROOT, read_commit

RACE_ROUNDS = 1_000
# More processes than cores would wait for each other's turn instead of meeting.
RACE_PROCESSES = max(2, min(8, os.cpu_count() or 2))


def run_race(seed: int) -> SeedResult:
    """Races processes for the same files of the local store; each file must have one winner."""
    place = ROOT / ".cache" / "race"
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as directory:
        result = race_rounds(
            Path(directory), rounds=RACE_ROUNDS, processes=RACE_PROCESSES, seed=seed
        )
    return SeedResult(
        counts={"rounds": result.rounds, "winners": sum(result.winners)},
        violations=result.violations,
    )


STAGES = (
    Stage(
        name="race",
        claim=(
            "Of processes, one a core, that put the same absent file into the local store at the "
            "same moment, exactly one wins. A slice is 10,000 aligned attempts."
        ),
        run_seed=run_race,
        slice_seeds=10,
    ),
)


def open_ledger(*, is_sample: bool) -> Ledger:
    """The ledger of the clone as it is now."""
    commit = read_commit()
    can_resume = not is_sample and not commit.endswith("-dirty")
    return Ledger(
        state=ROOT / ".cache" / "prove" if can_resume else None,
        reports=None if is_sample else ROOT / "docs" / "proofs",
        commit=commit,
    )


def main() -> None:
    """Reads the arguments and runs one stage; ends with status 1 when its claim was violated."""
    parser = argparse.ArgumentParser(prog="./dev prove")
    parser.add_argument("stage", choices=[stage.name for stage in STAGES])
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--from-seed", type=int, required=True)
    parser.add_argument("--sample", action="store_true", help="keep and report nothing")
    arguments = parser.parse_args()
    stage = next(stage for stage in STAGES if stage.name == arguments.stage)
    ledger = open_ledger(is_sample=arguments.sample)
    held = prove(stage, ledger, first_seed=arguments.from_seed, seconds=arguments.seconds)
    sys.exit(not held)


if __name__ == "__main__":
    main()
