"""How does a table become another one, with other columns, keys and options, and keep its history?

    1. the rows of its successor are written, if it gets any; nobody sees them
    2. the rows that it has are taken away, in a snapshot
    3. the schema of the successor is put; from here on the table is the other one
    4. the rows of the successor are committed

Readers find the old table, then an empty one, then the new one, never rows of one in columns of
the other. A crash between leaves the table empty, old or new: the rows are in the snapshots before.
Nothing is taken away once others changed the schema since it was looked at.
"""

from dataclasses import dataclass, replace

from lakebed.errors import CommitConflictError, InvalidTableError, StorageError
from lakebed.format.schema import TableSchema
from lakebed.format.types import with_nullability
from lakebed.storage.file_io import PutResult
from lakebed.table.row_changes import overwrite
from lakebed.table.table import Table


@dataclass(frozen=True, slots=True)
class Replacement:
    """A table, and what is to take its place.

    Attributes:
        old: The table as it is.
        new: The table as it will be. Rows may be written to it, but committed only when the
            replacement was carried out.
    """

    old: Table
    new: Table

    @classmethod
    def of(cls, table: Table, schema: TableSchema) -> "Replacement":
        """Prepares it; nothing changes.

        Args:
            table: The table as it is.
            schema: The next schema, whose id follows that of the table.

        Raises:
            InvalidTableError: It has other partition columns, with which what the manifests of
                older snapshots say of partitions could not be read.
        """
        if schema.partition_keys != table.schema.partition_keys:
            raise InvalidTableError(
                f"{table.name} is partitioned by ({', '.join(table.partition_keys)}), its "
                f"replacement by ({', '.join(schema.partition_keys)}); older snapshots could not "
                "be read. Keep the partition columns, or drop the table and make it anew"
            )
        for name in schema.partition_keys:
            before, after = (
                with_nullability(each.field(name).type, nullable=True)
                for each in (table.schema, schema)
            )
            if before != after:
                raise InvalidTableError(
                    f"partition column {name!r} of {table.name} is {before}, in its replacement "
                    f"{after}; older snapshots could not be read. Keep its type, or drop the table "
                    "and make it anew"
                )
        return cls(table, replace(table, schema=schema))

    def carry_out(self) -> None:
        """Empties the table, and gives it the other schema.

        Raises:
            CommitConflictError: Others changed the schema meanwhile, or wrote again and again.
            StorageError: The store failed, or did not say whether the schema was changed.
        """
        schemas, old = self.old.parts().schemas, self.old
        if max(schemas.list_ids(), default=None) != old.schema.id:
            raise CommitConflictError(
                f"{old.name}: others changed the schema meanwhile; nothing was replaced. Look at "
                "the table, and try again"
            )
        emptied = overwrite(old.parts(), None, None)
        rows = "" if emptied is None else f"; its rows are in snapshot {emptied.id - 1}"
        match schemas.put(self.new.schema):
            case PutResult.WRITTEN:
                return
            case PutResult.PRESENT:
                raise CommitConflictError(
                    f"{old.name}: others changed the schema at this moment. The table was emptied "
                    f"but not replaced{rows}: roll back to it, or try again"
                )
            case PutResult.UNKNOWN:
                raise StorageError(
                    old.location,
                    f"the store did not say whether the schema was changed; look{rows}",
                )
