"""A system table as users hold it: read like any table, and never written."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NoReturn

import pyarrow as pa

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.format.predicate.expressions import Expression
from lakebed.format.predicate.parser import parse_predicate
from lakebed.table.parts import TableParts, chosen_columns
from lakebed.table.reading.scan_plan import ScanSource
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.system.kind import MetadataView, SystemTableKind
from lakebed.table.system.metadata_scan import MetadataScan
from lakebed.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOnlyTable(Table):
    """A table of metadata: everything that would write asks for its parts, and is refused."""

    _has_changes: ClassVar[bool] = False

    def parts(self, scan_options: Mapping[str, str] | None = None) -> NoReturn:  # noqa: ARG002 - the table's own signature
        """Refuses: there is nothing to write to."""
        raise UnsupportedError(f"{self.name} is a system table: it can only be read, with scan()")

    def _metadata_scan(
        self,
        rows: Callable[[Collection[str]], pa.Table],
        *,
        columns: Sequence[str] | None,
        where: str | Expression | None,
        limit: int | None,
    ) -> MetadataScan:
        if limit is not None and limit < 0:
            raise InvalidArgumentError(f"limit is {limit}; it cannot be below 0")
        predicate = (
            parse_predicate(where, self.schema.row_type, time_zone=self.session.time_zone)
            if isinstance(where, str)
            else where
        )
        return MetadataScan(
            name=self.name,
            table_schema=self.schema,
            rows=rows,
            columns=chosen_columns(columns, self.schema),
            predicate=predicate,
            limit=limit,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTable(ReadOnlyTable):
    """A system table of one data table; points in time are those of the data table.

    Attributes:
        of: The data table, or a branch of it.
        kind: What the system table shows.
    """

    of: Table
    kind: SystemTableKind

    @classmethod
    def over(cls, table: Table, kind: SystemTableKind) -> "SystemTable":
        """The system table of that kind over a table."""
        return cls(
            name=f"{table.name}${kind.name}",
            location=table.location,
            schema=kind.schema,
            file_io=table.file_io,
            session=table.session,
            branch=table.branch,
            of=table,
            kind=kind,
        )

    def __repr__(self) -> str:
        """Name and columns, at a glance."""
        return f"SystemTable({self.name}: {', '.join(self.schema.names)})"

    def _parts_read(self, scan_options: Mapping[str, str]) -> TableParts:
        return self.of.parts(scan_options)

    # A scan of metadata has no splits; all else that a scan offers, it offers too.
    def _scan(  # type: ignore[override]
        self,
        parts: TableParts,
        source: ScanSource,
        *,
        columns: Sequence[str] | None,
        where: str | Expression | None,
        limit: int | None,
    ) -> MetadataScan:
        if not isinstance(source, SnapshotSource):
            raise InvalidArgumentError(f"{self.name} has no increments; read it at one snapshot")
        view = MetadataView(parts=parts, snapshot=source.snapshot)
        rows = partial(self.kind.rows, view)
        return self._metadata_scan(rows, columns=columns, where=where, limit=limit)
