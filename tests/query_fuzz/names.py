"""What are tables called in a query, and which names may its columns have before them?"""

from dataclasses import dataclass

from query_fuzz.drawing import Draw
from query_fuzz.scopes import Relation, Scope
from query_fuzz.tables import (
    DATABASE,
    PLAIN_CATALOG,
    SHAPES,
    SYSTEM_SHAPES,
    VIEWS,
    Column,
    Shape,
    copied_name,
)

# Some are names of tables or columns, and words that Spark lets be names.
ALIASES = (
    *("a", "b", "x", "t", "o", "p", "orders", "people", "info", "id", "name", "date", "city"),
    *("my alias", "count", "size", "plain", "db", "lake", "first", "version", "shadow"),
)
OUTPUTS = (
    *("id", "name", "total", "n", "city", "info", "x", "count", "day", "size", "a b", "orders"),
    *("m", "k", "version", "tag"),
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a query sees of those round it.

    Attributes:
        common: Tables of WITH clauses, the innermost first.
        outer: Columns that it may name, where it is a correlated subquery.
    """

    common: tuple[tuple[str, tuple[Column, ...]], ...] = ()
    outer: Scope | None = None

    def with_common(self, name: str, columns: tuple[Column, ...]) -> "Surroundings":
        """With one more table of a WITH clause."""
        rest = tuple(each for each in self.common if each[0].lower() != name.lower())
        return Surroundings(((name, columns), *rest), self.outer)

    def hides(self, name: str) -> bool:
        """Whether a name of one part means a table of a WITH clause."""
        return any(each.lower() == name.lower() for each, _ in self.common)


@dataclass(frozen=True, slots=True)
class Names:
    """Writes names of tables.

    Attributes:
        draw: What chance says.
        catalog: The catalog that they are in.
        is_inside: Whether catalog and database are current.
    """

    draw: Draw
    catalog: str
    is_inside: bool

    def table(self, around: Surroundings) -> tuple[str, Relation]:
        """A table, maybe as it was once: text, and what it is without an alias."""
        if self.draw.chance(0.04):
            return self._system_table(around)
        shape = self.draw.pick(SHAPES)
        parts = self._parts(shape, around)
        if shape.versions and self.draw.chance(0.2):
            return self._version(shape, parts)
        text = self.written(parts)
        full = (self.catalog, DATABASE, shape.name)
        return text, Relation(tuple(full[start:] for start in (2, 1, 0)), shape.columns)

    def view(self, around: Surroundings) -> tuple[str, Relation] | None:
        """A temporary view of Spark's."""
        shapes = [shape for shape in VIEWS if not around.hides(shape.name)]
        if not shapes:
            return None
        shape = self.draw.pick(shapes)
        return self.draw.name(shape.name), Relation(((shape.name,),), shape.columns)

    def written(self, parts: tuple[str, ...]) -> str:
        """A name of a table, whose case counts."""
        must = ("order", "full")
        return ".".join(
            f"`{part}`" if self.draw.chance(0.1) or part in must or "$" in part else part
            for part in parts
        )

    def alias(self, taken: set[str]) -> str:
        """A name that nothing beside it has."""
        return self.draw.pick([name for name in ALIASES if name.lower() not in taken])

    def _parts(self, shape: Shape, around: Surroundings) -> tuple[str, ...]:
        full = (self.catalog, DATABASE, shape.name)
        if not self.is_inside:
            return full
        is_hidden = around.hides(shape.name) or any(view.name == shape.name for view in VIEWS)
        return full[self.draw.pick((0, 1) if is_hidden else (0, 1, 2, 2, 2)) :]

    def _version(self, shape: Shape, parts: tuple[str, ...]) -> tuple[str, Relation]:
        version = self.draw.pick(shape.versions)
        word = self.draw.pick(("VERSION AS OF", "FOR VERSION AS OF", "for system_version as of"))
        if self.catalog == PLAIN_CATALOG:
            text = self.written((*parts[:-1], copied_name(shape.name, version=version)))
        else:
            text = f"{self.written(parts)} {word} {version}"
        return text, Relation((), shape.columns)

    def _system_table(self, around: Surroundings) -> tuple[str, Relation]:
        shape = self.draw.pick(SYSTEM_SHAPES)
        parts = self._parts(shape, around)
        if self.catalog == PLAIN_CATALOG:
            parts = (*parts[:-1], copied_name(shape.name))
        listed = ", ".join(column.name for column in shape.columns)
        return f"(SELECT {listed} FROM {self.written(parts)})", Relation((), shape.columns)
