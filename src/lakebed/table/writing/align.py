"""How rows that a user hands over become rows of the table, or a clear refusal.

Columns are found by name. A value is converted only where none can change its meaning: wider
numbers, other spellings of text and bytes, other units of time that lose nothing. Everything else
is refused with the column's name, before anything is written.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import pyarrow as pa

from lakebed.errors import InvalidArgumentError, InvalidDataError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_schema, to_arrow_type
from lakebed.format.arrow.typing import ArrowChunks, nulls, repeated
from lakebed.format.default_values import default_of
from lakebed.format.schema import TableSchema
from lakebed.format.types import DataField
from lakebed.lsm.merge import Kinds
from lakebed.table.writing.row_kinds import ROW_KIND, RowKinds

_DECIMAL_DIGITS_MAX = 38

_LIST_TYPES = (pa.ListType, pa.LargeListType, pa.FixedSizeListType)


@runtime_checkable
class ArrowStream(Protocol):
    """Anything that exports the Arrow C stream: Arrow, polars, duckdb and more."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The stream as a capsule."""
        ...


@runtime_checkable
class SparkFrame(Protocol):
    """A Spark DataFrame, classic or Connect."""

    def toArrow(self) -> pa.Table:  # noqa: N802 - Spark's name
        """All rows."""
        ...


def arrow_batches(data: object) -> Iterator[pa.Table]:
    """The rows of whatever a user may hand over, in parts.

    Raises:
        InvalidArgumentError: Not a table.
    """
    if isinstance(data, SparkFrame):
        yield data.toArrow()
    elif type(data).__module__.split(".", 1)[0] == "pandas":
        yield pa.Table.from_pandas(data, preserve_index=False)
    elif isinstance(data, pa.Table):
        yield data
    elif isinstance(data, pa.RecordBatch):
        yield pa.Table.from_batches([data])
    elif isinstance(data, ArrowStream):
        with pa.RecordBatchReader.from_stream(data) as reader:
            empty = True
            for batch in reader:
                empty = False
                yield pa.Table.from_batches([batch])
            if empty:
                yield reader.schema.empty_table()
    else:
        raise InvalidArgumentError(
            f"{type(data).__name__} is no table: give an Arrow table, batch or reader, a polars or "
            "pandas frame, or a Spark DataFrame"
        )


def align(rows: pa.Table, schema: TableSchema) -> tuple[pa.Table, Kinds | None]:
    """The table's columns, in order and type, and the row kinds if the rows carry any.

    Rows of kinds that the table drops (`ignore-delete`) are left out. As in every engine of the
    format, a null becomes the column's default where it has one.

    Raises:
        InvalidDataError: An unknown, doubled or missing column, a type that does not fit, a null
            where the schema forbids one, an unknown row kind.
    """
    row_kinds = RowKinds.of(schema)
    _check_names(rows.column_names, schema, row_kinds)
    kinds = row_kinds.read(rows)
    if kinds is not None and (kept := row_kinds.kept(kinds)) is not None:
        rows, kinds = rows.filter(pa.array(kept)), kinds[kept]
    columns = []
    for field in schema.fields:
        if field.name in rows.column_names:
            column = rows.column(field.name)
        else:
            column = _missing(field, rows.num_rows)
        columns.append(align_column(column, field))
    arrow_schema = to_arrow_schema(schema.fields)
    return pa.table(columns, schema=arrow_schema), kinds


def align_column(column: ArrowChunks, field: DataField) -> ArrowChunks:
    """Values in the type of a column, its default in place of nulls where it has one.

    Raises:
        InvalidDataError: A type that does not fit, a null where the column forbids one.
    """
    column = _converted(column, field)
    _check_nulls(column, field)
    if column.null_count and field.default_value is not None:
        column = column.fill_null(default_of(field))
    return column


def _check_names(names: Sequence[str], schema: TableSchema, row_kinds: RowKinds) -> None:
    doubled = {name for name in names if list(names).count(name) > 1}
    if doubled:
        raise InvalidDataError(f"the rows have two columns {min(doubled)!r}; rename one")
    known = {*schema.names, ROW_KIND}
    if row_kinds.is_required and row_kinds.column not in names:
        raise InvalidDataError(
            f"the rows lack the column {row_kinds.column!r}, which says their kind "
            "(rowkind.field); add it"
        )
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidDataError(
            f"the table has no column {unknown[0]!r}; its columns are {', '.join(schema.names)}. "
            "Drop or rename the column"
        )
    missing = [f.name for f in schema.fields if f.name not in names and not _may_be_missing(f)]
    if missing:
        role = "key column" if missing[0] in schema.primary_keys else "NOT NULL column"
        raise InvalidDataError(f"the rows lack the {role} {missing[0]!r}; add it")


def _may_be_missing(field: DataField) -> bool:
    return field.type.nullable or field.default_value is not None


def _missing(field: DataField, row_count: int) -> ArrowChunks:
    if field.default_value is None:
        return pa.chunked_array([nulls(row_count, to_arrow_type(field.type))])
    return pa.chunked_array([repeated(default_of(field), row_count)])


def _check_nulls(column: ArrowChunks, field: DataField) -> None:
    if field.type.nullable or column.null_count == 0:
        return
    first = pc.index(pc.is_null(column), True).as_py()
    raise InvalidDataError(
        f"column {field.name!r} is NOT NULL, but {column.null_count} of the rows have null there, "
        f"row {first} first; nothing was written"
    )


def _converted(column: ArrowChunks, field: DataField) -> ArrowChunks:
    wanted = to_arrow_type(field.type)
    if column.type == wanted:
        return column
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not _is_taken(column.type) or not _keeps_meaning(column.type, wanted):
        raise InvalidDataError(
            f"column {field.name!r} is {wanted} in the table, the rows have {column.type}; "
            "cast it before writing"
        )
    try:
        if pa.types.is_integer(column.type) and pa.types.is_decimal(wanted):
            # Arrow asks for room for every number of the type; here the numbers at hand must fit.
            column = column.cast(pa.decimal128(_DECIMAL_DIGITS_MAX, wanted.scale))
        return column.cast(wanted)
    except (pa.ArrowException, ValueError) as error:
        raise InvalidDataError(
            f"column {field.name!r}: {column.type} does not fit {wanted}: {error}"
        ) from error


def _is_taken(kind: pa.DataType) -> bool:
    """Whether rows may come in this type; of the others the format has no values."""
    return not (
        pa.types.is_unsigned_integer(kind)
        or pa.types.is_float16(kind)
        or pa.types.is_duration(kind)
        or pa.types.is_null(kind)
    )


def _keeps_meaning(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a checked cast between the types never changes what a value means."""
    if given == wanted:
        return True
    kinds = (
        (pa.types.is_integer, _takes_integer),
        (pa.types.is_floating, pa.types.is_floating),
        (pa.types.is_decimal, pa.types.is_decimal),
        (_is_text, _is_text),
        (_is_bytes, _is_bytes),
        (pa.types.is_date, pa.types.is_date),
        (pa.types.is_time, pa.types.is_time),
        (pa.types.is_boolean, pa.types.is_boolean),
    )
    if pa.types.is_timestamp(given) and pa.types.is_timestamp(wanted):
        return (given.tz is None) == (wanted.tz is None)
    if any(takes(given) and gives(wanted) for takes, gives in kinds):
        return not pa.types.is_floating(given) or given.bit_width <= wanted.bit_width
    return _nested_keeps_meaning(given, wanted)


def _takes_integer(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_decimal(kind) or kind == pa.float64())


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _nested_keeps_meaning(given: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_struct(given) and pa.types.is_struct(wanted):
        names = [given.field(i).name for i in range(given.num_fields)]
        there = [wanted.field(i).name for i in range(wanted.num_fields)]
        return names == there and all(
            _keeps_meaning(given.field(i).type, wanted.field(i).type)
            for i in range(given.num_fields)
        )
    if pa.types.is_map(given) and pa.types.is_map(wanted):
        return _keeps_meaning(given.key_type, wanted.key_type) and _keeps_meaning(
            given.item_type, wanted.item_type
        )
    if isinstance(given, _LIST_TYPES) and isinstance(wanted, _LIST_TYPES):
        return _keeps_meaning(given.value_type, wanted.value_type)
    return False
