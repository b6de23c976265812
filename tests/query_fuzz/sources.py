"""What stands in the FROM clause of a generated query?"""

from collections.abc import Callable
from dataclasses import dataclass

from query_fuzz.drawing import Draw
from query_fuzz.expressions import ORDERED, Expressions
from query_fuzz.names import Names, Surroundings
from query_fuzz.scopes import Relation, Scope, shared_names
from query_fuzz.tables import Column

Nested = Callable[[Surroundings], tuple[str, tuple[Column, ...]]]

_JOINS = (
    *("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL OUTER JOIN"),
    *("LEFT JOIN", "RIGHT OUTER JOIN", "FULL JOIN", "LEFT SEMI JOIN", "SEMI JOIN", "ANTI JOIN"),
    *("LEFT ANTI JOIN", "CROSS JOIN", ","),
)
_GENERATED = (
    ("texts", "explode({})", (Column("tag", "text"),)),
    ("ints", "posexplode({})", (Column("pos", "int"), Column("num", "int"))),
    ("infos", "inline({})", (Column("part id", "int"), Column("part city", "text"))),
    ("map", "explode({})", (Column("k", "text"), Column("v", "int"))),
    ("infos", "explode({})", (Column("part", "info"),)),
)


@dataclass(frozen=True, slots=True)
class Sources:
    """Writes FROM clauses.

    Attributes:
        draw: What chance says.
        names: Names of tables.
        expressions: Conditions of joins.
        nested: Writes a query to read from, in parentheses.
    """

    draw: Draw
    names: Names
    expressions: Expressions
    nested: Nested

    def from_clause(self, around: Surroundings, *, most: int = 2) -> tuple[str, Scope]:
        """What stands behind FROM, and what can be named of it."""
        text, relation = self.source(around, set(), may_turn=True)
        scope = Scope((relation,))
        for _ in range(min(most, self.draw.pick((0, 0, 0, 1, 1, 2)))):
            if self.draw.chance(0.12):
                more, scope = self._lateral(scope)
            elif self.draw.chance(0.1) and len(scope.relations) == 1:
                more, scope = self._group(scope, around)
            else:
                more, scope = self._join(scope, around)
            text += more
        while self.draw.chance(0.08):
            more, scope = self._lateral_view(scope)
            text += more
        if around.outer is not None:
            scope = Scope(scope.relations, scope.merged, around.outer)
        return text, scope

    def source(
        self, around: Surroundings, taken: set[str], *, may_turn: bool = False
    ) -> tuple[str, Relation]:
        """One source of rows, with an alias where it needs one; PIVOT may stand in the first."""
        text, relation = self._bare_source(around)
        if self.draw.chance(0.05):
            text += f" TABLESAMPLE {self.draw.pick(('(100 PERCENT)', '(1000 ROWS)'))}"
        if may_turn and self.draw.chance(0.1):
            text, relation = self._turned(text, relation)
        if relation.label and relation.label not in taken and self.draw.chance(0.45):
            return text, relation
        alias = self.names.alias(taken)
        columns = relation.columns
        word = self.draw.pick((" AS ", " "))
        text += self.draw.noise() + word + self.draw.name(alias)
        if self.draw.chance(0.1):
            renamed = tuple(
                Column(name, column.kind)
                for name, column in zip(self._new_names(columns), columns, strict=True)
            )
            text += f" ({', '.join(self.draw.name(column.name) for column in renamed)})"
            columns = renamed
        return text, Relation(((alias,),), columns)

    def _new_names(self, columns: tuple[Column, ...]) -> list[str]:
        """The same names in another order, or new ones."""
        old = [column.name for column in columns]
        if self.draw.chance(0.5):
            return self.draw.some(old, at_least=len(old), at_most=len(old))
        return [f"c{index}" for index in range(len(old))]

    def _bare_source(self, around: Surroundings) -> tuple[str, Relation]:
        if around.common and self.draw.chance(0.45):
            name, columns = self.draw.pick(around.common)
            return self.draw.name(name), Relation(((name,),), columns)
        if self.draw.chance(0.15):
            text, columns = self.nested(around)
            return text, Relation((), columns)
        if self.draw.chance(0.05):
            values = "VALUES (1, 'c1'), (2, NULL), (5, 'p2')"
            return self.draw.pick((f"({values})", f"(SELECT * FROM {values})")), Relation(
                (), (Column("col1", "int"), Column("col2", "text"))
            )
        if self.draw.chance(0.04):
            return f"range({self.draw.number(2, 6)})", Relation((), (Column("id", "int"),))
        if self.draw.chance(0.15) and (view := self.names.view(around)) is not None:
            return view
        text, relation = self.names.table(around)
        return (f"({text})", relation) if self.draw.chance(0.04) else (text, relation)

    def _turned(self, text: str, relation: Relation) -> tuple[str, Relation]:
        """Through PIVOT or UNPIVOT."""
        numbers = [column for column in relation.columns if column.kind == "int"]
        is_plain = all(column.kind != "map" for column in relation.columns)
        if not is_plain or len(numbers) < 2 or "TABLESAMPLE" in text:
            return text, relation
        if self.draw.chance(0.5):
            chosen = self.draw.some(numbers, at_least=2, at_most=2)
            listed = ", ".join(self.draw.name(column.name) for column in chosen)
            rest = tuple(column for column in relation.columns if column not in chosen)
            made = (Column("label", "text"), Column("value", "int"))
            nulls = self.draw.pick(("", "INCLUDE NULLS "))
            return (
                f"{text} UNPIVOT {nulls}(value FOR label IN ({listed}))",
                Relation((), (*rest, *made)),
            )
        turned = self.draw.pick(numbers)
        rest = tuple(column for column in relation.columns if column is not turned)
        if not all(column.kind in ORDERED for column in rest):
            return text, relation
        made = (Column("one", "int"), Column("two", "int"))
        name = self.draw.name(turned.name)
        return (
            f"{text} PIVOT (count(*) FOR {name} IN (1 AS one, 2 AS two))",
            Relation((), (*rest, *made)),
        )

    def _join(self, scope: Scope, around: Surroundings) -> tuple[str, Scope]:
        text, relation = self.source(around, scope.labels())
        return self._joined(scope, text, Scope((relation,)))

    def _group(self, scope: Scope, around: Surroundings) -> tuple[str, Scope]:
        """With a join in parentheses."""
        text, relation = self.source(around, scope.labels())
        inner = Scope((relation,))
        other_text, other = self.source(around, scope.labels() | inner.labels())
        more, inner = self._joined(inner, other_text, Scope((other,)))
        if inner.merged or any(not each.qualifiers for each in inner.relations):
            return self._joined(scope, text, Scope((relation,)))
        return self._joined(scope, f"({text}{more})", inner)

    def _joined(self, scope: Scope, text: str, right: Scope) -> tuple[str, Scope]:
        join = self.draw.pick(_JOINS)
        both = Scope((*scope.relations, *right.relations), scope.merged | right.merged)
        after = scope if "SEMI" in join or "ANTI" in join else both
        if join in {",", "CROSS JOIN"}:
            return f"{self.draw.noise()}{join} {text}", both
        columns = tuple(column for each in right.relations for column in each.columns)
        shared = shared_names(scope, columns) if len(right.relations) == 1 else []
        if shared and self.draw.chance(0.3):
            chosen = self.draw.some(shared, at_most=2)
            listed = ", ".join(self.draw.name(name) for name in chosen)
            merged = frozenset(name.lower() for name in chosen)
            if after is both:
                after = Scope(both.relations, both.merged | merged)
            return f"{self.draw.noise()}{join} {text} USING ({listed})", after
        names = {column.name.lower() for each in scope.relations for column in each.columns}
        common = {column.name.lower() for column in columns} & names
        is_natural = after is both and common == {name.lower() for name in shared}
        if shared and is_natural and self.draw.chance(0.2):
            after = Scope(both.relations, both.merged | frozenset(common))
            return f"{self.draw.noise()}NATURAL {join} {text}", after
        return f"{self.draw.noise()}{join} {text} ON {self._meeting(scope, right, both)}", after

    def _meeting(self, left: Scope, right: Scope, both: Scope) -> str:
        """A condition of a join."""
        parts = []
        equality = self._equality(left, right, both)
        if equality is not None and self.draw.chance(0.9):
            parts.append(equality)
        if not parts or self.draw.chance(0.35):
            parts.append(f"({self.expressions.condition(both, depth=0)})")
        return " AND ".join(parts)

    def _equality(self, left: Scope, right: Scope, both: Scope) -> str | None:
        kinds = [kind for kind in ("int", "text") if left.choices(kind) and right.choices(kind)]
        if not kinds:
            return None
        kind = self.draw.pick(kinds)
        sides = []
        for side in (left, right):
            choices = [each for each in both.choices(kind) if each[0] in side.relations]
            if not choices:
                return None
            sides.append(both.write(self.draw, *self.draw.pick(choices)))
        return f"{sides[0]} {self.draw.pick(('=', '=', '==', '<=>'))} {sides[1]}"

    def _generated(self, scope: Scope) -> tuple[str, tuple[Column, ...]]:
        kind, form, columns = self.draw.pick(_GENERATED)
        value = self.expressions.column(scope, kind) or self.expressions.literal(kind)
        return form.format(value), columns

    def _lateral(self, scope: Scope) -> tuple[str, Scope]:
        alias = self.names.alias(scope.labels())
        call, columns = self._generated(scope)
        join = self.draw.pick(
            (", LATERAL", " JOIN LATERAL", " LEFT JOIN LATERAL", " CROSS JOIN LATERAL")
        )
        relation = Relation(((alias,),), columns)
        listed = ", ".join(self.draw.name(column.name) for column in columns)
        if self.draw.chance(0.5):
            call = f"(SELECT * FROM {call} AS inner_g({listed}))"
        written = f"{join} {call} AS {self.draw.name(alias)}({listed})"
        if join == " LEFT JOIN LATERAL":
            written += " ON true"
        return written, scope.with_relation(relation)

    def _lateral_view(self, scope: Scope) -> tuple[str, Scope]:
        alias = self.names.alias(scope.labels())
        call, columns = self._generated(scope)
        outer = self.draw.pick(("", " OUTER"))
        listed = ", ".join(self.draw.name(column.name) for column in columns)
        relation = Relation(((alias,),), columns)
        return (
            f"{self.draw.noise()}LATERAL VIEW{outer} {call} {self.draw.name(alias)} AS {listed}",
            scope.with_relation(relation),
        )
