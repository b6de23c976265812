"""What one seed does: a table, its actors, the faults they meet, and what must hold at the end."""

import random
from collections import Counter
from dataclasses import dataclass

from simulation.actors import Actor, Compactor, Expirer, Reader, Stream, Writer
from simulation.audit import audit
from simulation.decoding import decoded_once
from simulation.faults import Rates
from simulation.life_cycle import Brancher, Cleaner, Repeater, Rollbacker, Tagger
from simulation.models import KINDS, Kind
from simulation.world import World

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Role:
    """An actor that may take part.

    Attributes:
        actor: What it is.
        share: In which share of the runs.
        count: How many operations it does.
        meets_pauses: Whether there may be pauses within a call to the store where it takes part.
    """

    actor: type[Actor]
    share: float
    count: int
    meets_pauses: bool = True


CAST = {
    "writer 1": Role(Writer, 1.0, 4),
    "writer 2": Role(Writer, 1.0, 4),
    "stream": Role(Stream, 0.7, 3),
    "compactor": Role(Compactor, 0.7, 3),
    "expirer": Role(Expirer, 0.7, 4),
    "reader": Role(Reader, 0.7, 4),
    "tagger": Role(Tagger, 0.3, 3),
    "rollbacker": Role(Rollbacker, 0.25, 2),
    "brancher": Role(Brancher, 0.25, 4),
    "cleaner": Role(Cleaner, 0.3, 3),
    # Who pauses before it deletes a file cannot see that another call took its place (claim.py).
    "repeater": Role(Repeater, 0.5, 3, meets_pauses=False),
}
"""Who may work on a table, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of a seed.

    Attributes:
        seed: The seed.
        violation: What was wrong; None where all was well.
        digest: Of everything that was done.
        trace: All of that, a line each.
        counts: How much was tried.
    """

    seed: int
    violation: str | None
    digest: str
    trace: list[str]
    counts: Counter[str]

    def report(self) -> str:
        """What was wrong, what went before it, and how to see it again."""
        return "\n".join(
            [
                f"seed {self.seed}: {self.violation}",
                *self.trace[-_SHOWN:],
                f"again: ./dev prove simulation --seconds 1 --seeds 1 --from-seed {self.seed}",
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What a seed makes of a run, before anything is run.

    Attributes:
        kind: The kind of table.
        options: Its options, beside those of the kind.
        rates: How often what fails.
        actors: Who works on it.
    """

    kind: Kind
    options: dict[str, str]
    rates: Rates
    actors: tuple[str, ...]

    @classmethod
    def of(cls, seed: int) -> "Scenario":
        """The scenario of a seed."""
        chance = random.Random(f"{seed}/world")
        kind = chance.choice(KINDS)
        options = {
            "manifest.merge-min-count": chance.choice(["2", "4", "30"]),
            "write-only": chance.choice(["true", "false"]),
            "commit.max-retries": chance.choice(["2", "10"]),
        }
        rates = _rates(chance)
        drawn = [name for name, each in CAST.items() if chance.random() < each.share]
        actors = tuple(name for name in drawn if CAST[name].meets_pauses or not rates.pause)
        return cls(kind=kind, options=options, rates=rates, actors=actors)


def simulate(seed: int) -> Run:
    """Runs a seed."""
    with decoded_once():
        return _simulate(seed)


def _simulate(seed: int) -> Run:
    scenario = Scenario.of(seed)
    world = World.of(seed, scenario.kind, options=scenario.options, rates=scenario.rates)
    scheduler = world.scheduler
    scheduler.tell(f"{world.kind.name}, {world.table.options}, {world.rates}")
    scheduler.run({"bank": world.begin})
    actors = [
        CAST[name].actor(world, name, operations=CAST[name].count) for name in scenario.actors
    ]
    scheduler.run({actor.name: actor.live for actor in actors})
    if scheduler.violation is None:
        scheduler.run({"audit": lambda: audit(world)})
    return Run(
        seed=seed,
        violation=scheduler.violation,
        digest=scheduler.digest(),
        trace=scheduler.trace,
        counts=world.journal.counts,
    )


def _rates(chance: random.Random) -> Rates:
    pause = chance.choice([0.0, 0.0, 0.01, 0.03])
    if chance.random() < 0.3:
        return Rates(pause=pause)
    return Rates(
        error=chance.choice([0.001, 0.004, 0.012]),
        death=chance.choice([0.0, 0.002, 0.005]),
        pause=pause,
    )
