"""What does a step of planning keep?"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What one step of planning kept.

    Attributes:
        name: The step.
        kept: How many came out.
        total: How many went in.
    """

    name: str
    kept: int
    total: int


@dataclass(frozen=True, slots=True)
class EntryStep:
    """A step that looks at each manifest entry by itself.

    Attributes:
        name: The step.
        keep: Which of the entries may matter.
    """

    name: str
    keep: Callable[[pa.Table], Mask]


def choose(entries: pa.Table, steps: Sequence[EntryStep]) -> tuple[Mask, tuple[PlanStep, ...]]:
    """Which entries all steps keep, and what each kept of those before it."""
    mask = np.zeros(entries.num_rows, np.bool_)
    rows = np.arange(entries.num_rows)
    told = []
    for step in steps:
        kept = step.keep(entries)
        told.append(PlanStep(step.name, int(np.count_nonzero(kept)), len(rows)))
        if not kept.all():
            rows = rows[kept]
            entries = entries.filter(pa.array(kept))
    mask[rows] = True
    return mask, tuple(told)


def apply_steps(
    entries: pa.Table, steps: Sequence[EntryStep]
) -> tuple[pa.Table, tuple[PlanStep, ...]]:
    """The entries that all steps keep, and what each kept of those before it."""
    kept, told = choose(entries, steps)
    return entries if kept.all() else entries.filter(pa.array(kept)), told


def add_up(steps: Sequence[EntryStep], parts: Iterable[Sequence[PlanStep]]) -> list[PlanStep]:
    """What the steps kept of all parts together."""
    kept = {step.name: [0, 0] for step in steps}
    for part in parts:
        for step in part:
            kept[step.name][0] += step.kept
            kept[step.name][1] += step.total
    return [PlanStep(name, *counts) for name, counts in kept.items()]
