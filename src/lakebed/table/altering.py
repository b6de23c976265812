"""How does the schema of a table change, while others may change it too?

The next schema is made from the newest and put under the next id, which only one writer gets; who
comes second makes his from that one. The schema file is what makes the change visible: before it
nothing has changed, and data files keep the schema that they were written with.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lakebed.errors import CommitConflictError, StorageError
from lakebed.format.altering.apply import altered
from lakebed.format.altering.changes import SchemaChange, SetOption
from lakebed.format.default_values import check_defaults
from lakebed.format.paths import TablePaths
from lakebed.format.schema import TableSchema
from lakebed.options.acceptance import check_creatable
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.storage.file_io import PutResult
from lakebed.table.definition import check_definition
from lakebed.table.metadata.schemas import Schemas
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.table import Table

_TRIES = 10
# Says whether others than this writer compact, which decides what is asked of this one.
_WRITE_ONLY = "write-only"


@dataclass(frozen=True, slots=True)
class _Altering:
    """Makes next schemas of a table."""

    table: Table
    changes: Sequence[SchemaChange]

    def next(self, schema: TableSchema) -> TableSchema:
        """The schema after the changes, checked as that of a new table is."""
        snapshots = Snapshots(self.table.file_io, _paths(self.table))
        found = altered(schema, self.changes, has_snapshots=snapshots.latest() is not None)
        if found is schema:
            return schema
        self._check_options(found)
        check_defaults(field for field in found.fields if field not in schema.fields)
        check_definition(found, time_zone=self.table.session.time_zone)
        return found

    def _check_options(self, found: TableSchema) -> None:
        """Checks the options that are set; the others may be orders to another engine."""
        keys = {
            TABLE_OPTIONS.current_key(each.key)
            for each in self.changes
            if isinstance(each, SetOption)
        }
        if keys:
            keys.add(_WRITE_ONLY)
            check_creatable({key: text for key, text in found.options.items() if key in keys})


def alter_table(table: Table, changes: Sequence[SchemaChange]) -> Table:
    """Changes the schema of a table, or of a branch, all at once.

    Args:
        table: The table.
        changes: What to change, in this order.

    Returns:
        The table with its new schema.

    Raises:
        AlreadyExistsError: A column of that name is there.
        CommitConflictError: Others changed the schema again and again.
        InvalidArgumentError: What is given is no change, or no value of an option.
        InvalidTableError: A change that cannot be.
        NotFoundError: There is no such column.
        StorageError: The store failed, or did not say whether the schema was changed.
        UnsupportedError: An option or type that Lakebed would not act on.
    """
    return evolve_table(table, _Altering(table, changes).next)


def evolve_table(table: Table, next_schema: Callable[[TableSchema], TableSchema]) -> Table:
    """Changes the schema of a table to what is made of the newest.

    Args:
        table: The table.
        next_schema: From the newest schema to the next one, or to the same for no change.

    Returns:
        The table with the schema that came of it.

    Raises:
        CommitConflictError: Others changed the schema again and again.
        StorageError: The store failed, or did not say whether the schema was changed.
    """
    schemas = Schemas(table.file_io, _paths(table))
    for _ in range(_TRIES):
        schema = schemas.latest() or table.schema
        found = next_schema(schema)
        if found is schema:
            return replace(table, schema=schema)
        found = replace(found, time_millis=table.session.effects.clock())
        match schemas.put(found):
            case PutResult.WRITTEN:
                return replace(table, schema=found)
            case PutResult.PRESENT:
                continue
            case PutResult.UNKNOWN:
                raise StorageError(
                    table.location, "the store did not say whether the schema was changed; look"
                )
    raise CommitConflictError(
        f"{table.name}: others changed the schema {_TRIES} times meanwhile; try again"
    )


def _paths(table: Table) -> TablePaths:
    return TablePaths(table.location, branch=table.branch)
