"""How contenders are compared: in turns, in one invocation, by their medians.

A B A B ... rather than A A B B: whatever slows the machine for a while slows both. Figures of
different invocations are never put side by side as if they were of one.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One way to do the job.

    Attributes:
        name: As printed.
        measure: Does the job once; the figure it took.
        rounds: How many of the rounds it takes part in; None is all (slow peers take fewer).
    """

    name: str
    measure: Callable[[], float]
    rounds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What was promised: the first contender's figure is at most `at_most` times `of`'s.

    Attributes:
        of: The contender compared with; None compares with 1, that is an absolute limit.
        at_most: The largest ratio allowed.
    """

    of: str | None
    at_most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one comparison found.

    Attributes:
        name: Of the comparison.
        unit: Of the figures.
        figures: Every figure of every contender, the first contender being Lakebed.
        targets: What was promised.
    """

    name: str
    figures: dict[str, list[float]]
    unit: str = "s"
    targets: tuple[Target, ...] = ()

    def median(self, contender: str) -> float:
        """The figure of a contender."""
        return statistics.median(self.figures[contender])

    @property
    def ours(self) -> float:
        """Lakebed's figure."""
        return self.median(next(iter(self.figures)))

    def ratio(self, contender: str) -> str:
        """The figure of a contender divided by Lakebed's, where that is not 0."""
        return f"{self.median(contender) / self.ours:.2f}" if self.ours else "none"

    def limit(self, target: Target) -> float:
        """The largest figure of ours that keeps a promise."""
        return target.at_most * (1.0 if target.of is None else self.median(target.of))

    @property
    def missed(self) -> list[str]:
        """The promises that were not kept, in words."""
        return [
            f"{self.name}: {self.ours:.3f} {self.unit}, promised at most {self.limit(target):.3f}"
            f" ({target.at_most:g}{'' if target.of is None else ' x ' + target.of})"
            for target in self.targets
            if self.ours > self.limit(target)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much trouble a run takes.

    Attributes:
        rounds: How often each contender is measured.
        run_rows: Rows of one commit, that is of one sorted run of every bucket together.
        peers: Whether the other libraries take part; promises are judged only if they do.
        progress: Told what is being done.
    """

    rounds: int
    run_rows: int
    peers: bool
    progress: Callable[[str], None]


def alternate(contenders: Sequence[Contender], *, effort: Effort) -> dict[str, list[float]]:
    """Every contender's figures; one more round comes first and is not counted."""
    figures: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for contender in contenders:
        if contender.rounds is None:
            effort.progress(f"{contender.name}: warming up")
            contender.measure()
    for turn in range(effort.rounds):
        for contender in contenders:
            rounds = min(effort.rounds, contender.rounds or effort.rounds)
            if turn < rounds:
                effort.progress(f"{contender.name}: round {turn + 1} of {rounds}")
                figures[contender.name].append(contender.measure())
    return figures


def print_outcomes(outcomes: Sequence[Outcome], console: Console) -> None:
    """A table of medians, spreads and ratios to ours."""
    table = Table("comparison", "contender", "median", "min … max", "÷ ours", box=None)
    for outcome in outcomes:
        for index, (name, figures) in enumerate(outcome.figures.items()):
            middle = outcome.median(name)
            table.add_row(
                outcome.name if index == 0 else "",
                name,
                f"{middle:.3f} {outcome.unit}",
                f"{min(figures):.3f} … {max(figures):.3f} ({len(figures)})",
                outcome.ratio(name),
            )
    console.print(table)
