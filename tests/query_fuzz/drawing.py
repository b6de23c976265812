"""How is SQL written in many ways that mean the same?"""

import random
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

# Words that must be quoted to be a name in every place.
_QUOTED = frozenset({"select", "from", "order", "count", "full", "left", "on"})
_NOISE = (
    "/* FROM lake.db.nowhere n */",
    "/* a /* JOIN lake.db.nowhere */ b, lake.db.people */",
    "-- SELECT * FROM lake.db.nowhere, 'open\n",
    "/* it's `open` \" */",
    "\n\t",
)


class Draw:
    """All that is random in a query comes from its seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def chance(self, share: float) -> bool:
        """Whether something that happens so often happens now."""
        return self._random.random() < share

    def pick(self, items: Sequence[Item]) -> Item:
        """One of some."""
        return items[self._random.randrange(len(items))]

    def some(self, items: Sequence[Item], *, at_least: int = 1, at_most: int = 3) -> list[Item]:
        """A few of some, in any order."""
        most = min(at_most, len(items))
        return self._random.sample(list(items), self.number(min(at_least, most), most))

    def number(self, low: int, high: int) -> int:
        """A number between two, both included."""
        return self._random.randint(low, high)

    def name(self, name: str) -> str:
        """A name as somebody may write it: quoted or not, and in any case."""
        if self.chance(0.1):
            name = name.upper()
        if self.chance(0.1) or not name.replace("_", "a").isalnum() or name.lower() in _QUOTED:
            return f"`{name}`"
        return name

    def noise(self) -> str:
        """Space, or now and then a comment; never empty."""
        return f" {self.pick(_NOISE)} " if self.chance(0.06) else " "
