"""What a system table is: a name, columns, and rows made from a table's metadata at one point.

The rows are asked for by column, because some columns are dear: the bounds of a million files take
longer to write as text than everything else that is known of them.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.binary_row.layout import one_array
from lakebed.format.manifest import entry_schema
from lakebed.format.manifest_file import read_manifest
from lakebed.format.schema import TableSchema
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import Snapshot
from lakebed.format.time_zone import instants_of, local_times_in, time_zone_name
from lakebed.format.types import DataField
from lakebed.table.metadata.live_files import LiveScan
from lakebed.table.parts import TableParts


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataView:
    """A table at the point in its life that a scan of a system table asks for; picklable.

    Attributes:
        parts: The table, with the columns it had then.
        snapshot: The snapshot; None for a table without any.
    """

    parts: TableParts
    snapshot: Snapshot | None

    def live_entries(self, columns: Collection[str]) -> pa.Table:
        """The entries of the files that are live then, with some of `manifest.ENTRY_COLUMNS`."""
        manifests = self.parts.manifests
        metas = manifests.files(self.snapshot) if self.snapshot else []
        return manifests.live_files(metas, LiveScan(columns=frozenset(columns)))[0]

    def all_entries(self, columns: Collection[str]) -> pa.Table:
        """Every ADD and DELETE that the manifests of the snapshot still hold, some columns."""
        parts = self.parts
        metas = parts.manifests.files(self.snapshot) if self.snapshot else []
        tables = [
            read_manifest(
                parts.file_io,
                parts.paths.manifest(meta.file_name),
                size=meta.file_size,
                columns=columns,
            )
            for meta in metas
        ]
        return pa.concat_tables([entry_schema(columns).empty_table(), *tables])

    def local_times(self, epoch_millis: Iterable[int | None] | ArrowColumn) -> ArrowColumn:
        """What clocks in the session's zone show at these instants, to the millisecond."""
        millis = one_array(_column(epoch_millis, pa.int64()))
        instants = pc.cast(millis, pa.timestamp("ms", "UTC"))
        times: ArrowColumn = local_times_in(instants, time_zone_name(self.parts.session.time_zone))
        return times

    def epoch_millis(self, local_times: ArrowColumn) -> ArrowColumn:
        """The instants, in milliseconds, at which clocks in the session's zone show these times."""
        times = pc.cast(one_array(local_times), pa.timestamp("ms"))
        instants = instants_of(times, time_zone_name(self.parts.session.time_zone))
        millis: ArrowColumn = pc.cast(instants, pa.int64())
        return millis


Rows = Callable[[MetadataView, Collection[str]], pa.Table]
"""Makes the rows of a view; at least the columns named, of the kind's types, in any order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTableKind:
    """A system table that every data table has.

    Attributes:
        name: What stands behind the `$`.
        schema: Its columns and key.
        rows: A function of a module, so that scans can be pickled.
    """

    name: str
    schema: TableSchema
    rows: Rows


def system_schema(columns: Mapping[str, str], *, key: Collection[str]) -> TableSchema:
    """The schema of a system table.

    Args:
        columns: Names to types, as the format's text.
        key: The columns that tell its rows apart.
    """
    fields = schema(list(columns.items())).fields
    return TableSchema(id=0, fields=fields, highest_field_id=len(fields) - 1, primary_keys=(*key,))


def table_of(fields: Iterable[DataField], columns: Mapping[str, object]) -> pa.Table:
    """Columns of Python values or Arrow arrays as a table of those fields that are there."""
    wanted = to_arrow_schema([field for field in fields if field.name in columns])
    arrays = [_column(columns[field.name], field.type) for field in wanted]
    return pa.Table.from_arrays(arrays, schema=wanted)


def table_of_rows(fields: Iterable[DataField], rows: Iterable[tuple[object, ...]]) -> pa.Table:
    """Rows of Python values as a table; for what is few: snapshots, schemas, manifests."""
    fields = list(fields)
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    return table_of(
        fields, {field.name: values for field, values in zip(fields, columns, strict=True)}
    )


def _column(values: object, kind: pa.DataType) -> ArrowColumn:
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        made: ArrowColumn = pa.array(cast("Iterable[Any]", values), kind)
        return made
    column: ArrowColumn = values
    return column if column.type == kind else pc.cast(column, kind)
