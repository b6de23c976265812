"""Which columns a data file has (format.md 11).

A key-value file of a primary-key table holds `_KEY_` columns, `_SEQUENCE_NUMBER`, `_VALUE_KIND`,
and then the table's columns; in thin mode it lacks the `_KEY_` columns, which repeat others. An
append file holds just the table's columns.
"""

from lakebed.format.schema import TableSchema
from lakebed.format.types import AtomicType, DataField, TypeRoot

SEQUENCE_NUMBER = DataField(
    id=2147483646,
    name="_SEQUENCE_NUMBER",
    type=AtomicType(root=TypeRoot.BIGINT, nullable=False),
)
VALUE_KIND = DataField(
    id=2147483645,
    name="_VALUE_KIND",
    type=AtomicType(root=TypeRoot.TINYINT, nullable=False),
)


def data_file_fields(schema: TableSchema, *, is_thin: bool = False) -> tuple[DataField, ...]:
    """The columns of a file that this schema writes, in order.

    Args:
        schema: The table's schema.
        is_thin: `data-file.thin-mode`.
    """
    if not schema.primary_keys:
        return schema.fields
    keys = () if is_thin else schema.key_fields()
    return (*keys, SEQUENCE_NUMBER, VALUE_KIND, *schema.fields)
