"""What proves stores: races for the same file, and writers that are killed.

Their results are kept and reported as those of the other proofs.
"""

import atexit
import functools
import os
import tempfile
from pathlib import Path

from lakebed.storage.location import file_io_for
from support.killed_writers import Plan, run_killed_writers
from support.race import race_rounds
from tools.proofs import SeedResult, Stage
from tools.provenance import ROOT
from tools.services.places import STORES, Place, place_in

RACE_ROUNDS = 1_000
STORE_RACE_ROUNDS = 500
# A process waits for the store most of its time.
STORE_RACE_PROCESSES = 4
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


def run_store_race(seed: int, *, store: str) -> SeedResult:
    """Races processes for the same objects of a store in the network."""
    place = _place(store)
    result = race_rounds(
        f"{place.url}/race-{seed}",
        rounds=STORE_RACE_ROUNDS,
        processes=STORE_RACE_PROCESSES,
        seed=seed,
        store=functools.partial(file_io_for, place.url, place.options),
    )
    return SeedResult(
        counts={"rounds": result.rounds, "winners": sum(result.winners)},
        violations=result.violations,
    )


def run_writers(seed: int, *, store: str) -> SeedResult:
    """Kills processes that commit to one table, and has others take up their work."""
    place = _place(store)
    with tempfile.TemporaryDirectory() as directory:
        outcome = run_killed_writers(
            Plan(
                warehouse=f"{place.url}/writers-{seed}",
                options=place.options,
                logs=Path(directory),
                is_keyed=seed % 2 == 1,
                writers=8,
                commits=200,
                kills=60,
                seed=seed,
            )
        )
    return SeedResult(counts=outcome.counts, violations=tuple(outcome.violations))


@functools.cache
def _place(store: str) -> Place:
    """One server for all seeds."""
    opened = place_in(store)
    place = opened.__enter__()
    atexit.register(opened.__exit__, None, None, None)
    return place


STORE_STAGES = (
    Stage(
        name="race",
        claim=(
            "Of processes, one a core, that put the same absent file into the local store at the "
            "same moment, exactly one wins. A slice is 10,000 aligned attempts."
        ),
        run_seed=run_race,
        slice_seeds=10,
    ),
    *(
        Stage(
            name=f"race-{store}",
            claim=(
                "Of processes that put the same absent object into a store in the network at the "
                "same moment, exactly one wins, and the others read what it wrote. "
                "A slice is 10,000 aligned attempts."
            ),
            run_seed=functools.partial(run_store_race, store=store),
            slice_seeds=10_000 // STORE_RACE_ROUNDS,
        )
        for store in STORES
        if store != "local"
    ),
    *(
        Stage(
            name=f"killed-writers-{store}",
            claim=(
                "Eight processes commit 200 times each to one table; 60 times one of them is killed"
                " by SIGKILL, and another takes up its work, replaying what nobody was told of. "
                "Every commit is there once, snapshots have no gaps, and `table.check()` finds "
                "nothing. Tables of odd seeds have a primary key. A slice is one table."
            ),
            run_seed=functools.partial(run_writers, store=store),
            slice_seeds=1,
        )
        for store in STORES
    ),
)
