"""What is done to tables that Lakebed and Flink compact in turn: options, and scripts of steps."""

from collections.abc import Mapping
from dataclasses import dataclass

from support.compaction_model import ENGINES, Values

# Of even ids and of odd ones.
PARTITIONS = ("even", "odd:")
TOP = 5
ALONE = {"write-only": "true"}
LOOKUP = {"changelog-producer": "lookup"}
FULL = {"changelog-producer": "full-compaction"}
VECTORS = {"deletion-vectors.enabled": "true"}
# Who wrote such a file makes no difference to its size, on which picks depend.
AVRO = {"file.format": "avro", "file.compression": "null"}
NO_EQUAL_PAIRS = {"changelog-producer.row-deduplicate": "true"}
VECTORS_64 = VECTORS | {"deletion-vectors.bitmap64": "true"}
SMALL = {"bucket": "-1", "compaction.min.file-num": "2", **ALONE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One commit: rows of some ids are written or deleted, or the table is compacted.

    Its text is ``write FROM-TO VERSION`` (ids up to but without TO), ``delete FROM-TO``, ``full``
    or ``minor``.
    """

    word: str
    ids: range = range(0)
    version: int = 0

    @classmethod
    def parse(cls, text: str) -> "Step":
        word, *more = text.split()
        if not more:
            return cls(word=word)
        start, stop = map(int, more[0].split("-"))
        return cls(word=word, ids=range(start, stop), version=int([*more, "0"][1]))

    @property
    def rows(self) -> list[Values]:
        """Rows of its ids; those of two versions differ, and some have nulls."""
        return [
            {
                "id": n,
                "p": PARTITIONS[n % 2],
                "a": None if (n + self.version) % 5 == 0 else self.version,
                "b": None if (n + self.version) % 3 == 0 else f"b{self.version}",
                "g": self.version,
            }
            for n in self.ids
        ]

    @property
    def condition(self) -> str:
        return f"id >= {self.ids.start} AND id < {self.ids.stop}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A table and what is done to it.

    Scripts are steps with semicolons between them.

    Attributes:
        options: Its options.
        first: What Lakebed does.
        levels: Which levels then have files in the first partition, file by file.
        second: What Flink does.
        third: What Lakebed does at last.
        engine: Its merge engine; None for a table without keys.
        with_twin: Whether Flink does all of it alone to another table.
    """

    options: Mapping[str, str]
    first: str
    levels: list[int]
    second: str
    third: str
    engine: str | None = "deduplicate"
    with_twin: bool = False

    @property
    def tells_changes(self) -> bool:
        return "changelog-producer" in self.options


# The last write of the first script writes rows that are there: `NO_EQUAL_PAIRS` tells nothing.
CHANGES = "write 0-20 1; write 10-25 2; delete 3-6; write 10-12 2"
CHANGES_ON = "write 4-14 4; delete 12-16; write 22-30 5"
CHANGES_AT_LAST = "write 0-4 6; delete 20-24"
FILLS = "write 0-20 1; write 10-25 2; write 10-12 2"
FILLS_ON = "write 4-14 4; write 22-30 5"
FILLS_AT_LAST = "write 0-4 6; write 29-33 7"


def compacted_by_writes(
    options: Mapping[str, str], levels: list[int], *, engine: str = "deduplicate"
) -> Case:
    """Compacted after each write: Flink alone must do as both in turn."""
    deletes = ENGINES[engine].deletes
    return Case(
        options=options,
        first=CHANGES if deletes else FILLS,
        levels=levels,
        second=CHANGES_ON if deletes else FILLS_ON,
        third=CHANGES_AT_LAST if deletes else FILLS_AT_LAST,
        engine=engine,
        with_twin=True,
    )


CASES = {
    "full": Case(
        options=ALONE,
        first=f"{CHANGES}; full",
        levels=[TOP],
        second=f"{CHANGES_ON}; full",
        third=f"{CHANGES_AT_LAST}; full",
    ),
    "upgrade": Case(
        options=ALONE | {"target-file-size": "1 kb"},
        first="write 0-10 1; write 10-20 2; full",
        levels=[TOP, TOP],
        second="write 20-30 3; full; write 4-6 4",
        third="write 30-40 5; full",
        with_twin=True,
    ),
    "minor": Case(
        options=ALONE | AVRO | {"num-sorted-run.compaction-trigger": "3", "num-levels": "6"},
        first="write 0-400 1; full; write 0-8 2; write 4-12 3; write 8-16 4; minor",
        levels=[4, TOP],
        second="write 2-4 5; write 10-30 6; minor",
        third="write 0-6 7; write 0-2 8; minor",
    ),
    "input": compacted_by_writes(
        AVRO | {"changelog-producer": "input", "num-sorted-run.compaction-trigger": "2"}, [0, 2]
    ),
    "lookup": compacted_by_writes(AVRO | LOOKUP, [TOP]),
    "lookup of aggregates, no equal pairs": compacted_by_writes(
        AVRO | LOOKUP | NO_EQUAL_PAIRS, [3, 4, TOP], engine="aggregation"
    ),
    "full-compaction, no equal pairs": compacted_by_writes(FULL | NO_EQUAL_PAIRS, [TOP]),
    "full-compaction of partial updates": compacted_by_writes(FULL, [TOP], engine="partial-update"),
    "first-row": compacted_by_writes(AVRO | LOOKUP, [4, TOP], engine="first-row"),
    "deletion vectors": compacted_by_writes(AVRO | VECTORS, [3, 4, TOP]),
    "deletion vectors of 64 bits, lookup": compacted_by_writes(
        AVRO | VECTORS_64 | LOOKUP, [3, 4, TOP]
    ),
    "append": Case(
        options=SMALL,
        first="write 0-10 1; write 10-20 2; full",
        levels=[0],
        second="write 20-30 3; write 30-40 4; full",
        third="write 40-42 5; full",
        engine=None,
    ),
    "append in buckets": Case(
        options=SMALL | {"bucket": "1", "bucket-key": "id"},
        first="write 0-10 1; write 10-20 2; write 20-30 3; full",
        levels=[0],
        second="write 30-40 4; write 40-50 5; full",
        third="write 50-52 6; write 52-54 7; full",
        engine=None,
    ),
    "append, rows marked": Case(
        options=SMALL | VECTORS,
        first="write 0-20 1; write 20-40 2; delete 3-25",
        levels=[0, 0],
        second="write 40-50 3; full",
        third="write 50-52 4; delete 1-2; full",
        engine=None,
    ),
    "postponed": Case(
        options={"bucket": "-2", "postpone.batch-write-fixed-bucket": "false"},
        first="write 0-20 1; write 10-25 2; full",
        levels=[TOP],
        second="write 8-14 4; full",
        third="write 0-4 6; full",
    ),
}
