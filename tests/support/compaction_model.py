"""What a table of each merge engine holds and tells, in plain Python, and rows to write into it.

Some results depend on whether a compaction came first; no drawn row shows them. A -D row is
forgotten when it is compacted as the oldest of its key, so a row that comes later is never older
than it, and gives every column.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.schema_definition import schema
from support.lives import PARTITIONS

Key = tuple[str, int]
Values = dict[str, Any]
State = dict[Key, Values]
Value = TypeVar("Value")

COLUMNS = [
    ("id", "INT NOT NULL"),
    ("p", "STRING NOT NULL"),
    ("a", "BIGINT"),
    ("b", "STRING"),
    ("g", "BIGINT"),
]
IDS = 10


def rank(value: int | None) -> tuple[bool, int]:
    """Nulls come before all numbers."""
    return value is not None, value or 0


def last(_: Values, row: Values) -> Values:
    """deduplicate."""
    return row


def first(held: Values, _: Values) -> Values:
    """first-row."""
    return held


def newest_by_g(held: Values, row: Values) -> Values:
    """deduplicate with a sequence field."""
    return held if rank(held["g"]) > rank(row["g"]) else row


def filled_up(held: Values, row: Values) -> Values:
    """partial-update."""
    return {**held, **{name: value for name, value in row.items() if value is not None}}


def summed(held: Values, row: Values) -> Values:
    """aggregation: the sum of `a`, the greatest `b`, the last `g`."""
    sums = [each["a"] for each in (held, row) if each["a"] is not None]
    texts = [each["b"] for each in (held, row) if each["b"] is not None]
    return {
        **row,
        "a": sum(sums) if sums else None,
        "b": max(texts, default=None),
        "g": held["g"] if row["g"] is None else row["g"],
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What a merge engine makes of rows.

    Attributes:
        options: Options that choose it.
        fold: The row of a key, from the one that was there and a new one; None: another table that
            is never compacted says it.
        deletes: Whether -U and -D rows delete, rather than take a part back.
        removals: The kinds among these two that it takes.
        producers: Its changelog producers.
    """

    options: Mapping[str, str]
    fold: Callable[[Values, Values], Values] | None
    deletes: bool = False
    removals: tuple[str, ...] = ()
    producers: tuple[str, ...] = ("none", "lookup", "full-compaction")


_PARTIAL = {"merge-engine": "partial-update"}
_GROUP = {**_PARTIAL, "fields.g.sequence-group": "a,b"}
ENGINES: dict[str, Engine] = {
    "deduplicate": Engine(
        options={},
        fold=last,
        deletes=True,
        removals=("-U", "-D"),
        producers=("none", "input", "lookup", "full-compaction"),
    ),
    "sequence field": Engine(
        options={"sequence.field": "g"}, fold=newest_by_g, deletes=True, removals=("-U", "-D")
    ),
    "partial-update": Engine(options=_PARTIAL, fold=filled_up),
    "removing partial-update": Engine(
        options={**_PARTIAL, "partial-update.remove-record-on-delete": "true"},
        fold=filled_up,
        deletes=True,
        removals=("-D",),
    ),
    "sequence group": Engine(options=_GROUP, fold=None),
    "sum in a sequence group": Engine(
        options={**_GROUP, "fields.a.aggregate-function": "sum"}, fold=None
    ),
    "aggregation": Engine(
        options={
            "merge-engine": "aggregation",
            "fields.a.aggregate-function": "sum",
            "fields.b.aggregate-function": "max",
            "fields.b.ignore-retract": "true",
            "fields.g.ignore-retract": "true",
        },
        fold=summed,
        removals=("-U", "-D"),
    ),
    "first-row": Engine(
        options={"merge-engine": "first-row"}, fold=first, producers=("none", "lookup")
    ),
}


class Model:
    """Rows by key.

    Attributes:
        rows: What there is; nothing where another table says what rows become.
    """

    def __init__(self, engine: Engine, chance: Random, *, looks_up: bool) -> None:
        """Holds nothing.

        Args:
            engine: What rows become.
            chance: Draws rows.
            looks_up: Whether compactions of the table look older rows up.
        """
        self.rows: State = {}
        self._engine = engine
        self._chance = chance
        self._fills_sequences = looks_up and engine.fold is None
        self._floors: dict[Key, int | None] = {}

    def change(self) -> pa.Table:
        """Draws rows of the kinds that the engine takes, which are written here already."""
        drawn = self.drawn()
        kinds = self._chance.choices(["+I", "+U", *self._engine.removals], k=len(drawn))
        rows: list[Values] = []
        for index, row in enumerate(map(self._settled, drawn)):
            if kinds[index] in {"+I", "+U"}:
                self._add(row)
            elif not self._take_back(row):
                self._add(row)
                kinds[index] = "+I"
            rows.append(row)
        return arrow(rows).append_column("_row_kind", pa.array(kinds, pa.string()))

    def delete_below(self, limit: int, *, seen: State) -> None:
        """Deletes the rows of smaller ids that a reader sees."""
        for key, row in seen.items():
            if key[1] < limit:
                self._remove(key, row)

    def drop(self, partitions: Collection[str]) -> None:
        """Forgets partitions."""
        self.rows = without(self.rows, partitions)
        self._floors = without(self._floors, partitions)

    def fill(self, partition: Mapping[str, str]) -> pa.Table:
        """Draws rows of a partition, or of all, which are written here already."""
        rows = [self._settled({**row, **partition}) for row in self.drawn()]
        for row in rows:
            self._add(row)
        return arrow(rows)

    def drawn(self) -> list[Values]:
        """Draws rows, which are not written here."""
        chance = self._chance
        return [
            {
                "id": chance.randrange(IDS),
                "p": chance.choice(PARTITIONS),
                "a": chance.choice([None, 0, 1, 2, 3]),
                "b": chance.choice([None, "", "u", "v"]),
                "g": chance.choice([None, *range(6)]),
            }
            for _ in range(chance.randint(1, 2 * IDS))
        ]

    def _settled(self, row: Values) -> Values:
        """The row, or one that does not show what was compacted: a -D is forgotten then."""
        key = key_of(row)
        if self._fills_sequences and row["g"] is None:
            # A compaction that looks up clears the columns of a group whose sequence is null, even
            # of a row that is alone; until then that one shows them.
            return {**row, "g": 0}
        if key not in self._floors:
            return row
        floor = max(self._floors[key] or 0, row["g"] or 0)
        return {**row, "a": row["a"] or 0, "b": row["b"] or "", "g": floor}

    def _add(self, row: Values) -> None:
        key = key_of(row)
        if self._engine.fold is not None:
            held = self.rows.get(key)
            self.rows[key] = row if held is None else self._engine.fold(held, row)

    def _take_back(self, row: Values) -> bool:
        """Deletes or retracts by a row; whether it can be done."""
        key = key_of(row)
        held = self.rows.get(key)
        if self._engine.deletes:
            self._remove(key, row)
        elif held is not None and row["a"] is not None:
            self.rows[key] = {**held, "a": (held["a"] or 0) - row["a"]}
        return self._engine.deletes or held is not None

    def _remove(self, key: Key, row: Values) -> None:
        held = self.rows.get(key)
        if (
            held is not None
            and self._engine.fold is newest_by_g
            and rank(held["g"]) > rank(row["g"])
        ):
            return
        self.rows.pop(key, None)
        self._floors[key] = max(self._floors.get(key), row["g"], key=rank)


@dataclass(slots=True)
class Replayed:
    """What a reader of the changelog knows.

    Attributes:
        compared: The columns that it can trust: in others `row-deduplicate` is silent.
        skips_same: Whether an update that changes none of them may not be told.
        keeps_kinds: Whether rows are told under the kinds that they came with.
        rows: Its rows.
    """

    compared: Sequence[str]
    skips_same: bool
    keeps_kinds: bool
    rows: State = field(default_factory=dict)

    def take(self, changes: Sequence[Values]) -> None:
        """Replays changes; each must fit those before it."""
        halves: State = {}
        for change in changes:
            kind = change["rowkind"]
            key, row = key_of(change), self.seen(change)
            if kind in {"-U", "-D"}:
                assert self.rows.get(key) == row, f"{change} takes back {self.rows.get(key)}"
                del self.rows[key]
                if kind == "-U":
                    halves[key] = row
                continue
            assert key not in self.rows, f"{change} comes on top of {self.rows[key]}"
            fits = (kind == "+U") == (key in halves)
            assert fits or self.keeps_kinds, f"{change} is of another kind"
            assert not (self.skips_same and halves.get(key) == row), f"{change} changes nothing"
            halves.pop(key, None)
            self.rows[key] = row
        assert not halves, f"-U without +U: {halves}"

    def seen(self, row: Values) -> Values:
        """A row's values that are compared."""
        return {name: row[name] for name in self.compared}


def key_of(row: Values) -> Key:
    """The key of a row."""
    return row["p"], row["id"]


def state_of(rows: pa.Table) -> State:
    """Rows by key, of which no two may have the same."""
    listed = rows.to_pylist()
    state = {key_of(row): row for row in listed}
    assert len(state) == len(listed), "a key is there twice"
    return state


def arrow(rows: Sequence[Values]) -> pa.Table:
    """Rows in the types of the table."""
    return pa.Table.from_pylist(list(rows), schema=to_arrow_schema(schema(COLUMNS).fields))


def without(state: Mapping[Key, Value], partitions: Collection[str]) -> dict[Key, Value]:
    """What is known of keys outside some partitions."""
    return {key: value for key, value in state.items() if key[0] not in partitions}
