"""Which expressions and conditions does a generated query hold?

Each has one value whatever the order of rows: sums are of exact numbers, lists are sorted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from query_fuzz.drawing import Draw
from query_fuzz.scopes import Scope

ORDERED = ("int", "text", "dec", "real", "date", "ts", "bool")
"""Kinds whose values can be compared and grouped."""
KINDS = (*ORDERED, "texts", "ints", "info", "infos", "map")

_LITERALS = {
    "int": ("0", "1", "2", "3", "7", "10", "-1", "3L", "+2", "int(4)", "threshold", "1 + 1"),
    "text": (
        *("'n1'", "'c1'", "'p2'", '"x"', "'2024-01-02'", "'10'", "''", "'it''s'", "'n' '1'"),
        *("r'\\d'", "'\\u006e1'", "'\\143\\061'", "'it\\'s'", "'a\\nb'", "'{}'", "'{{x}}'"),
        *("' FROM lake.db.nowhere '", "'-- no comment'", "'/* nor this'", "'`'", "'1'"),
    ),
    "dec": ("1.25", "7.50", "0.0BD", "CAST(5 AS DECIMAL(10, 2))", "10.000"),
    "real": ("1.5D", "2e0", "CAST(3 AS DOUBLE)", "0.5", "4"),
    "date": ("DATE '2024-01-03'", "DATE'2024-01-05'", "date('2024-01-07')", "'2024-01-05'::date"),
    "ts": ("TIMESTAMP '2024-01-01 03:00:00'", "timestamp_seconds(1704070800)"),
    "bool": ("true", "FALSE", "(1 = 1)"),
    "texts": ("array('x', 't1')", "split('a,b', ',')", "CAST(array() AS ARRAY<STRING>)"),
    "ints": ("array(1, 2)", "sequence(1, 3)", "array(3, null)"),
    "info": ("named_struct('city', 'c1', 'size', 1, 'id', 2)",),
    "infos": ("array(named_struct('id', 1, 'city', 'c1'))",),
    "map": ("map('a', 1)", "map('b', 2, 'c', null)"),
}
# {kind} stands for an expression of the kind, {c} for a condition.
_FUNCTIONS = {
    "int": (
        *("{int} + 1", "({int} - {int})", "{int} % 3", "length({text})", "coalesce({int}, 0)"),
        *("if({c}, {int}, 2)", "CASE WHEN {c} THEN {int} ELSE {int} END", "year({date})"),
        *("extract(DAY FROM {date})", "size({texts})", "try_element_at({ints}, 1)", "{info}.size"),
        *("{map}['a']", "aggregate({ints}, 0, (acc, id) -> acc + coalesce(id, 0))"),
        *("position('1' IN {text})", "CASE {int} WHEN 1 THEN 2 WHEN 3 THEN 4 END", "{info}.id"),
        *("-{int}", "{int} DIV 2", "try_cast({text} AS INT)", "nullif({int}, 3)", "~{int}"),
        *("size(filter({infos}, x -> x.id > 1))", "get({infos}, 0).id"),
    ),
    "text": (
        *("concat({text}, 'x')", "{text} || {text}", "upper({text})", "substring({text}, 1, 2)"),
        *("substring({text} FROM 1 FOR 2)", "trim(BOTH 'x' FROM {text})", "{info}.city"),
        *("CAST({int} AS STRING)", "{int}::string", "array_join({texts}, ',')", "nvl({text}, '')"),
        *("overlay({text} PLACING '_' FROM 1)", "try_element_at({texts}, 1)", "to_json({info})"),
        *(
            "CASE WHEN {c} THEN {text} END",
            "get({infos}, 0).city",
            "trim({text})",
            "{infos}[0].city",
        ),
        *("date_format({ts}, 'yyyy')", "trim(LEADING FROM {text})", "replace({text}, 'n', 'c')"),
    ),
    "dec": ("coalesce({dec}, 0.00)", "abs({dec})", "{dec} + 1", "CAST({int} AS DECIMAL(10, 2))"),
    "real": ("{real} * 2", "CAST({int} AS DOUBLE)", "nvl({real}, 0)", "{dec}::double"),
    "date": (
        "date_add({date}, 1)",
        "{date} + INTERVAL 1 DAY",
        "to_date({ts})",
        "greatest({date}, {date})",
    ),
    "ts": ("CAST({date} AS TIMESTAMP)", "date_trunc('DAY', {ts})", "{ts} + INTERVAL '1' HOUR"),
    "bool": ("{c}", "coalesce({bool}, false)"),
    "texts": ("transform({texts}, id -> id || '!')", "sort_array({texts})", "array({text}, 'z')"),
    "ints": ("filter({ints}, x -> x > 1)", "transform({ints}, (x, i) -> x + i)", "array({int})"),
    "info": ("named_struct('city', {text}, 'size', {int}, 'id', {int})",),
    "infos": (
        "filter({infos}, p -> p.city = 'c1')",
        "array(named_struct('id', {int}, 'city', {text}))",
    ),
    "map": ("map(nvl({text}, ''), {int})", "map_filter({map}, (k, v) -> v > 0)"),
}
_CONDITIONS = (
    *("{int} > {int}", "{int} = {int:l}", "{int:l} < {int}", "{int} BETWEEN {int:l} AND {int:l}"),
    *("{int} IN (1, 3, {int:l})", "{int} IS NULL", "{int} IS NOT NULL", "{int} <=> {int}"),
    *("{text} = {text:l}", "{text} <> {text:l}", "{text} LIKE 'n%'", "{text} LIKE '%1'"),
    *("{text} NOT LIKE 'p_'", "{text} IN ('n1', 'c1', {text:l})", "{text} IS NULL"),
    *("{text} LIKE 'n/%' ESCAPE '/'", "{text} RLIKE '^[cn]'", "{text} LIKE ANY ('n%', 'c%')"),
    *("{text} >= {text:l}", "{text} ILIKE 'N%'", "{text} IS DISTINCT FROM {text}"),
    *("{dec} > {dec:l}", "{dec} = {dec:l}", "{real} <= {real:l}", "{real} != {real:l}"),
    *("{date} >= {date:l}", "{date} = {date:l}", "{ts} < {ts:l}", "{date} IS NULL", "{bool}"),
    *("{bool} = true", "{bool} IS NOT TRUE", "NOT {bool}", "exists({texts}, id -> id = 'x')"),
    *("array_contains({texts}, 't1')", "{info}.size = {int:l}", "{info}.city = {text:l}"),
    *("{info}.id > {int:l}", "{map}['a'] > {int:l}", "{info} IS NULL", "{int} NOT IN (1, 2)"),
    *("{date} = '2024-01-05'", "{int} = '3'", "{int} == {int}", "{text} = {int}::string"),
    *("NOT {text} = {text:l} AND {int} > 0", "{int} + 1 = 2 OR {text} IS NULL", "!({int} = 1)"),
    *("{text} = '10' AND CAST({text} AS STRING) < 'z'", "{int} NOT BETWEEN 2 AND 4", "! {bool}"),
    *("forall({ints}, x -> x > {int})", "{date} BETWEEN {date:l} AND {date}", "isnull({text})"),
    *("{int} = :number", "{text} = :text", "{int} > :number AND {int} < 9"),
)
_AGGREGATES = (
    *(("int", text) for text in ("sum({int})", "max({int})", "count(*)", "count({int})")),
    *(("int", text) for text in ("count(DISTINCT {text})", "count_if({c})", "min({int})")),
    *(("int", text) for text in ("count(*) FILTER (WHERE {c})", "sum({int}) FILTER (WHERE {c})")),
    ("text", "max({text})"),
    ("text", "min({text})"),
    ("text", "listagg({text}, ',') WITHIN GROUP (ORDER BY {text:same})"),
    ("text", "listagg(DISTINCT {text}, ';') WITHIN GROUP (ORDER BY {text:same})"),
    ("real", "percentile_cont(0.5) WITHIN GROUP (ORDER BY {int})"),
    ("texts", "sort_array(collect_list({text}))"),
    ("ints", "sort_array(collect_set({int}))"),
    ("bool", "bool_or({bool})"),
    ("dec", "sum({dec})"),
    ("date", "max({date})"),
)
_WINDOWS = (
    *("rank() OVER ({over})", "sum({int}) OVER ({over})", "count(*) OVER ({over})"),
    *("dense_rank() OVER ({over})", "max({text}) OVER ({over})", "count({text}) OVER ({over})"),
)

Subquery = Callable[[Scope, Sequence[str]], str]


@dataclass(slots=True)
class Expressions:
    """Writes expressions.

    Attributes:
        draw: What chance says.
        subquery: Writes a query of columns of some kinds within a scope, in parentheses.
        depth: How deep the next subquery may be.
        used: Names of parameters that were used.
    """

    draw: Draw
    subquery: Subquery
    used: set[str] = field(default_factory=set)

    def value(self, scope: Scope, kind: str, *, depth: int = 2) -> str:
        """An expression of a kind."""
        column = self.column(scope, kind)
        if column is not None and self.draw.chance(0.65):
            return column
        if depth > 0 and self.draw.chance(0.55):
            return self._filled(self.draw.pick(_FUNCTIONS[kind]), scope, depth - 1)
        if depth > 1 and kind in ORDERED and self.draw.chance(0.12):
            return self.subquery(scope, [f"max:{kind}"])
        return column if column is not None else self.draw.pick(_LITERALS[kind])

    def column(self, scope: Scope, kind: str) -> str | None:
        """A column of a kind, of a query round this one now and then."""
        if scope.outer is not None and self.draw.chance(0.15):
            found = self.column(scope.outer, kind)
            known = {column.name.lower() for _, column in scope.choices()}
            if found is not None and found.strip("`").lower() not in known:
                return found
        choices = scope.choices(kind)
        return scope.write(self.draw, *self.draw.pick(choices)) if choices else None

    def condition(self, scope: Scope, *, depth: int = 2) -> str:
        """A condition."""
        if depth > 0 and self.draw.chance(0.35):
            left, right = (self.condition(scope, depth=depth - 1) for _ in range(2))
            form = self.draw.pick(
                ("{} AND {}", "({} AND {})", "({} OR {})", "NOT ({} OR {})", "{} AND ({})")
            )
            return form.format(left, right)
        if depth > 0 and self.draw.chance(0.14):
            return self._of_subquery(scope)
        return self._filled(self.draw.pick(_CONDITIONS), scope, min(depth, 1))

    def aggregate(self, scope: Scope) -> tuple[str, str]:
        """A call over groups: its kind and text."""
        kind, form = self.draw.pick(_AGGREGATES)
        if "{text:same}" in form:
            text = self.value(scope, "text", depth=0)
            return kind, form.replace("{text}", text).replace("{text:same}", text)
        return kind, self._filled(form, scope, 1)

    def window(self, scope: Scope, over: str | None = None) -> str:
        """A call over a window of a scope, or over one that has a name."""
        form = self.draw.pick(_WINDOWS)
        form = form.replace("({over})", over) if over else form.replace("{over}", self.over(scope))
        return self._filled(form, scope, 1)

    def over(self, scope: Scope) -> str:
        """What stands in the parentheses of a window."""
        parts = self.value(scope, self.draw.pick(("int", "text")), depth=0)
        order = self.value(scope, self.draw.pick(("int", "text")), depth=0)
        last = self.draw.pick((" DESC", " NULLS LAST", "", ""))
        return f"PARTITION BY {parts} ORDER BY {order}{last}"

    def literal(self, kind: str) -> str:
        """A literal of a kind."""
        return self.draw.pick(_LITERALS[kind])

    def _of_subquery(self, scope: Scope) -> str:
        if self.draw.chance(0.4):
            return f"{self.draw.pick(('', 'NOT '))}EXISTS {self.subquery(scope, [])}"
        kind = self.draw.pick(("int", "text"))
        word = self.draw.pick(("IN", "IN", "NOT IN"))
        return f"{self.value(scope, kind, depth=0)} {word} {self.subquery(scope, [kind])}"

    def _filled(self, form: str, scope: Scope, depth: int) -> str:
        """A form with expressions in the place of its kinds."""
        pieces = []
        rest = form
        while (start := _next_kind(rest)) is not None:
            word, _, behind = rest[start + 1 :].partition("}")
            kind, _, rule = word.partition(":")
            if kind == "c":
                text = f"({self.condition(scope, depth=0)})"
            elif rule == "l":
                text = self.literal(kind)
            else:
                text = self.value(scope, kind, depth=depth)
            before = rest[:start]
            is_part = behind.startswith((".", "[")) or before.endswith(("-", "~"))
            pieces += [before, f"({text})" if is_part and not _is_name(text) else text]
            rest = behind
        filled = "".join([*pieces, rest])
        for parameter in ("number", "text"):
            if f":{parameter}" in form:
                self.used.add(parameter)
        return filled


def _next_kind(form: str) -> int | None:
    """Where the next `{kind}` stands; other braces are text."""
    for start, sign in enumerate(form):
        word = form[start + 1 :].partition("}")[0].partition(":")[0]
        if sign == "{" and (word in KINDS or word == "c"):
            return start
    return None


def _is_name(text: str) -> bool:
    return all(sign.isalnum() or sign in "_.` " for sign in text) and " " not in text.strip()
