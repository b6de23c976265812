"""What a table holds, told without Lakebed: rows of files to rows of the table, change by change.

Four kinds of tables, each with rows of which it can be told whether one is lost or doubled:

* `append` and `marked`: each row has an id of its own; rows are deleted by rewriting their files or
  by deletion vectors;
* `bank`: accounts of which sums are kept; a transfer takes from one what it gives to another, so
  the total stays what it was;
* `upsert`: each key has one writer, whose last value counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

Row = tuple[int, int]
State = tuple[Row, ...]
"""The rows of a table, sorted."""
Change = Callable[[State], State]

PARTITIONS = (0, 1)
ACCOUNTS = 4
DEPOSIT = 100
_DELETE = 3


class BrokenTableError(Exception):
    """What the files of a table hold cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of table.

    Attributes:
        name: What it is called.
        columns: Names and types; all are numbers.
        key: The primary key.
        partition: The partition columns.
        options: Its options.
        rows_of: From the physical rows of all live files, less those marked deleted, to the rows of
            the table.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    partition: tuple[str, ...]
    options: Mapping[str, str]
    rows_of: Callable[[Iterable[Mapping[str, int]]], State]

    @property
    def names(self) -> list[str]:
        """Of the columns."""
        return [name for name, _ in self.columns]


def unchanged(state: State) -> State:
    """What compactions do."""
    return state


def adding(rows: Iterable[Row]) -> Change:
    """Rows that come."""
    return lambda state: tuple(sorted([*state, *rows]))


def without(ids: Iterable[int]) -> Change:
    """Rows that go, by their id."""
    gone = set(ids)
    return lambda state: tuple(row for row in state if row[0] not in gone)


def replacing(partition: int, rows: Sequence[Row]) -> Change:
    """A partition whose rows are replaced; it is the second column."""
    return lambda state: tuple(sorted([*(row for row in state if row[1] != partition), *rows]))


def putting(rows: Iterable[Row]) -> Change:
    """Keys that get a new value."""
    return lambda state: tuple(sorted({**dict(state), **dict(rows)}.items()))


def transferring(rows: Sequence[Row]) -> Change:
    """Amounts that are added to accounts."""

    def change(state: State) -> State:
        sums = dict(state)
        for account, amount in rows:
            sums[account] = sums.get(account, 0) + amount
        return tuple(sorted(sums.items()))

    return change


def _listed(rows: Iterable[Mapping[str, int]]) -> State:
    return tuple(sorted((row["id"], row["p"]) for row in rows))


def _summed(rows: Iterable[Mapping[str, int]]) -> State:
    sums: dict[int, int] = {}
    for row in rows:
        sums[row["id"]] = sums.get(row["id"], 0) + row["v"]
    if sum(sums.values()) != ACCOUNTS * DEPOSIT:
        raise BrokenTableError(f"the accounts of the bank hold {sums}")
    return tuple(sorted(sums.items()))


def _newest(rows: Iterable[Mapping[str, int]]) -> State:
    found: dict[int, Mapping[str, int]] = {}
    for row in rows:
        other = found.get(row["id"])
        if other is None or row["_SEQUENCE_NUMBER"] > other["_SEQUENCE_NUMBER"]:
            found[row["id"]] = row
        elif row["_SEQUENCE_NUMBER"] == other["_SEQUENCE_NUMBER"] and row["v"] != other["v"]:
            raise BrokenTableError(f"two rows of one sequence number for a key: {row} and {other}")
    live = (row for row in found.values() if row["_VALUE_KIND"] != _DELETE)
    return tuple(sorted((row["id"], row["v"]) for row in live))


_APPEND = {"compaction.min.file-num": "2", "bucket": "-1"}
_KEYED = {"bucket": "1", "num-sorted-run.compaction-trigger": "2", "num-levels": "3"}

KINDS = (
    Kind(
        name="append",
        columns=(("id", "INT"), ("p", "INT")),
        key=(),
        partition=("p",),
        options=_APPEND,
        rows_of=_listed,
    ),
    Kind(
        name="marked",
        columns=(("id", "INT"), ("p", "INT")),
        key=(),
        partition=("p",),
        options={**_APPEND, "deletion-vectors.enabled": "true"},
        rows_of=_listed,
    ),
    Kind(
        name="bank",
        columns=(("id", "INT NOT NULL"), ("v", "INT")),
        key=("id",),
        partition=(),
        options={
            **_KEYED,
            "merge-engine": "aggregation",
            "fields.v.aggregate-function": "sum",
        },
        rows_of=_summed,
    ),
    Kind(
        name="upsert",
        columns=(("id", "INT NOT NULL"), ("v", "INT")),
        key=("id",),
        partition=(),
        options=_KEYED,
        rows_of=_newest,
    ),
)
