"""Which columns can be written where in a query, and how?"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from query_fuzz.drawing import Draw
from query_fuzz.tables import Column


@dataclass(frozen=True, slots=True)
class Relation:
    """A source of rows in a FROM clause.

    Attributes:
        qualifiers: What may stand before the dot of its columns, as names in parts.
        columns: Its columns, in order.
    """

    qualifiers: tuple[tuple[str, ...], ...]
    columns: tuple[Column, ...]

    @property
    def label(self) -> str:
        """What a second relation beside it must not be called."""
        return self.qualifiers[0][-1].lower() if self.qualifiers else ""


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression can name.

    Attributes:
        relations: The sources of its SELECT.
        merged: Names of columns that USING or NATURAL made one.
        outer: What the queries round it can name.
        bound: Names that mean something else here, such as those of lambda variables.
    """

    relations: tuple[Relation, ...] = ()
    merged: frozenset[str] = frozenset()
    outer: "Scope | None" = None
    bound: frozenset[str] = field(default_factory=frozenset)

    def choices(self, kind: str | None = None) -> list[tuple[Relation, Column]]:
        """Columns of a kind that can be named, each with its relation."""
        counts = self._counts()
        return [
            (relation, column)
            for relation in self.relations
            for column in relation.columns
            if kind in {None, column.kind}
            and (relation.qualifiers or self._is_bare(column, counts))
        ]

    def write(self, draw: Draw, relation: Relation, column: Column) -> str:
        """A column as somebody may write it."""
        is_bare = self._is_bare(column, self._counts())
        if is_bare and (not relation.qualifiers or draw.chance(0.5)):
            return draw.name(column.name)
        qualifier = draw.pick(relation.qualifiers)
        return ".".join(draw.name(part) for part in (*qualifier, column.name))

    def star(self) -> tuple[Column, ...] | None:
        """The columns of `*`; None where two have one name."""
        found: dict[str, Column] = {}
        for relation in self.relations:
            for column in relation.columns:
                name = column.name.lower()
                if name in found and name not in self.merged:
                    return None
                found.setdefault(name, column)
        return tuple(found.values())

    def labels(self) -> set[str]:
        """What a further relation must not be called."""
        return {relation.label for relation in self.relations}

    def with_relation(self, relation: Relation, *, merged: Iterable[str] = ()) -> "Scope":
        """With one more source."""
        return replace(
            self,
            relations=(*self.relations, relation),
            merged=self.merged | {name.lower() for name in merged},
        )

    def _counts(self) -> Counter[str]:
        return Counter(
            column.name.lower() for relation in self.relations for column in relation.columns
        )

    def _is_bare(self, column: Column, counts: Counter[str]) -> bool:
        name = column.name.lower()
        return name not in self.bound and (counts[name] == 1 or name in self.merged)


def shared_names(scope: Scope, columns: Sequence[Column]) -> list[str]:
    """Names of columns that a scope has once and of the same kind."""
    bare = {column.name.lower(): column.kind for column in scope.star() or ()}
    return [column.name for column in columns if bare.get(column.name.lower()) == column.kind]
