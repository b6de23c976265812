"""What can befall a file, and where in it.

Places are walked, not drawn: a walk of many steps visits every bit of a file once before it comes
back to the first, and any part of it is spread over the whole file. So a long proof is exhaustive
for small files, and a short sample of the same walk meets header, middle and footer.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, slots=True)
class Damage:
    """One way to damage a file.

    Attributes:
        kind: `missing`, `empty`, `truncated`, `flipped` or `replaced`.
        place: Of `truncated` the length left in bytes, of `flipped` the bit, of `replaced` the
            position of the other file among those of the table.
    """

    kind: str
    place: int = 0

    def apply(self, data: bytes, others: list[bytes]) -> bytes | None:
        """What is left of a file; None where nothing is."""
        match self.kind:
            case "missing":
                return None
            case "empty":
                return b""
            case "truncated":
                return data[: self.place]
            case "replaced":
                return others[self.place]
            case _:
                byte, bit = divmod(self.place, 8)
                flipped = bytearray(data)
                flipped[byte] ^= 1 << bit
                return bytes(flipped)

    def __str__(self) -> str:
        """For a report, to be found again."""
        if self.kind == "flipped":
            return f"bit {self.place % 8} of byte {self.place // 8} flipped"
        if self.kind == "truncated":
            return f"truncated to {self.place} bytes"
        return f"replaced by file {self.place}" if self.kind == "replaced" else self.kind


def walk(size: int, *, start: int, steps: int) -> Iterator[int]:
    """Some steps of a walk that visits each of `size` places once in `size` steps."""
    if not size:
        return
    stride = max(round(size * GOLDEN_RATIO), 1)
    while math.gcd(stride, size) > 1:
        stride += 1
    for step in range(start, start + steps):
        yield step * stride % size
