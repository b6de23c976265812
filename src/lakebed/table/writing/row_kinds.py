"""What kind is each row that comes in, and which kinds are dropped at once (format.md 11)?

Kinds travel in the column that `rowkind.field` names, a column of the table, or else in
`_row_kind`, which is none.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, Kinds
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.values import parse_boolean

ROW_KIND = "_row_kind"
_CODES = {"+I": INSERT, "-U": UPDATE_BEFORE, "+U": UPDATE_AFTER, "-D": DELETE}
KIND_TEXTS = pa.array(list(_CODES), pa.string())
"""The kinds as they are written, by code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKinds:
    """What a table's options say of row kinds.

    Attributes:
        column: Where rows say their kind.
        is_required: Whether the column is one of the table's.
        dropped: Codes of the kinds that are not written (`ignore-delete`, `ignore-update-before`).
    """

    column: str
    is_required: bool
    dropped: tuple[int, ...]

    @classmethod
    def of(cls, schema: TableSchema) -> "RowKinds":
        """The rules of a table."""
        options = TABLE_OPTIONS.with_current_keys(schema.options)
        field = options.get("rowkind.field")
        dropped: tuple[int, ...] = ()
        if parse_boolean(options.get("ignore-delete", "false"), "ignore-delete"):
            dropped = (UPDATE_BEFORE, DELETE)
        elif parse_boolean(options.get("ignore-update-before", "false"), "ignore-update-before"):
            dropped = (UPDATE_BEFORE,)
        return cls(column=field or ROW_KIND, is_required=field is not None, dropped=dropped)

    def read(self, rows: pa.Table) -> Kinds | None:
        """The kind of each row; None where rows say none.

        Raises:
            InvalidDataError: A text that is no kind, a null, or `_row_kind` where `rowkind.field`
                names another column.
        """
        if self.is_required and ROW_KIND in rows.column_names and self.column != ROW_KIND:
            raise InvalidDataError(
                f"the table's rows say their kind in column {self.column!r} (rowkind.field); "
                f"leave {ROW_KIND} out"
            )
        if self.column not in rows.column_names:
            return None
        column = rows.column(self.column)
        codes = pc.index_in(pc.utf8_upper(column.cast(pa.string())), value_set=KIND_TEXTS)
        if codes.null_count:
            wrong = column.filter(pc.is_null(codes))[0].as_py()
            raise InvalidDataError(
                f"{self.column} has {wrong!r}; a row kind is one of {', '.join(_CODES)}"
            )
        kinds: Kinds = codes.to_numpy().astype(np.int8)
        return kinds

    def kept(self, kinds: Kinds) -> npt.NDArray[np.bool_] | None:
        """Which rows are written; None for all."""
        if not self.dropped:
            return None
        kept: npt.NDArray[np.bool_] = ~np.isin(kinds, self.dropped)
        return None if kept.all() else kept
