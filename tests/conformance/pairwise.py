"""Which combinations of choices to try, so that every two choices meet in one of them.

Choices exclude each other by rules on two factors. The array is grown greedily: each new row starts
from a pair that no row has yet, and takes for every other factor what brings most new pairs.
"""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Choice = tuple[str, str]
Row = dict[str, str]

CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class Rule:
    """Where `factor` is one of `values`, `other` is one of `allowed`."""

    factor: str
    values: tuple[str, ...]
    other: str
    allowed: tuple[str, ...]


def make_array(
    factors: Mapping[str, Sequence[str]], rules: Sequence[Rule], *, count: int, seed: int
) -> list[Row]:
    """Rows in which all pairs that can meet do, filled up with random rows.

    Args:
        factors: The choices of each factor.
        rules: What excludes what.
        count: How many rows at least.
        seed: The same seed gives the same rows.
    """
    maker = _Maker(factors, rules, random.Random(seed))
    rows: list[Row] = []
    while (start := maker.missing()) is not None:
        row = maker.best_row(start)
        if row is None:
            continue
        rows.append(row)
    while len(rows) < count:
        row = maker.fill({})
        assert row is not None
        rows.append(row)
    return rows


class _Maker:
    """The pairs that no row has yet."""

    def __init__(
        self, factors: Mapping[str, Sequence[str]], rules: Sequence[Rule], rng: random.Random
    ) -> None:
        self._factors = factors
        self._rng = rng
        self._excluded = {
            pair
            for rule in rules
            for value in rule.values
            for other in set(factors[rule.other]) - set(rule.allowed)
            for pair in _both_ways((rule.factor, value), (rule.other, other))
        }
        self._missing = {
            pair
            for one, two in itertools.permutations(factors, 2)
            for pair in itertools.product(_choices(factors, one), _choices(factors, two))
            if pair not in self._excluded
        }

    def missing(self) -> tuple[Choice, Choice] | None:
        """A pair that no row has."""
        return self._rng.choice(sorted(self._missing)) if self._missing else None

    def best_row(self, start: tuple[Choice, Choice]) -> Row | None:
        """A row with a pair, and many other new ones; None, for good, where there can be none."""
        rows = [self.fill(dict(start)) for _ in range(CANDIDATES)]
        made = [row for row in rows if row is not None]
        if not made:
            self._missing -= set(_both_ways(*start))
            return None
        row = max(made, key=self._gain)
        self._missing -= set(itertools.permutations(row.items(), 2))
        return row

    def fill(self, row: Row) -> Row | None:
        """The row with a choice for every factor, or None where the rules leave none."""
        free = {
            factor: [value for value in values if self._fits((factor, value), row)]
            for factor, values in self._factors.items()
            if factor not in row
        }
        if not free:
            return {factor: row[factor] for factor in self._factors}
        # The factor with least to choose from goes first, so that a dead end is seen soon.
        factor = min(free, key=lambda name: (len(free[name]), self._rng.random()))
        values = free[factor]
        self._rng.shuffle(values)
        values.sort(key=lambda value: -self._new_pairs((factor, value), row))
        for value in values:
            filled = self.fill(row | {factor: value})
            if filled is not None:
                return filled
        return None

    def _fits(self, choice: Choice, row: Row) -> bool:
        return not any((choice, other) in self._excluded for other in row.items())

    def _new_pairs(self, choice: Choice, row: Row) -> int:
        return sum((choice, other) in self._missing for other in row.items())

    def _gain(self, row: Row) -> int:
        return sum(pair in self._missing for pair in itertools.combinations(row.items(), 2))


def _choices(factors: Mapping[str, Sequence[str]], factor: str) -> list[Choice]:
    return [(factor, value) for value in factors[factor]]


def _both_ways(one: Choice, two: Choice) -> tuple[tuple[Choice, Choice], tuple[Choice, Choice]]:
    return (one, two), (two, one)
