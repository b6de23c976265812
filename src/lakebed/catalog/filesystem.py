"""The catalog that is just directories: `<warehouse>/<database>.db/<table>` (format.md 1)."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lakebed.catalog.creation import checked_schema, create_at
from lakebed.catalog.global_tables import (
    SYSTEM_DATABASE,
    check_not_system,
    global_table,
    global_table_names,
)
from lakebed.catalog.identifier import Identifier, check_name
from lakebed.catalog.objects import object_of
from lakebed.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    InvalidTableError,
    NotFoundError,
)
from lakebed.format.altering.changes import SchemaChange
from lakebed.format.paths import TablePaths
from lakebed.format.schema_definition import Schema
from lakebed.options.values import OptionValue
from lakebed.storage.file_io import FileIO
from lakebed.table.altering import alter_table
from lakebed.table.metadata.schemas import Schemas
from lakebed.table.replacing import Replacement
from lakebed.table.session import Session
from lakebed.table.table import Table

_DATABASE_SUFFIX = ".db"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesystemCatalog:
    """Finds databases and tables by listing directories (`catalog.Catalog`).

    Attributes:
        warehouse: The directory of the databases.
        file_io: The store.
        session: Options and effects of this process.
    """

    warehouse: str
    file_io: FileIO
    session: Session

    def __repr__(self) -> str:
        """The warehouse; options may hold keys of a store."""
        return f"FilesystemCatalog({self.warehouse})"

    def list_databases(self) -> list[str]:
        """Names of all databases, sorted."""
        return sorted(
            status.name.removesuffix(_DATABASE_SUFFIX)
            for status in self.file_io.list(self.warehouse)
            if status.is_directory and status.name.endswith(_DATABASE_SUFFIX)
        )

    def create_database(self, name: str, *, ignore_if_exists: bool = False) -> None:
        """Makes the database's directory."""
        check_not_system(name)
        directory = self._database(check_name(name, "database"))
        if self.file_io.exists(directory):
            if ignore_if_exists:
                return
            raise AlreadyExistsError("database", name)
        self.file_io.make_directory(directory)

    def drop_database(
        self, name: str, *, ignore_if_not_exists: bool = False, cascade: bool = False
    ) -> None:
        """Deletes the database's directory."""
        check_not_system(name)
        if not self._has_database(name):
            if ignore_if_not_exists:
                return
            raise self._no_database(name)
        tables = self.list_tables(name)
        if tables and not cascade:
            raise InvalidTableError(
                f"database {name!r} has {len(tables)} tables, {tables[0]!r} among them; drop them "
                "first, or drop the database with cascade"
            )
        self.file_io.delete_directory(self._database(name))

    def list_tables(self, database: str) -> list[str]:
        """Names of the directories that hold a schema, sorted; of `sys`, the tables about all."""
        if database == SYSTEM_DATABASE:
            return global_table_names(self.session)
        if not self._has_database(database):
            raise self._no_database(database)
        return sorted(
            status.name
            for status in self.file_io.list(self._database(database))
            if status.is_directory and self._schemas(status.path).list_ids()
        )

    def create_table(
        self,
        name: str,
        *,
        schema: pa.Schema | Schema,
        primary_key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
        ignore_if_exists: bool = False,
    ) -> Table:
        """Writes the first schema, which makes a table, and nothing before all is checked."""
        identifier = self._plain(name)
        if not self._has_database(identifier.database):
            raise self._no_database(identifier.database)
        if ignore_if_exists and self._exists(identifier):
            return self.load_table(name)
        try:
            create_at(
                self._table(identifier),
                file_io=self.file_io,
                session=self.session,
                schema=schema,
                primary_key=primary_key,
                partition_by=partition_by,
                options=options,
                comment=comment,
                name=str(identifier),
            )
        except AlreadyExistsError:
            if not ignore_if_exists:
                raise
        return self.load_table(name)

    def replacement(
        self,
        name: str,
        *,
        schema: pa.Schema | Schema,
        primary_key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
    ) -> Replacement:
        """Checks the schema as that of a new table, under the id after the newest."""
        table = self._load(self._plain(name))
        built = checked_schema(
            schema,
            session=self.session,
            primary_key=primary_key,
            partition_by=partition_by,
            options=options,
            comment=comment,
            before=table.schema,
        )
        return Replacement.of(table, built)

    def replace_table(
        self,
        name: str,
        *,
        schema: pa.Schema | Schema,
        primary_key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
    ) -> Table:
        """Empties the table in a snapshot, then puts its next schema."""
        replacement = self.replacement(
            name,
            schema=schema,
            primary_key=primary_key,
            partition_by=partition_by,
            options=options,
            comment=comment,
        )
        replacement.carry_out()
        return replacement.new

    def drop_table(self, name: str, *, ignore_if_not_exists: bool = False) -> None:
        """Deletes the table's directory."""
        identifier = self._plain(name)
        if not self._exists(identifier):
            if ignore_if_not_exists:
                return
            raise self._no_table(identifier)
        self.file_io.delete_directory(self._table(identifier))

    def rename_table(self, name: str, new_name: str) -> None:
        """Renames the table's directory."""
        source, target = self._plain(name), self._plain(new_name)
        if not self._exists(source):
            raise self._no_table(source)
        if not self._has_database(target.database):
            raise self._no_database(target.database)
        if self._exists(target):
            raise AlreadyExistsError("table", str(target))
        self.file_io.rename_directory(self._table(source), self._table(target))

    def alter_table(self, name: str, changes: Sequence[SchemaChange]) -> Table:
        """Writes the next schema of the table or of its branch."""
        identifier = Identifier.parse(name)
        check_not_system(identifier.database)
        if identifier.object.system_table is not None:
            raise InvalidArgumentError(f"{name}: the columns of a system table do not change")
        return alter_table(self.load_table(name), changes)

    def load_table(self, name: str) -> Table:
        """Reads the newest schema of the table's directory."""
        identifier = Identifier.parse(name)
        if identifier.database == SYSTEM_DATABASE:
            return global_table(
                self, str(identifier.object), file_io=self.file_io, session=self.session
            )
        return object_of(self._load(identifier), identifier.object)

    def _load(self, identifier: Identifier) -> Table:
        schema = self._schemas(self._table(identifier)).latest()
        if schema is None:
            if not self._has_database(identifier.database):
                raise self._no_database(identifier.database)
            raise self._no_table(identifier)
        return Table(
            name=identifier.table_name,
            location=self._table(identifier),
            schema=schema,
            file_io=self.file_io,
            session=self.session,
        )

    @staticmethod
    def _plain(name: str) -> Identifier:
        """The name of a table that is to be made or changed."""
        identifier = Identifier.parse(name)
        check_not_system(identifier.database)
        if not identifier.object.is_plain:
            raise InvalidArgumentError(
                f"{name}: a system table or a branch is neither made, renamed nor dropped as a "
                "table; name the table alone"
            )
        return identifier

    def _database(self, name: str) -> str:
        return f"{self.warehouse}/{name}{_DATABASE_SUFFIX}"

    def _table(self, identifier: Identifier) -> str:
        return f"{self._database(identifier.database)}/{identifier.table}"

    def _schemas(self, location: str) -> Schemas:
        return Schemas(self.file_io, TablePaths(location))

    def _has_database(self, name: str) -> bool:
        return self.file_io.exists(self._database(check_name(name, "database")))

    def _exists(self, identifier: Identifier) -> bool:
        return bool(self._schemas(self._table(identifier)).list_ids())

    def _no_database(self, name: str) -> NotFoundError:
        return NotFoundError("database", name, hint=_near(name, self.list_databases()))

    def _no_table(self, identifier: Identifier) -> NotFoundError:
        if not self._has_database(identifier.database):
            return self._no_database(identifier.database)
        tables = self.list_tables(identifier.database)
        return NotFoundError("table", str(identifier), hint=_near(identifier.table, tables))


def _near(name: str, names: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(names), n=3)
    return f"There is {' and '.join(found)}" if found else ""
