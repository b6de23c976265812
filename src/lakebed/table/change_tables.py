"""Tables that show the rows of another with more, or fewer of them.

- `$audit_log`  the kind of each row beside it; rows that went show, too
- `$binlog`     the same, each column as an array; an update is one row of before and after
- `$ro`         what can be read without a merge
- `$row_tracking`  the id of each row, and when it was last written
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NoReturn, Self

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.format.predicate.expressions import Expression, columns_of, split_by_columns
from lakebed.format.predicate.parser import parse_predicate
from lakebed.format.row_tracking import tracked_schema
from lakebed.format.schema import TableSchema
from lakebed.format.types import ArrayType, AtomicType, DataField, TypeRoot, with_nullability
from lakebed.options.values import parse_boolean
from lakebed.table.parts import TableParts, chosen_columns
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.change_rows import AuditRows, BinlogRows
from lakebed.table.reading.row_tracking import TrackedRows, TrackedSource
from lakebed.table.reading.scan import RowForm, Scan
from lakebed.table.reading.scan_plan import ScanSource
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.table import Table

ROW_KIND = DataField(
    id=2147483643,
    name="rowkind",
    type=AtomicType(root=TypeRoot.VARCHAR, length=2147483647, nullable=False),
)
_TRACKS_ROWS = "row-tracking.enabled"
_SHOWS_SEQUENCE_NUMBERS = "table-read.sequence-number.enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewTable(Table):
    """A table that shows the rows of another, and is never written.

    Attributes:
        of: The data table, or a branch of it.
    """

    _has_changes: ClassVar[bool] = False

    of: Table

    @classmethod
    def over(cls, table: Table) -> Self:
        """The view of a table."""
        return cls(
            name=f"{table.name}${cls.suffix()}",
            location=table.location,
            schema=cls.shown(table.schema),
            file_io=table.file_io,
            session=table.session,
            branch=table.branch,
            of=table,
        )

    @classmethod
    def suffix(cls) -> str:
        """What stands behind the `$`."""
        raise NotImplementedError

    @classmethod
    def shown(cls, schema: TableSchema) -> TableSchema:
        """The columns that are shown of a table with this schema."""
        return schema

    def parts(self, scan_options: Mapping[str, str] | None = None) -> NoReturn:  # noqa: ARG002 - the table's own signature
        """Refuses: there is nothing to write to."""
        raise UnsupportedError(f"{self.name} is a system table: it can only be read, with scan()")

    def _parts_read(self, scan_options: Mapping[str, str]) -> TableParts:
        return self.of.parts(scan_options)


class ReadOptimizedTable(ViewTable):
    """`$ro`: the rows of the top level, or of an append table all."""

    __slots__ = ()

    @classmethod
    def suffix(cls) -> str:
        """`ro`."""
        return "ro"

    @property
    def _visibility(self) -> Visibility:
        return Visibility.READ_OPTIMIZED


class AuditLogTable(ViewTable):
    """`$audit_log`: `rowkind` (`+I`, `-U`, `+U`, `-D`) and all columns; rows that went show, too.

    Of a table without a primary key every row is `+I`. Option `table-read.sequence-number.enabled`
    of the table adds `_SEQUENCE_NUMBER`.
    """

    __slots__ = ()

    _has_changes: ClassVar[bool] = True
    _tells_kinds: ClassVar[bool] = True

    @classmethod
    def suffix(cls) -> str:
        """`audit_log`."""
        return "audit_log"

    @classmethod
    def shown(cls, schema: TableSchema) -> TableSchema:
        """The kind before the columns."""
        return replace(schema, fields=(*_change_fields(schema), *schema.fields), primary_keys=())

    def _scan(
        self,
        parts: TableParts,
        source: ScanSource,
        *,
        columns: Sequence[str] | None,
        where: str | Expression | None,
        limit: int | None,
    ) -> Scan:
        shown = self.shown(parts.schema)
        names = chosen_columns(columns, shown)
        predicate = _parsed(where, shown, parts)
        pushed, rest = self._divided(predicate, parts.schema)
        wanted = {*names, *(columns_of(rest) if rest is not None else ())}
        scan = parts.scan(
            source,
            columns=[name for name in parts.schema.names if name in wanted],
            where=pushed,
            limit=limit,
        )
        is_keyed = bool(parts.schema.primary_keys)
        system = [VALUE_KIND.name] if is_keyed else []
        if SEQUENCE_NUMBER.name in wanted:
            system.append(SEQUENCE_NUMBER.name)
        reader = replace(
            scan.reader, columns=(*scan.reader.columns, *system), keep_deletes=is_keyed
        )
        return replace(scan, reader=reader, form=self._form(shown, columns=names, predicate=rest))

    @classmethod
    def _divided(
        cls, predicate: Expression | None, schema: TableSchema
    ) -> tuple[Expression | None, Expression | None]:
        """A predicate in what the rows of the table can be chosen by, and the rest."""
        return split_by_columns(predicate, schema.names)

    @classmethod
    def _form(
        cls, shown: TableSchema, *, columns: tuple[str, ...], predicate: Expression | None
    ) -> RowForm:
        return AuditRows(table_schema=shown, columns=columns, predicate=predicate)


class BinlogTable(AuditLogTable):
    """`$binlog`: as `$audit_log`, with arrays for columns.

    In changes, a row of kind -U and the one after it become one row, with both values in each
    array; every other row has arrays of one value.
    """

    __slots__ = ()

    @classmethod
    def suffix(cls) -> str:
        """`binlog`."""
        return "binlog"

    @classmethod
    def shown(cls, schema: TableSchema) -> TableSchema:
        """The kind, and an array for each column."""
        arrays = tuple(
            replace(field, type=ArrayType(element=with_nullability(field.type, nullable=True)))
            for field in schema.fields
        )
        return replace(
            schema, fields=(*_change_fields(schema), *arrays), primary_keys=(), partition_keys=()
        )

    @classmethod
    def _divided(
        cls,
        predicate: Expression | None,
        schema: TableSchema,  # noqa: ARG003 - as above
    ) -> tuple[Expression | None, Expression | None]:
        return None, predicate

    @classmethod
    def _form(
        cls, shown: TableSchema, *, columns: tuple[str, ...], predicate: Expression | None
    ) -> RowForm:
        return BinlogRows(table_schema=shown, columns=columns, predicate=predicate)


class RowTrackingTable(ViewTable):
    """`$row_tracking`: all columns, `_ROW_ID` and `_SEQUENCE_NUMBER`."""

    __slots__ = ()

    @classmethod
    def over(cls, table: Table) -> Self:
        """The view of a table.

        Raises:
            InvalidArgumentError: The table does not track rows.
        """
        if not parse_boolean(table.options.get(_TRACKS_ROWS, "false"), _TRACKS_ROWS):
            raise InvalidArgumentError(f"{table.name} has no row ids: {_TRACKS_ROWS!r} is not set")
        return super().over(table)

    @classmethod
    def suffix(cls) -> str:
        """`row_tracking`."""
        return "row_tracking"

    @classmethod
    def shown(cls, schema: TableSchema) -> TableSchema:
        """The columns of tracking after the others."""
        return tracked_schema(schema)

    def _scan(
        self,
        parts: TableParts,
        source: ScanSource,
        *,
        columns: Sequence[str] | None,
        where: str | Expression | None,
        limit: int | None,
    ) -> Scan:
        if not isinstance(source, SnapshotSource):
            raise UnsupportedError(f"{self.name} of changes is not supported; read a snapshot")
        shown = self.shown(parts.schema)
        predicate = _parsed(where, shown, parts)
        pushed, _ = split_by_columns(predicate, parts.schema.names)
        scan = parts.scan(source, where=pushed, limit=limit)
        names = chosen_columns(columns, shown)
        form = TrackedRows(columns=names, predicate=predicate)
        return replace(scan, source=TrackedSource(source=source, form=form), form=form)


def _parsed(
    where: str | Expression | None, shown: TableSchema, parts: TableParts
) -> Expression | None:
    if isinstance(where, str):
        return parse_predicate(where, shown.row_type, time_zone=parts.session.time_zone)
    return where


def _change_fields(schema: TableSchema) -> tuple[DataField, ...]:
    shows = parse_boolean(
        schema.options.get(_SHOWS_SEQUENCE_NUMBERS, "false"), _SHOWS_SEQUENCE_NUMBERS
    )
    return (ROW_KIND, SEQUENCE_NUMBER) if shows and schema.primary_keys else (ROW_KIND,)
