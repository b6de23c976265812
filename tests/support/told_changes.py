"""Is what was told of a table's changes its changelog, but for micro-batches that are told again?

A sink that tells at least once tells a micro-batch again that its process died in: some of its
messages from the first on, and then all of them.

    +I 1   -U 1  +U 2     -U 1  +U 2  -D 2      the second micro-batch was told in part, then whole

Each value is written once, so the kind and the value tell a change from all others of its key.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True, order=True)
class Change:
    """A change of a key.

    Attributes:
        kind: What happened, as in changelogs.
        value: What the key had before (`-U`, `-D`) or has now (`+I`, `+U`).
    """

    kind: str
    value: int


Changes = Mapping[int, Sequence[Change]]
"""Changes of each key, in their order."""


def by_key(changes: Iterable[tuple[int, Change]]) -> dict[int, list[Change]]:
    """Changes of each key, as they came."""
    grouped: dict[int, list[Change]] = {}
    for key, change in changes:
        grouped.setdefault(key, []).append(change)
    return grouped


def without_repeats(changes: Changes) -> dict[int, list[Change]]:
    """Each change where it was told first."""
    return {key: [*dict.fromkeys(told)] for key, told in changes.items()}


def find_violations(told: Changes, model: Mapping[int, int]) -> list[str]:
    """A sentence for each key of which something else was told than what led to its value.

    Args:
        told: What was told of each key, with what was told again.
        model: The value that each key has in the end; deleted keys are not there.
    """
    found = []
    for key in sorted({*told, *model}):
        changes = told.get(key, ())
        problems = [
            *_last_message(changes, model.get(key)),
            *_gaps(changes),
            *_broken_links([*dict.fromkeys(changes)]),
        ]
        found += [f"key {key}: {problem}" for problem in problems]
    return found


def _last_message(told: Sequence[Change], expected: int | None) -> list[str]:
    held = told[-1].value if told and told[-1].kind in {"+I", "+U"} else None
    is_half = bool(told) and told[-1].kind == "-U"
    if held == expected and not is_half:
        return []
    return [f"{told[-1] if told else 'nothing'} was told last, and {expected} is right"]


def _gaps(told: Sequence[Change]) -> list[str]:
    """What is told again goes on where it stood, and leaves nothing out."""
    places = {change: place for place, change in enumerate(dict.fromkeys(told))}
    return [
        f"{then} was told after {before}, and what lies between them was left out"
        for before, then in pairwise(told)
        if places[then] > places[before] + 1
    ]


def _broken_links(changes: Sequence[Change]) -> list[str]:
    """Each change begins with the value that the one before it left, and values are newer."""
    problems, held, newest, is_half = [], None, -1, False
    for change in changes:
        match change.kind:
            case "+I":
                is_right = held is None and not is_half
            case "+U":
                is_right = is_half
            case _:
                is_right = change.value == held and not is_half
        comes = change.kind in {"+I", "+U"}
        if not is_right or (comes and change.value <= newest):
            problems.append(f"{change} was told where the key had {held}")
        held, is_half = (change.value if comes else None), change.kind == "-U"
        newest = max(newest, change.value)
    return problems
