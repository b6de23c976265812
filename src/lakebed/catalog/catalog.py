"""What every catalog offers."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from lakebed.format.altering.changes import SchemaChange
from lakebed.format.schema_definition import Schema
from lakebed.options.values import OptionValue
from lakebed.table.replacing import Replacement
from lakebed.table.table import Table


class Catalog(Protocol):
    """Databases and tables by name; immutable and safe between threads."""

    @property
    def warehouse(self) -> str:
        """Where databases lie by default."""
        ...

    def list_databases(self) -> list[str]:
        """Names of all databases, sorted."""
        ...

    def create_database(self, name: str, *, ignore_if_exists: bool = False) -> None:
        """Makes a database.

        Raises:
            AlreadyExistsError: It is there, and that is not to be ignored.
            InvalidArgumentError: No such name can be.
        """
        ...

    def drop_database(
        self, name: str, *, ignore_if_not_exists: bool = False, cascade: bool = False
    ) -> None:
        """Deletes a database, with its tables if `cascade`.

        Raises:
            NotFoundError: It is not there, and that is not to be ignored.
            InvalidTableError: It has tables, and `cascade` is not given.
        """
        ...

    def list_tables(self, database: str) -> list[str]:
        """Names of a database's tables, sorted; `sys` has the tables about all of them.

        Raises:
            NotFoundError: There is no such database.
        """
        ...

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
        """Makes a table; when anything is wrong with the call, nothing is made.

        Args:
            name: `database.table`.
            schema: A pyarrow schema, or `lakebed.schema([...])` in the format's type names.
            primary_key: Key columns; none makes an append table.
            partition_by: Partition columns.
            options: Options of the format, as text, numbers or booleans.
            comment: The table's comment.
            ignore_if_exists: Returns the table that is there.

        Raises:
            AlreadyExistsError: The table is there, and that is not to be ignored.
            InvalidTableError: A schema, key or option that cannot be.
            NotFoundError: There is no such database.
            UnsupportedError: An option that Lakebed would not act on.
        """
        ...

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
        """Prepares that a table becomes another one; for engines that write its first rows.

        Nothing has changed until it is carried out. Arguments and errors as of `replace_table`.
        """
        ...

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
        """Gives a table other columns, keys and options, and no rows; it keeps its history.

        Older snapshots and tags can be read as before. Columns keep their ids where name and type
        are the same. Arguments as of `create_table`.

        Args:
            name: `database.table`.
            schema: The columns.
            primary_key: Key columns.
            partition_by: Partition columns, which have to be those of the table.
            options: Options of the format; none of the table's stays.
            comment: The table's comment.

        Raises:
            CommitConflictError: Others changed the schema meanwhile.
            InvalidTableError: A schema, key or option that cannot be; nothing was changed.
            NotFoundError: There is no such table or database.
            UnsupportedError: An option that Lakebed would not act on; nothing was changed.
        """
        ...

    def drop_table(self, name: str, *, ignore_if_not_exists: bool = False) -> None:
        """Deletes a table with all its files.

        Raises:
            NotFoundError: It is not there, and that is not to be ignored.
        """
        ...

    def rename_table(self, name: str, new_name: str) -> None:
        """Gives a table another name; both are `database.table`.

        Raises:
            AlreadyExistsError: The new name is taken.
            NotFoundError: There is no such table or database.
        """
        ...

    def alter_table(self, name: str, changes: Sequence[SchemaChange]) -> Table:
        """Changes a table's columns, options and comment, all at once or not at all.

        Args:
            name: `database.table`, or `database.table$branch_b1` for the schema of a branch.
            changes: What to change, in this order; `lakebed.changes` has them.

        Returns:
            The table with its new schema. Tables that were loaded before keep theirs.

        Raises:
            AlreadyExistsError: A column of that name is there.
            CommitConflictError: Others changed the schema again and again meanwhile.
            InvalidArgumentError: What is given is no change, or no value of an option.
            InvalidTableError: A change that cannot be; the message says why.
            NotFoundError: There is no such database, table, branch or column.
            UnsupportedError: An option or type that Lakebed would not act on.
        """
        ...

    def load_table(self, name: str) -> Table:
        """A table as it is now, or what stands behind its name with a `$`.

        Args:
            name: `database.table`, `database.table$branch_b1`, `database.table$files`,
                `database.table$branch_b1$files`, or a table about all tables: `sys.tables`.

        Raises:
            NotFoundError: There is no such database, table, branch or system table; the message
                names near ones.
        """
        ...
