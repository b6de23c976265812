"""The tables about all tables of a catalog: `sys.tables`, `sys.partitions` ...

The database `sys` is always there and never listed; nothing can be made in it.
"""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from lakebed.catalog.catalog import Catalog
from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.arrow.typing import python_values
from lakebed.format.predicate.expressions import Expression
from lakebed.format.schema import TableSchema
from lakebed.options.values import parse_boolean, parse_long
from lakebed.storage.file_io import FileIO
from lakebed.table.session import Session
from lakebed.table.system.groups import partition_groups, partition_names
from lakebed.table.system.kind import MetadataView, system_schema, table_of_rows
from lakebed.table.system.metadata_scan import MetadataScan
from lakebed.table.system.system_table import ReadOnlyTable
from lakebed.table.table import Table

SYSTEM_DATABASE = "sys"
_OPTIONS_TABLE_KEY = "catalog-options-table.enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalTableKind:
    """A table about all tables.

    Attributes:
        schema: Its columns and key.
        rows: Makes its rows of a catalog and the options that this was opened with.
    """

    schema: TableSchema
    rows: Callable[[Catalog, Mapping[str, str]], Iterator[tuple[object, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GlobalTable(ReadOnlyTable):
    """A table about all tables of a catalog.

    Attributes:
        catalog: The catalog.
        kind: What the table shows.
    """

    catalog: Catalog
    kind: GlobalTableKind

    def __repr__(self) -> str:
        """Name and columns, at a glance."""
        return f"GlobalTable({self.name}: {', '.join(self.schema.names)})"

    # A scan of metadata has no splits; all else that a scan offers, it offers too.
    def scan(  # type: ignore[override]
        self,
        columns: Sequence[str] | None = None,
        where: str | Expression | None = None,
        limit: int | None = None,
        **points: object,
    ) -> MetadataScan:
        """Reads the table; nothing is read before the scan is asked for rows.

        Args:
            columns: Columns in the order wanted; all by default.
            where: A Spark SQL condition on the columns; rows for which it is true are read.
            limit: How many rows at most, any of them.
            points: Refused: what there was, no catalog knows.

        Raises:
            InvalidArgumentError: An unknown column, a bad condition, or a point in time.
        """
        given = [name for name, value in points.items() if value not in (None, "auto", {})]
        if given:
            raise InvalidArgumentError(f"{self.name} shows what there is now; leave out {given[0]}")
        return self._metadata_scan(self._rows, columns=columns, where=where, limit=limit)

    def _rows(self, _: Collection[str]) -> pa.Table:
        rows = self.kind.rows(self.catalog, self.session.options)
        return table_of_rows(self.schema.fields, rows)


def global_table(catalog: Catalog, name: str, *, file_io: FileIO, session: Session) -> Table:
    """The table of the database `sys`, by its name in any case.

    Raises:
        NotFoundError: There is none of that name.
    """
    names = global_table_names(session)
    if name.lower() not in names:
        near = difflib.get_close_matches(name.lower(), names, n=3) or names
        raise NotFoundError(
            "table", f"{SYSTEM_DATABASE}.{name}", hint=f"There is {' and '.join(near)}"
        )
    kind = _KINDS[name.lower()]
    return GlobalTable(
        name=f"{SYSTEM_DATABASE}.{name.lower()}",
        location=catalog.warehouse,
        schema=kind.schema,
        file_io=file_io,
        session=session,
        catalog=catalog,
        kind=kind,
    )


def global_table_names(session: Session) -> list[str]:
    """Names of the tables of the database `sys`, sorted; options may hold keys of a store."""
    shows_options = parse_boolean(
        session.options.get(_OPTIONS_TABLE_KEY, "false"), _OPTIONS_TABLE_KEY
    )
    return sorted(name for name in _KINDS if name != _CATALOG_OPTIONS or shows_options)


def check_not_system(database: str) -> None:
    """Refuses to change the database `sys`.

    Raises:
        InvalidArgumentError: It is meant.
    """
    if database == SYSTEM_DATABASE:
        raise InvalidArgumentError(
            f"{SYSTEM_DATABASE!r} is the database of the tables about all tables; nothing is made, "
            "renamed or dropped in it"
        )


def _all_tables(catalog: Catalog) -> Iterator[tuple[str, str, Table]]:
    """Every table with its database and name; those dropped meanwhile are passed over."""
    for database in catalog.list_databases():
        try:
            names = catalog.list_tables(database)
        except NotFoundError:
            continue
        for name in names:
            try:
                yield database, name, catalog.load_table(f"{database}.{name}")
            except NotFoundError:
                continue


def _table_rows(catalog: Catalog, _: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    for database, name, table in _all_tables(catalog):
        options = table.options
        created, updated = (
            None if key not in options else parse_long(options[key], key)
            for key in ("createdAt", "updatedAt")
        )
        yield (
            database,
            name,
            options.get("type", "table"),
            bool(table.partition_keys),
            bool(table.primary_keys),
            options.get("owner"),
            created,
            options.get("createdBy"),
            updated,
            options.get("updatedBy"),
            # A catalog that keeps snapshots itself knows the sums; this one would read every table.
            *(None,) * 4,
        )


def _partition_rows(catalog: Catalog, _: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    for database, name, table in _all_tables(catalog):
        if not table.partition_keys:
            continue
        view = MetadataView(parts=table.parts(), snapshot=table.latest_snapshot())
        groups = partition_groups(view)
        columns = (
            partition_names(view, groups.column("partition"), cast=False),
            *(
                python_values(groups.column(each))
                for each in ("record_count", "file_size_in_bytes", "file_count", "last_millis")
            ),
        )
        for row in zip(*columns, strict=True):
            yield (database, name, *row, False)


def _option_rows(catalog: Catalog, _: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    for database, name, table in _all_tables(catalog):
        for key, value in {**table.options, "path": table.location}.items():
            yield database, name, key, value


def _catalog_option_rows(_: Catalog, options: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    yield from options.items()


_CATALOG_OPTIONS = "catalog_options"
_KINDS = {
    "tables": GlobalTableKind(
        schema=system_schema(
            {
                "database_name": "STRING",
                "table_name": "STRING",
                "table_type": "STRING",
                "partitioned": "BOOLEAN",
                "primary_key": "BOOLEAN",
                "owner": "STRING",
                "created_at": "BIGINT",
                "created_by": "STRING",
                "updated_at": "BIGINT",
                "updated_by": "STRING",
                "record_count": "BIGINT",
                "file_size_in_bytes": "BIGINT",
                "file_count": "BIGINT",
                "last_file_creation_time": "BIGINT",
            },
            key=["database_name", "table_name"],
        ),
        rows=_table_rows,
    ),
    "partitions": GlobalTableKind(
        schema=system_schema(
            {
                "database_name": "STRING",
                "table_name": "STRING",
                "partition_name": "STRING",
                "record_count": "BIGINT",
                "file_size_in_bytes": "BIGINT",
                "file_count": "BIGINT",
                "last_file_creation_time": "BIGINT",
                "done": "BOOLEAN",
            },
            key=["database_name", "table_name", "partition_name"],
        ),
        rows=_partition_rows,
    ),
    "all_table_options": GlobalTableKind(
        schema=system_schema(
            {
                "database_name": "STRING",
                "table_name": "STRING",
                "key": "STRING",
                "value": "STRING",
            },
            key=["table_name"],
        ),
        rows=_option_rows,
    ),
    _CATALOG_OPTIONS: GlobalTableKind(
        schema=system_schema({"key": "STRING NOT NULL", "value": "STRING NOT NULL"}, key=["key"]),
        rows=_catalog_option_rows,
    ),
}
