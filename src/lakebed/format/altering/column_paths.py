"""How is a part of a table's columns found by its path, and changed in place?

The columns of a table are the fields of one ROW, so a path from there leads to any type.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from lakebed.errors import InvalidArgumentError, InvalidTableError, NotFoundError
from lakebed.format.altering.changes import ColumnName
from lakebed.format.types import ArrayType, DataField, DataType, MapType, RowType

Path = tuple[str, ...]
Fields = tuple[DataField, ...]


def path_of(name: ColumnName) -> Path:
    """The steps to a column or a part of one.

    Raises:
        InvalidArgumentError: No step.
    """
    path = (name,) if isinstance(name, str) else tuple(name)
    if not path:
        raise InvalidArgumentError("a change names no column; name one")
    return path


def change_type(kind: DataType, path: Path, change: Callable[[DataType], DataType]) -> DataType:
    """A type with the type at a path within it changed.

    Raises:
        InvalidTableError: The path leads into the keys of a MAP.
        NotFoundError: It leads nowhere; names the column as far as there is none.
    """
    return _change_type(kind, path, change, walked=())


def change_fields(fields: Fields, path: Path, change: Callable[[Fields, str], Fields]) -> Fields:
    """Columns with the fields around the one at a path changed.

    Args:
        fields: The columns.
        path: To the field, there or not; the ROW it is in is there.
        change: From the fields of that ROW and the last name.

    Raises:
        InvalidTableError: The path leads into the keys of a MAP, or to what is no field of a ROW.
        NotFoundError: It leads nowhere.
    """

    def change_row(kind: DataType) -> DataType:
        if not isinstance(kind, RowType):
            raise InvalidTableError(
                f"{shown(path)} is no field of a ROW: {shown(path[:-1])} has none, but a type"
            )
        return replace(kind, fields=change(kind.fields, path[-1]))

    changed = change_type(RowType(fields=fields), path[:-1], change_row)
    if not isinstance(changed, RowType):
        raise TypeError(changed)
    return changed.fields


def place_of(fields: Sequence[DataField], name: str, *, path: Path) -> int:
    """The index of a field.

    Args:
        fields: Those of one ROW.
        name: Its exact name.
        path: What the message calls it.

    Raises:
        NotFoundError: There is none.
    """
    for index, field in enumerate(fields):
        if field.name == name:
            return index
    names = ", ".join(field.name for field in fields)
    raise NotFoundError("column", ".".join(path), hint=f"There are {names}")


def shown(path: Path) -> str:
    """A path as messages have it."""
    return repr(".".join(path))


def _change_type(
    kind: DataType, path: Path, change: Callable[[DataType], DataType], *, walked: Path
) -> DataType:
    if not path:
        return change(kind)
    step, rest = path[0], path[1:]
    here = (*walked, step)
    match kind, step:
        case RowType(), _:
            place = place_of(kind.fields, step, path=here)
            field = kind.fields[place]
            inner = _change_type(field.type, rest, change, walked=here)
            fields = (*kind.fields[:place], replace(field, type=inner), *kind.fields[place + 1 :])
            return replace(kind, fields=fields)
        case ArrayType(), "element":
            return replace(kind, element=_change_type(kind.element, rest, change, walked=here))
        case MapType(), "value":
            return replace(kind, value=_change_type(kind.value, rest, change, walked=here))
        case MapType(), "key":
            raise InvalidTableError(f"{shown(here)} are the keys of a MAP, which do not change")
        case _:
            raise NotFoundError("column", ".".join(here), hint=_hint(kind, walked))


def _hint(kind: DataType, walked: Path) -> str:
    match kind:
        case ArrayType():
            return f"The elements of {shown(walked)} are named 'element'"
        case MapType():
            return f"The values of {shown(walked)} are named 'value'"
        case _:
            return f"{shown(walked)} has no parts"
