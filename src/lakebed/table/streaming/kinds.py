"""How do the rows of a stream say whether they came or went?"""

from collections.abc import Sequence
from dataclasses import replace

from lakebed.format.key_value import VALUE_KIND
from lakebed.format.predicate.expressions import Expression
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.table.parts import TableParts, chosen_columns
from lakebed.table.reading.change_rows import FollowedRows
from lakebed.table.reading.scan import Scan
from lakebed.table.reading.scan_plan import ScanSource
from lakebed.table.writing.row_kinds import ROW_KIND

_KIND_FIELD = DataField(
    id=VALUE_KIND.id,
    name=ROW_KIND,
    type=AtomicType(root=TypeRoot.VARCHAR, length=2147483647, nullable=False),
)


def scan_with_kinds(
    parts: TableParts,
    source: ScanSource,
    *,
    columns: Sequence[str] | None,
    where: str | Expression | None,
) -> Scan:
    """A scan whose last column is `_row_kind`; rows of every kind come out of changes."""
    names = chosen_columns(columns, parts.schema)
    scan = parts.scan(source, columns=names, where=where)
    is_keyed = bool(parts.schema.primary_keys)
    kind = (VALUE_KIND.name,) if is_keyed else ()
    shown = replace(parts.schema, fields=(*parts.schema.fields, _KIND_FIELD))
    form = FollowedRows(
        table_schema=shown, columns=(*names, ROW_KIND), predicate=None, kind_name=ROW_KIND
    )
    reader = replace(scan.reader, columns=(*names, *kind), keep_deletes=is_keyed)
    return replace(scan, reader=reader, form=form)
