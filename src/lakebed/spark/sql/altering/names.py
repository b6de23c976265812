"""Which column of a table does a name in a statement mean?

Names match as the session says (`spark.sql.caseSensitive`), those of elements, keys and values of
arrays and maps in any case.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pyspark.errors import AnalysisException

from lakebed.format.altering.changes import After, Position
from lakebed.format.types import ArrayType, DataField, DataType, MapType, RowType
from lakebed.spark.conditions import analysis_error, unknown_column
from lakebed.spark.names import quoted
from lakebed.spark.sql.statements import Name
from lakebed.table.table import Table


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, by the names that a session has for them.

    Attributes:
        table: The table.
        is_case_sensitive: Whether names match exactly.
    """

    table: Table
    is_case_sensitive: bool

    @property
    def row_type(self) -> RowType:
        """The table's columns as a type."""
        return self.table.schema.row_type

    def own(self, path: Name) -> tuple[Name, DataType]:
        """A column or a part of one as the table spells it, and its type.

        Raises:
            AnalysisException: UNRESOLVED_COLUMN; AMBIGUOUS_COLUMN_OR_FIELD.
        """
        kind: DataType = self.row_type
        own: list[str] = []
        for step in path:
            name, inner = self._step(kind, step)
            if inner is None:
                raise unknown_column(path, self.row_type.names)
            own.append(name)
            kind = inner
        return tuple(own), kind

    def key(self, name: str) -> str:
        """What two names have in common that mean the same."""
        return name if self.is_case_sensitive else name.lower()

    def own_position(
        self,
        position: Position,
        siblings: Iterable[str],
        missing: Callable[[str], AnalysisException],
    ) -> Position:
        """A place, its neighbour spelt as the table has it.

        Args:
            position: As the statement has it.
            siblings: The names of the same ROW.
            missing: The error for a neighbour that is not there.
        """
        if not isinstance(position, After):
            return position
        wanted = self.key(position.column)
        for name in siblings:
            if self.key(name) == wanted:
                return After(name)
        raise missing(position.column)

    def check_new(self, path: Name, siblings: Iterable[str], *, operation: str) -> None:
        """Makes sure that a name is free among those of the same ROW.

        Raises:
            AnalysisException: FIELD_ALREADY_EXISTS.
        """
        if self.key(path[-1]) in map(self.key, siblings):
            shown = quoted(path)
            raise analysis_error(
                "FIELD_ALREADY_EXISTS",
                f"Cannot {operation} column, because {shown} already exists in the table.",
                {"op": operation, "fieldNames": shown, "struct": ""},
            )

    def _step(self, kind: DataType, step: str) -> tuple[str, DataType | None]:
        match kind:
            case RowType():
                field = self._field(kind, step)
                return (step, None) if field is None else (field.name, field.type)
            case ArrayType() if step.lower() == "element":
                return "element", kind.element
            case MapType() if step.lower() == "value":
                return "value", kind.value
            case MapType() if step.lower() == "key":
                return "key", kind.key
            case _:
                return step, None

    def _field(self, kind: RowType, name: str) -> DataField | None:
        exact = kind.field(name)
        if exact is not None:
            return exact
        found = [field for field in kind.fields if self.key(field.name) == self.key(name)]
        if len(found) > 1:
            raise _ambiguous(name, len(found))
        return found[0] if found else None


def _ambiguous(name: str, count: int) -> AnalysisException:
    return analysis_error(
        "AMBIGUOUS_COLUMN_OR_FIELD",
        f"Column or field {quoted((name,))} is ambiguous and has {count} matches.",
        {"name": quoted((name,)), "n": str(count)},
    )
