"""How does a user say the columns of a table that is yet to be created?

Either as a pyarrow schema (`arrow_types.from_arrow_schema`), or with `schema` in the format's own
type names, for what Arrow cannot say: CHAR(n), comments, defaults. Both give a `Schema`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakebed.errors import InvalidArgumentError
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField

_EXTRAS = {"comment": "description", "default": "default_value"}

Column = tuple[str, str] | tuple[str, str, Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Columns of a table before they have field ids.

    Attributes:
        fields: The columns; their ids are provisional.
    """

    fields: tuple[DataField, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns in order."""
        return [field.name for field in self.fields]


def schema(columns: Sequence[Column]) -> Schema:
    """Columns by name and type text.

    Args:
        columns: `(name, type)` or `(name, type, {"comment": ..., "default": ...})`, for instance
            `("id", "BIGINT NOT NULL")`.

    Raises:
        InvalidArgumentError: A type text that names no type, or an entry of another form.
        UnsupportedError: A type that Lakebed lacks.
    """
    return Schema(fields=tuple(_field(index, column) for index, column in enumerate(columns)))


def _field(index: int, column: object) -> DataField:
    if not isinstance(column, tuple | list) or len(column) not in {2, 3}:
        raise InvalidArgumentError(
            f"column {index} is {column!r}; give (name, type) or (name, type, "
            '{"comment": ..., "default": ...})'
        )
    name, text = column[0], column[1]
    if not isinstance(name, str) or not isinstance(text, str):
        raise InvalidArgumentError(f"column {index} is {column!r}; name and type must be text")
    extras = _extras(name, column[2] if len(column) == 3 else {})
    try:
        kind = parse_type(text)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"column {name!r}: {error}") from error
    return DataField(id=index, name=name, type=kind, **extras)


def _extras(name: str, extras: object) -> dict[str, str]:
    if not isinstance(extras, Mapping):
        raise InvalidArgumentError(f"column {name!r}: {extras!r} is no mapping of comment, default")
    for key, value in extras.items():
        if key not in _EXTRAS or not isinstance(value, str):
            raise InvalidArgumentError(
                f"column {name!r}: {key!r} = {value!r} is none of the texts {', '.join(_EXTRAS)}"
            )
    return {_EXTRAS[key]: value for key, value in extras.items()}
