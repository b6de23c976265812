"""Which query does a seed make?

The same seed makes the same query for the catalog `lake` and for Spark's own, but for what
Spark's tables lack: versions and system tables are copies with names of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from query_fuzz.drawing import Draw
from query_fuzz.expressions import KINDS, ORDERED, Expressions
from query_fuzz.names import ALIASES, OUTPUTS, Names, Surroundings
from query_fuzz.scopes import Relation, Scope
from query_fuzz.sources import Sources
from query_fuzz.tables import SHAPES, Column

PARAMETERS: dict[str, object] = {"number": 2, "text": "n1"}
_OPERATIONS = ("UNION", "UNION ALL", "INTERSECT", "EXCEPT", "MINUS", "EXCEPT ALL", "INTERSECT ALL")
_MISTAKES = ("nowhere = 1", "orders.nothing = 1", "missing.id IS NULL", "id = ", "lake.db.x.y = 1")
_DEEPEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query of a seed.

    Attributes:
        text: Its text.
        is_inside: Whether it runs where catalog and database are current.
        args: Values of its parameters.
    """

    text: str
    is_inside: bool
    args: dict[str, object] | None


def make_query(seed: int, *, catalog: str) -> Query:
    """The query of a seed over the tables of a catalog."""
    draw = Draw(seed)
    is_inside = draw.chance(0.5)
    writer = _Writer(draw, Names(draw, catalog, is_inside))
    text, _ = writer.query(Surroundings())
    used = writer.expressions.used
    args = {name: value for name, value in PARAMETERS.items() if name in used}
    return Query(text=text, is_inside=is_inside, args=args or None)


@dataclass(slots=True)
class _Writer:
    draw: Draw
    names: Names
    expressions: Expressions = field(init=False)
    sources: Sources = field(init=False)
    depth: int = 0

    def __post_init__(self) -> None:
        self.expressions = Expressions(self.draw, self.subquery)
        self.sources = Sources(self.draw, self.names, self.expressions, self.nested)

    def query(
        self, around: Surroundings, kinds: Sequence[str] | None = None
    ) -> tuple[str, tuple[Column, ...]]:
        """A query and its columns, of some kinds where these are given."""
        self.depth += 1
        try:
            if self.depth <= _DEEPEST:
                if self.draw.chance(0.16):
                    return self._with(around, kinds)
                if self.draw.chance(0.12):
                    return self._set_operation(around, kinds)
            if kinds is None and self.draw.chance(0.07):
                return self._piped(around)
            if kinds is None and self.draw.chance(0.03):
                text, relation = self.names.table(around)
                if relation.qualifiers:
                    return f"TABLE {text}", relation.columns
            return self._select(around, kinds)
        finally:
            self.depth -= 1

    def nested(self, around: Surroundings) -> tuple[str, tuple[Column, ...]]:
        """A query to read from, in parentheses."""
        if self.depth > _DEEPEST:
            return "(VALUES (1), (4))", (Column("col1", "int"),)
        text, columns = self.query(Surroundings(around.common))
        return f"({text})", columns

    def subquery(self, scope: Scope, kinds: Sequence[str]) -> str:
        """A query in an expression, which may name columns of the scope."""
        self.depth += 1
        around = Surroundings(self.common, scope if self.draw.chance(0.7) else None)
        text, inner = self.sources.from_clause(
            Surroundings(around.common), most=0 if self.depth > 2 else 1
        )
        seen = Scope(inner.relations, inner.merged, around.outer)
        if not kinds:
            item = self.draw.pick(("1", "*", "NULL"))
        elif kinds[0].startswith("max:"):
            item = f"max({self.expressions.value(inner, kinds[0][4:], depth=0)})"
        else:
            item = self.expressions.value(inner, kinds[0], depth=0)
        where = self.expressions.condition(seen, depth=0)
        if around.outer is not None:
            where = self._meeting(seen, around.outer) + where
        self.depth -= 1
        return f"(SELECT {item} FROM {text} WHERE {where})"

    @property
    def common(self) -> tuple[tuple[str, tuple[Column, ...]], ...]:
        return self._common

    _common: tuple[tuple[str, tuple[Column, ...]], ...] = ()

    def _meeting(self, inner: Scope, outer: Scope) -> str:
        mine, others = inner.choices("int"), outer.choices("int")
        others = [each for each in others if each[0].qualifiers]
        if not mine or not others:
            return ""
        relation, column = self.draw.pick(others)
        known = {each.name.lower() for _, each in inner.choices()}
        name = self.draw.name(column.name)
        if column.name.lower() in known or self.draw.chance(0.7):
            name = f"{self.draw.name(relation.qualifiers[0][-1])}.{name}"
        return f"{inner.write(self.draw, *self.draw.pick(mine))} = {name} AND "

    def _with(
        self, around: Surroundings, kinds: Sequence[str] | None
    ) -> tuple[str, tuple[Column, ...]]:
        parts: list[str] = []
        for _ in range(self.draw.pick((1, 1, 2))):
            pool = [*ALIASES[:6], *(shape.name for shape in SHAPES)]
            name = self.draw.pick([each for each in pool if not around.hides(each)] or ["late"])
            if any(part.startswith(name) for part in parts):
                continue
            if self.draw.chance(0.05):
                text = "SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 4"
                parts.append(f"numbers(n) AS ({text})")
                around = around.with_common("numbers", (Column("n", "int"),))
                continue
            text, columns = self._within(around)
            listed = ""
            if self.draw.chance(0.15):
                columns = tuple(Column(f"c{i}", each.kind) for i, each in enumerate(columns))
                listed = f"({', '.join(column.name for column in columns)})"
            parts.append(f"{self.draw.name(name)}{listed} AS ({text})")
            around = around.with_common(name, columns)
        if not parts:
            return self._select(around, kinds)
        word = "WITH RECURSIVE" if any(part.startswith("numbers(") for part in parts) else "WITH"
        text, columns = self._within(around, kinds)
        text = f"({text})" if text.startswith("WITH") else text
        return f"{word} {', '.join(parts)}{self.draw.noise()}{text}", columns

    def _within(
        self, around: Surroundings, kinds: Sequence[str] | None = None
    ) -> tuple[str, tuple[Column, ...]]:
        before, self._common = self._common, around.common
        try:
            return self.query(around, kinds)
        finally:
            self._common = before

    def _set_operation(
        self, around: Surroundings, kinds: Sequence[str] | None
    ) -> tuple[str, tuple[Column, ...]]:
        kinds = kinds or [self.draw.pick(ORDERED) for _ in range(self.draw.number(1, 3))]
        left, columns = self.query(around, kinds)
        right, _ = self.query(around, kinds)
        sides = [f"({side})" if _needs_parens(side) else side for side in (left, right)]
        operation = self.draw.pick(_OPERATIONS)
        return f"{sides[0]} {operation}{self.draw.noise()}{sides[1]}", columns

    def _piped(self, around: Surroundings) -> tuple[str, tuple[Column, ...]]:
        text, scope = self.sources.from_clause(Surroundings(around.common), most=1)
        steps = []
        if self.draw.chance(0.7):
            steps.append(f"WHERE {self.expressions.condition(scope, depth=1)}")
        if self.draw.chance(0.3):
            steps.append(f"EXTEND {self.expressions.value(scope, 'int')} AS made")
            scope = scope.with_relation(Relation((), (Column("made", "int"),)))
        if self.draw.chance(0.3):
            key = self.expressions.value(scope, "text", depth=0)
            kind, call = self.expressions.aggregate(scope)
            steps.append(f"AGGREGATE {call} AS total GROUP BY {key} AS label")
            columns: tuple[Column, ...] = (Column("label", "text"), Column("total", kind))
        else:
            items, columns = self._items(scope, None, must_name=True)
            steps.append(f"SELECT {items}")
        if self.draw.chance(0.3):
            inner = Scope((Relation((), columns),))
            steps.append(f"WHERE {self.expressions.condition(inner, depth=0)}")
        return " |> ".join([f"FROM {text}", *steps]), columns

    def _select(
        self, around: Surroundings, kinds: Sequence[str] | None
    ) -> tuple[str, tuple[Column, ...]]:
        text, scope = self.sources.from_clause(around)
        must_name = self.depth > 1 or kinds is not None
        where = ""
        if self.draw.chance(0.6):
            where = f"{self.draw.noise()}WHERE {self.expressions.condition(scope)}"
        if self.depth == 1 and self.draw.chance(0.04):
            where = f" WHERE {self.draw.pick(_MISTAKES)}"
        tail = ""
        if self.draw.chance(0.22):
            items, columns, tail = self._grouped(scope, kinds)
        elif self.draw.chance(0.15):
            items, columns, tail = self._windowed(scope, kinds)
        else:
            items, columns = self._items(scope, kinds, must_name=must_name)
            if all(column.kind != "map" for column in columns) and self.draw.chance(0.1):
                items = f"DISTINCT {items}"
        if all(column.kind in ORDERED for column in columns) and self.draw.chance(0.12):
            tail += f" ORDER BY ALL LIMIT {self.draw.number(1, 8)}"
            tail += self.draw.pick(("", " OFFSET 1"))
        hint = self._hint(scope) if self.draw.chance(0.08) else ""
        if self.draw.chance(0.06):
            return f"FROM {text} SELECT {items}{where}{tail}", columns
        return f"SELECT{hint} {items}{self.draw.noise()}FROM {text}{where}{tail}", columns

    def _hint(self, scope: Scope) -> str:
        labels = [each.qualifiers[0][-1] for each in scope.relations if each.qualifiers]
        word = self.draw.pick(("BROADCAST", "MERGE", "SHUFFLE_HASH"))
        return f" /*+ {word}(`{self.draw.pick(labels)}`) */" if labels else ""

    def _items(
        self, scope: Scope, kinds: Sequence[str] | None, *, must_name: bool
    ) -> tuple[str, tuple[Column, ...]]:
        if kinds is None and self.draw.chance(0.25):
            star = self._star(scope)
            if star is not None:
                return star
        wanted = kinds or [self.draw.pick(KINDS) for _ in range(self.draw.number(1, 4))]
        texts: list[str] = []
        columns: list[Column] = []
        for kind in wanted:
            name = self._free_name(columns)
            value = self.expressions.value(scope, kind)
            as_word = self.draw.pick((" AS ", " "))
            is_named = must_name or self.draw.chance(0.5)
            texts.append(f"{value}{as_word}{self.draw.name(name)}" if is_named else value)
            columns.append(Column(name, kind))
        return ", ".join(texts), tuple(columns)

    def _free_name(self, columns: Sequence[Column]) -> str:
        taken = {column.name for column in columns}
        return self.draw.pick([name for name in OUTPUTS if name not in taken])

    def _star(self, scope: Scope) -> tuple[str, tuple[Column, ...]] | None:
        relation = self.draw.pick(scope.relations)
        if relation.qualifiers and self.draw.chance(0.4):
            qualifier = self.draw.pick(relation.qualifiers)
            text = ".".join(self.draw.name(part) for part in (*qualifier, "")).removesuffix("``")
            text, columns = f"{text.rstrip('.')}.*", relation.columns
        else:
            found = scope.star()
            if found is None:
                return None
            text, columns = "*", found
        if len(columns) > 1 and self.draw.chance(0.2):
            left_out = self.draw.pick(columns)
            text += f" EXCEPT ({self.draw.name(left_out.name)})"
            columns = tuple(column for column in columns if column is not left_out)
        return text, columns

    def _grouped(
        self, scope: Scope, kinds: Sequence[str] | None
    ) -> tuple[str, tuple[Column, ...], str]:
        if kinds is not None:
            pairs = [
                (kind, f"max({self.expressions.value(scope, kind, depth=1)})") for kind in kinds
            ]
            keys: list[tuple[str, str]] = []
        else:
            choices = [each for each in scope.choices() if each[1].kind in ORDERED]
            chosen = self.draw.some(choices, at_least=0, at_most=2) if choices else []
            keys = [(column.kind, scope.write(self.draw, of, column)) for of, column in chosen]
            pairs = [
                *keys,
                *(self.expressions.aggregate(scope) for _ in range(self.draw.number(1, 2))),
            ]
        columns: list[Column] = []
        texts = []
        for kind, text in pairs:
            columns.append(Column(self._free_name(columns), kind))
            texts.append(f"{text} AS {self.draw.name(columns[-1].name)}")
        tail = f" GROUP BY {self._group_keys([text for _, text in keys])}" if keys else ""
        if self.draw.chance(0.25):
            tail += f" HAVING {self.draw.pick(('count(*) > 1', 'count(1) >= 1', 'max(1) = 1'))}"
        return ", ".join(texts), tuple(columns), tail

    def _group_keys(self, keys: list[str]) -> str:
        listed = ", ".join(keys)
        numbers = ", ".join(str(index + 1) for index in range(len(keys)))
        return self.draw.pick(
            (
                *(listed, listed, "ALL", numbers, f"ROLLUP ({listed})", f"CUBE ({listed})"),
                *(f"GROUPING SETS (({listed}), ())", f"{listed} WITH ROLLUP"),
            )
        )

    def _windowed(
        self, scope: Scope, kinds: Sequence[str] | None
    ) -> tuple[str, tuple[Column, ...], str]:
        items, columns = self._items(scope, kinds, must_name=True)
        if kinds is not None:
            return items, columns, ""
        name = self._free_name(columns)
        if self.draw.chance(0.4):
            call = self.expressions.window(scope, over="win")
            tail = f" WINDOW win AS ({self.expressions.over(scope)})"
        else:
            call, tail = self.expressions.window(scope), ""
        kind = "text" if call.startswith("max") else "int"
        return f"{items}, {call} AS {self.draw.name(name)}", (*columns, Column(name, kind)), tail


def _needs_parens(text: str) -> bool:
    return any(
        word in text for word in (" LIMIT ", "WITH ", "|>", " UNION", " EXCEPT", "INTERSECT")
    ) or text.startswith(("FROM", "TABLE"))
