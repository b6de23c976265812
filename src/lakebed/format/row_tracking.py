"""Which columns say the id and the age of a row, in files that rewrote rows (format.md 11)?"""

from dataclasses import replace

from lakebed.format.key_value import SEQUENCE_NUMBER
from lakebed.format.schema import TableSchema
from lakebed.format.types import AtomicType, DataField, TypeRoot

_NULLABLE_LONG = AtomicType(root=TypeRoot.BIGINT)

ROW_ID = DataField(id=2147483642, name="_ROW_ID", type=_NULLABLE_LONG)
ROW_SEQUENCE_NUMBER = replace(SEQUENCE_NUMBER, type=_NULLABLE_LONG)
TRACKING_FIELDS = (ROW_ID, ROW_SEQUENCE_NUMBER)


def tracked_schema(schema: TableSchema) -> TableSchema:
    """A schema with the columns of row tracking at its end."""
    return replace(schema, fields=(*schema.fields, *TRACKING_FIELDS))
