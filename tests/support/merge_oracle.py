"""The merge engines for one key, one row at a time: what the vectorised ones are tested against.

Each takes the rows of a key from old to new, and gives the merged values, or None when the key is
deleted. Written from the rules of the format's own engine, oddities included.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from lakebed.lsm.merge import DELETE, INSERT
from support.section_in_memory import ENDS, KeyValue

Value: TypeAlias = Any
Values = dict[str, Value]
Fold = Callable[[Value, Value], Value]


@dataclass(frozen=True)
class Function:
    """What a column does with a value that is added, and one that is taken back."""

    add: Fold
    retract: Fold

    def begin(self) -> "Function":
        """The function before the first row of a key."""
        return self


class FirstValue:
    """A function that knows whether it has seen a value, whatever it is given to start with."""

    def __init__(self, *, skips_null: bool) -> None:
        self._skips_null = skips_null
        self._seen = False

    def begin(self) -> "FirstValue":
        """The same, having seen nothing."""
        return FirstValue(skips_null=self._skips_null)

    def add(self, accumulated: Value, value: Value) -> Value:
        """The first value that was added."""
        if self._seen or (self._skips_null and value is None):
            return accumulated
        self._seen = True
        return value

    @staticmethod
    def retract(accumulated: Value, _: Value) -> Value:
        """Nothing is taken back."""
        return accumulated


FIRST_VALUE = FirstValue(skips_null=False)
FIRST_NON_NULL_VALUE = FirstValue(skips_null=True)


def _sum(accumulated: Value, value: Value) -> Value:
    if accumulated is None or value is None:
        return value if accumulated is None else accumulated
    return accumulated + value


def _difference(accumulated: Value, value: Value) -> Value:
    if accumulated is None or value is None:
        return accumulated if value is None else -value
    return accumulated - value


SUM = Function(_sum, _difference)
LAST_VALUE = Function(lambda _, value: value, lambda _accumulated, _value: None)
LAST_NON_NULL_VALUE = Function(
    lambda accumulated, value: accumulated if value is None else value,
    lambda accumulated, value: accumulated if value is None else None,
)


@dataclass(frozen=True)
class AggregationOracle:
    """`merge-engine=aggregation`."""

    functions: Mapping[str, Function | FirstValue]
    remove_record_on_delete: bool = False

    def merge(self, rows: Sequence[KeyValue]) -> Values | None:
        """The merged row of a key."""
        kind, values = self.combine(rows)
        return None if kind in ENDS else values

    def combine(self, rows: Sequence[KeyValue]) -> tuple[int, Values]:
        """Kind and values of the row that stands for these in a file."""
        if len(rows) == 1:
            return rows[0].kind, dict(rows[0].values)
        functions = {name: function.begin() for name, function in self.functions.items()}
        merged: Values = dict.fromkeys(functions)
        deleted = False
        for row in rows:
            deleted = self.remove_record_on_delete and row.kind == DELETE
            if deleted:
                merged = dict(row.values)
                continue
            for name, function in functions.items():
                fold = function.retract if row.kind in ENDS else function.add
                merged[name] = fold(merged[name], row.values[name])
        return DELETE if deleted else INSERT, merged


@dataclass(frozen=True)
class GroupOracle:
    """A sequence group: its sequence fields, its other columns, and whether a -D removes."""

    sequence: tuple[str, ...]
    members: tuple[str, ...]
    removes: bool = False

    def rank(self, values: Values) -> tuple[tuple[bool, int], ...]:
        """What orders rows of the group, nulls first."""
        return tuple((values[s] is not None, values[s] or 0) for s in self.sequence)

    def is_empty(self, values: Values) -> bool:
        """Whether the group says nothing."""
        return all(values[s] is None for s in self.sequence)


@dataclass(frozen=True)
class PartialUpdateOracle:
    """`merge-engine=partial-update`."""

    columns: tuple[str, ...]
    groups: tuple[GroupOracle, ...] = ()
    functions: Mapping[str, Function | FirstValue] = field(default_factory=dict)
    ignore_delete: bool = False
    remove_record_on_delete: bool = False

    def merge(self, rows: Sequence[KeyValue]) -> Values | None:
        """The merged row of a key."""
        kind, values = self.combine(rows)
        return None if kind in ENDS else values

    def combine(self, rows: Sequence[KeyValue]) -> tuple[int, Values]:
        """Kind and values of the row that stands for these in a file."""
        if len(rows) == 1:
            return rows[0].kind, dict(rows[0].values)
        of_key = replace(self, functions={n: f.begin() for n, f in self.functions.items()})
        merged: Values = dict.fromkeys(self.columns)
        deleted = False
        for place, row in enumerate(rows):
            deleted = False
            if row.kind not in ENDS:
                of_key._add(merged, dict(row.values))
                continue
            if place == 0:
                merged.update(row.values)
            if not self.ignore_delete:
                deleted = of_key._take_back(merged, row)
        ends = deleted or all(row.kind in ENDS for row in rows)
        return DELETE if ends else INSERT, merged

    def _add(self, merged: Values, values: Values) -> None:
        grouped = {name for group in self.groups for name in (*group.sequence, *group.members)}
        for name in self.columns:
            if name not in grouped and values[name] is not None:
                merged[name] = values[name]
        for group in self.groups:
            if group.is_empty(values):
                continue
            newer = group.rank(values) >= group.rank(merged)
            for name in group.members:
                if name in self.functions:
                    add = self.functions[name].add
                    old, new = merged[name], values[name]
                    merged[name] = add(old, new) if newer else add(new, old)
                elif newer:
                    merged[name] = values[name]
            if newer:
                merged.update({name: values[name] for name in group.sequence})

    def _take_back(self, merged: Values, row: KeyValue) -> bool:
        values = dict(row.values)
        if not self.groups:
            if row.kind == DELETE:
                merged.update(values)
            return row.kind == DELETE
        if any(self._removes(group, merged, row) for group in self.groups):
            merged.update(values)
            return True
        for group in self.groups:
            if not group.is_empty(values):
                self._take_back_from(group, merged, values)
        return False

    @staticmethod
    def _removes(group: GroupOracle, merged: Values, row: KeyValue) -> bool:
        values = dict(row.values)
        taken = not group.is_empty(values) and group.rank(values) >= group.rank(merged)
        return taken and group.removes and row.kind == DELETE

    def _take_back_from(self, group: GroupOracle, merged: Values, values: Values) -> None:
        newer = group.rank(values) >= group.rank(merged)
        for name in group.members:
            if name in self.functions:
                merged[name] = self.functions[name].retract(merged[name], values[name])
            elif newer:
                merged[name] = None
        if newer:
            merged.update({name: values[name] for name in group.sequence})
