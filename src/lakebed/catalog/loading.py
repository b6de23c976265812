"""From a user's options to a catalog, or from a path to a table."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lakebed.catalog.catalog import Catalog
from lakebed.catalog.creation import create_at
from lakebed.catalog.filesystem import FilesystemCatalog
from lakebed.catalog.identifier import ObjectName
from lakebed.catalog.objects import object_of
from lakebed.errors import InvalidArgumentError, NotFoundError, UnsupportedError
from lakebed.format.paths import TablePaths
from lakebed.format.schema_definition import Schema
from lakebed.options.acceptance import check_catalog_options
from lakebed.options.values import OptionValue, format_value
from lakebed.storage.file_io import FileIO
from lakebed.storage.location import file_io_for, parse_location
from lakebed.table.metadata.schemas import Schemas
from lakebed.table.session import Session
from lakebed.table.table import REAL_EFFECTS, Table


def load_catalog(
    options: Mapping[str, OptionValue] | None = None,
    *,
    warehouse: str | None = None,
    metastore: str | None = None,
) -> Catalog:
    """Opens a catalog.

    Args:
        options: Options of the catalog, of its store, `lakebed.*` and `table-default.*`.
        warehouse: Where databases lie; the same as option `warehouse`.
        metastore: `filesystem`; the same as option `metastore`.

    Raises:
        InvalidArgumentError: A missing or doubled option, or a value that cannot be.
        UnsupportedError: A metastore, store or option that Lakebed lacks.
    """
    given = {key: format_value(value) for key, value in (options or {}).items()}
    for key, value in (("warehouse", warehouse), ("metastore", metastore)):
        if value is not None and given.setdefault(key, value) != value:
            raise InvalidArgumentError(f"{key} is given twice: {given[key]!r} and {value!r}")
    check_catalog_options(given)
    if given.get("metastore", "filesystem") != "filesystem":
        raise UnsupportedError(
            f"metastore={given['metastore']!r} is not supported yet; use filesystem"
        )
    if "warehouse" not in given:
        raise InvalidArgumentError("a catalog needs its warehouse: the directory of its databases")
    location = parse_location(given["warehouse"]).text.rstrip("/")
    return FilesystemCatalog(
        warehouse=location,
        file_io=file_io_for(location, given),
        session=Session.of(given, REAL_EFFECTS),
    )


def load_table(location: str, options: Mapping[str, OptionValue] | None = None) -> Table:
    """Opens a table by its directory, without a catalog.

    Args:
        location: The directory; behind it may stand `$branch_b1`, `$files` or
            `$branch_b1$files`.
        options: As for `load_catalog`.

    Raises:
        InvalidArgumentError: A `$` with something else behind it.
        NotFoundError: There is no table, no such branch or system table.
        UnsupportedError: A store that Lakebed lacks.
    """
    given, file_io, session = _opened(location, options)
    directory, slash, last = given.rpartition("/")
    named = ObjectName.parse(last)
    path = f"{directory}{slash}{named.table}"
    schema = Schemas(file_io, TablePaths(path)).latest()
    if schema is None:
        raise NotFoundError("table", location, hint="A table's directory holds schema/schema-0")
    table = Table(
        name=path,
        location=path,
        schema=schema,
        file_io=file_io,
        session=session,
    )
    return object_of(table, named)


def create_table(
    location: str,
    *,
    store_options: Mapping[str, OptionValue] | None = None,
    schema: pa.Schema | Schema,
    primary_key: Sequence[str] = (),
    partition_by: Sequence[str] = (),
    options: Mapping[str, OptionValue] | None = None,
) -> Table:
    """Makes a table in a directory, without a catalog.

    Args:
        location: The directory.
        store_options: As for `load_catalog`.
        schema: As for `Catalog.create_table`, and so are the others.
        primary_key: Key columns.
        partition_by: Partition columns.
        options: Options of the format.

    Raises:
        AlreadyExistsError: A table is there.
        InvalidTableError: A schema, key or option that cannot be.
        UnsupportedError: A store or an option that Lakebed lacks.
    """
    path, file_io, session = _opened(location, store_options)
    create_at(
        path,
        file_io=file_io,
        session=session,
        schema=schema,
        primary_key=primary_key,
        partition_by=partition_by,
        options=options,
        name=path,
    )
    return load_table(location, store_options)


def _opened(
    location: str, options: Mapping[str, OptionValue] | None
) -> tuple[str, FileIO, Session]:
    """The directory as its store spells it, the store, and the options of this process."""
    given = {key: format_value(value) for key, value in (options or {}).items()}
    check_catalog_options(given)
    path = parse_location(location).text.rstrip("/")
    return path, file_io_for(path, given), Session.of(given, REAL_EFFECTS)
