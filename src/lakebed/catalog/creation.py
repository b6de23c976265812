"""How a table comes to be: everything is checked, then its first schema is written, once.

One that takes the place of another is checked alike, and its schema follows the other's.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from lakebed.errors import AlreadyExistsError, StorageError
from lakebed.format.arrow.types import from_arrow_schema
from lakebed.format.default_values import check_defaults
from lakebed.format.paths import TablePaths
from lakebed.format.schema import TableSchema
from lakebed.format.schema_builder import build_schema
from lakebed.format.schema_definition import Schema
from lakebed.options.acceptance import check_creatable, normalize, table_defaults
from lakebed.options.values import OptionValue
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.table.definition import check_definition
from lakebed.table.metadata.schemas import Schemas
from lakebed.table.session import Session


def create_at(
    location: str,
    *,
    file_io: FileIO,
    session: Session,
    schema: pa.Schema | Schema,
    primary_key: Sequence[str] = (),
    partition_by: Sequence[str] = (),
    options: Mapping[str, OptionValue] | None = None,
    comment: str | None = None,
    name: str,
) -> None:
    """Makes a table in a directory.

    Args:
        location: The directory, made with its parents.
        file_io: The store.
        session: Where options of tables by default come from.
        schema: The columns.
        primary_key: Key columns.
        partition_by: Partition columns.
        options: Options of the format.
        comment: The table's comment.
        name: What messages call the table.

    Raises:
        AlreadyExistsError: A table is there.
        InvalidTableError: A schema, key or option that cannot be.
        StorageError: The store failed, or did not say whether the table was made.
        UnsupportedError: A type that cannot be written, an option that Lakebed would not act on.
    """
    built = checked_schema(
        schema,
        session=session,
        primary_key=primary_key,
        partition_by=partition_by,
        options=options,
        comment=comment,
    )
    match Schemas(file_io, TablePaths(location)).put(built):
        case PutResult.WRITTEN:
            return
        case PutResult.PRESENT:
            raise AlreadyExistsError("table", name)
        case PutResult.UNKNOWN:
            raise StorageError(
                location, "the store did not say whether the table was made; look for it"
            )


def checked_schema(
    schema: pa.Schema | Schema,
    *,
    session: Session,
    primary_key: Sequence[str] = (),
    partition_by: Sequence[str] = (),
    options: Mapping[str, OptionValue] | None = None,
    comment: str | None = None,
    before: TableSchema | None = None,
) -> TableSchema:
    """The schema that a table is to get; arguments and errors as of `create_at`.

    Args:
        schema: The columns.
        session: Where options of tables by default come from.
        primary_key: Key columns.
        partition_by: Partition columns.
        options: Options of the format.
        comment: The table's comment.
        before: The schema that it replaces.
    """
    columns = schema if isinstance(schema, Schema) else from_arrow_schema(schema)
    built = build_schema(
        columns.fields,
        options={**table_defaults(session.options), **normalize(options or {})},
        time_millis=session.effects.clock(),
        primary_keys=primary_key,
        partition_keys=partition_by,
        comment=comment,
        before=before,
    )
    check_creatable(built.options)
    check_defaults(built.fields)
    check_definition(built, time_zone=session.time_zone)
    return built
