"""What do the columns of a row get that an UPDATE, or a clause of a MERGE, assigns to?

A field of a STRUCT is assigned by making the STRUCT anew of its fields, so that one which was null
is then a STRUCT of nulls but for that field, as in Spark.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lakebed.format.types import DataType, RowType
from lakebed.spark.conditions import analysis_error, unknown_column
from lakebed.spark.names import quoted
from lakebed.spark.sql.default_words import default_of, is_default
from lakebed.spark.sql.row_changes.expressions import qualifier_of
from lakebed.spark.sql.row_changes.statements import Assignment
from lakebed.spark.sql.statements import Name
from lakebed.table.table import Table


@dataclass(slots=True)
class _Value:
    """What a column or a field of one gets: a text, or others for some of its fields."""

    text: str | None = None
    fields: dict[str, "_Value"] = field(default_factory=dict)

    def at(self, path: Name) -> "_Value":
        """The value of a field, made where there is none."""
        return self if not path else self.fields.setdefault(path[0], _Value()).at(path[1:])

    @property
    def is_given(self) -> bool:
        """Whether it is assigned, as a whole or in part."""
        return self.text is not None or bool(self.fields)


def assigned(
    table: Table,
    assignments: Sequence[Assignment],
    qualifiers: Sequence[Name],
    *,
    alias: str,
) -> dict[str, str]:
    """The texts of columns that get new values.

    Args:
        table: The table.
        assignments: As they are written.
        qualifiers: What may stand before a column.
        alias: Under which the row is found that is changed.

    Raises:
        AnalysisException: A column or field that is not there, or is given twice.
    """
    values: dict[str, _Value] = {}
    types = {each.name: each.type for each in table.schema.fields}
    for assignment in assignments:
        column, rest = _own_column(table, assignment.column, qualifiers)
        path = _own_fields(types[column], rest, column=column)
        found = values.setdefault(column, _Value())
        is_covered = any(found.at(path[:depth]).text is not None for depth in range(len(path)))
        if is_covered or found.at(path).is_given:
            shown = ".".join((column, *path))
            raise analysis_error(
                "LAKEBED_INVALID_ARGUMENT", f"column {shown!r} is assigned more than once"
            )
        found.at(path).text = _new_value(table, column, path, assignment.value)
    return {
        column: _text(value, types[column], (alias, column)) for column, value in values.items()
    }


def _new_value(table: Table, column: str, path: Name, text: str) -> str:  # noqa: PLR0917 - where, and what
    """A text, or the default that the word DEFAULT means."""
    if not is_default(text):
        return text
    if path:
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            f"{'.'.join((column, *path))!r} has no DEFAULT, which only a whole column has",
        )
    return default_of(table, column)


def _own_column(table: Table, column: Name, qualifiers: Sequence[Name]) -> tuple[str, Name]:
    """The column of a table that an assignment means, and the path of fields in it."""
    found = qualifier_of(column, dict.fromkeys(qualifiers, ""))
    rest = column[found[1] :] if found is not None else column
    own = {name.lower(): name for name in table.schema.names}
    if rest[0].lower() not in own:
        raise unknown_column(".".join(column), table.schema.names)
    return own[rest[0].lower()], rest[1:]


def _own_fields(kind: DataType, path: Name, *, column: str) -> Name:
    """A path of fields as the type spells them."""
    if not path:
        return ()
    if not isinstance(kind, RowType):
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            f"{column!r} is no STRUCT, so {path[0]!r} is no field of it that could be assigned;"
            " assign the whole of it",
        )
    own = {each.name.lower(): each for each in kind.fields}
    if path[0].lower() not in own:
        raise unknown_column((column, *path), [f"{column}.{each.name}" for each in kind.fields])
    found = own[path[0].lower()]
    return found.name, *_own_fields(found.type, path[1:], column=f"{column}.{found.name}")


def _text(value: _Value, kind: DataType, path: Name) -> str:
    """An expression for a value, of the old ones where it is assigned in part."""
    if value.text is not None:
        return value.text
    if not value.fields or not isinstance(kind, RowType):
        return quoted(path)
    members = []
    for each in kind.fields:
        name = each.name.replace("\\", "\\\\").replace("'", "\\'")
        inner = value.fields.get(each.name, _Value())
        members.append(f"'{name}', {_text(inner, each.type, (*path, each.name))}")
    return f"named_struct({', '.join(members)})"
