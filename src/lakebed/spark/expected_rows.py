"""What does Spark expect of the rows of a frame before it has run anything?

Its optimizer estimates sizes: of files from their lengths, of other sources with a wide margin.
"""

import math
import re
import sys
from dataclasses import dataclass

from pyspark.sql import DataFrame

_SIZE = re.compile(r"sizeInBytes=([0-9.]+(?:E[+-]?[0-9]+)?) ([KMGTPE]?i?B)")
_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5, "EiB": 6}
_OPERATOR = re.compile(r"[ :+|-]*([A-Za-z]+)")
_PHYSICAL = "== Physical Plan =="
_SMALL_BYTES = 4 << 20
# Those whose rows Spark knows the number of, and that are quickly made.
_EXACT_OPERATORS = frozenset(
    {"Filter", "GlobalLimit", "LocalLimit", "LocalRelation", "OneRowRelation", "Project", "Range"}
)


@dataclass(frozen=True, slots=True)
class ExpectedRows:
    """What Spark expects of rows before anything ran.

    Attributes:
        size_bytes: What they take in memory.
        operators: What makes them.
    """

    size_bytes: int
    operators: frozenset[str]

    @classmethod
    def of(cls, frame: DataFrame) -> "ExpectedRows":
        """Read from what Spark explains."""
        text = frame.sparkSession.sql("EXPLAIN COST SELECT * FROM {rows}", rows=frame).collect()[0][
            0
        ]
        plan = text.split(_PHYSICAL, 1)[0].splitlines()
        found = _SIZE.search(text)
        size = float(found[1]) * 1024 ** _UNITS[found[2]] if found else math.inf
        operators = (_OPERATOR.match(line) for line in plan if not line.startswith("=="))
        return cls(
            size_bytes=int(min(size, sys.maxsize)),
            operators=frozenset(each[1] for each in operators if each is not None),
        )

    @property
    def is_small(self) -> bool:
        """Whether one task makes and writes them in no time; no guess is made of other sources."""
        return self.size_bytes <= _SMALL_BYTES and self.operators <= _EXACT_OPERATORS
