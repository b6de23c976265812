"""How a file of an older schema is read through the current one: by field id (format.md 4, 16).

A column keeps its id when it is renamed or moved, so a field of the current schema is found in the
file's own schema by id and read under the name it had then; a field that the file never had is
null.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.errors import UnsupportedError
from lakebed.format.schema import TableSchema
from lakebed.format.types import DataField, with_nullability


@dataclass(frozen=True, slots=True)
class FileColumn:
    """Where a field of the current schema is in a file.

    Attributes:
        field: The field as the current schema has it.
        name_in_file: Its name when the file was written; None when there was no such field.
    """

    field: DataField
    name_in_file: str | None


def file_columns(fields: Sequence[DataField], file_schema: TableSchema) -> list[FileColumn]:
    """Finds each field in a file of another schema.

    Raises:
        UnsupportedError: The type of a field has changed since.
    """
    by_id = {field.id: field for field in file_schema.fields}
    return [FileColumn(field, _name_then(field, by_id.get(field.id))) for field in fields]


def _name_then(field: DataField, then: DataField | None) -> str | None:
    if then is None:
        return None
    now_type = with_nullability(field.type, nullable=True)
    if with_nullability(then.type, nullable=True) != now_type:
        raise UnsupportedError(
            f"column {field.name!r} changed its type since some of its files were written; reading "
            "them through the new type is not supported yet"
        )
    return then.name
