"""What does `sys.max_pt('t')` stand for: the greatest partition of a table that has data?

The call is replaced by its value, a text as in Paimon, before the statement is looked at: so
conditions on it leave out partitions as if the user had written the value.
"""

from collections.abc import Sequence

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import ArrowColumn
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.spark.conditions import analysis_error, spark_errors, table_not_found
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName, quoted, split_name
from lakebed.spark.sql.arguments import Arguments, kept
from lakebed.spark.sql.inspecting.partitions import require_partitioned
from lakebed.spark.sql.splicing import Edit, spliced
from lakebed.spark.sql.tokens import Token, TokenKind, closing_index, tokenize
from lakebed.spark.types import to_spark_schema
from lakebed.table.metadata.partitions import partition_table
from lakebed.table.system.groups import partition_groups
from lakebed.table.system.kind import MetadataView
from lakebed.table.table import Table

_FUNCTION, _DATABASE = "max_pt", "sys"
# Of these, Python's text is Spark's.
_PLAIN = frozenset(
    {TypeRoot.CHAR, TypeRoot.VARCHAR, TypeRoot.TINYINT, TypeRoot.SMALLINT}
    | {TypeRoot.INT, TypeRoot.BIGINT, TypeRoot.DATE}
)


def with_max_partitions(lake: Lake, text: str, given: Arguments) -> str:
    """A statement with the values of such calls in their place.

    Raises:
        AnalysisException: A table without partitions, or that is not there; a wrong argument.
    """
    if _FUNCTION not in text.lower():
        return text
    tokens = tokenize(text)
    edits = []
    for index, token in enumerate(tokens):
        first = _call_start(tokens, index)
        if first is None or not token.is_name:
            continue
        last = closing_index(tokens, index + 1)
        catalog = tokens[first].name if index - first == 4 else None
        name = _table_name(lake, catalog, tokens[index + 2 : last], given=given)
        if name is None:
            continue
        literal = kept(_literal(_max_partition(lake, name)), has_fields=not given.fields)
        edits.append(Edit(tokens[first].start, tokens[last].end, literal))
    return spliced(text, edits)


def _call_start(tokens: Sequence[Token], index: int) -> int | None:
    """Where the name of a call of the function begins, whose last part is at an index."""
    if tokens[index].name.lower() != _FUNCTION or not _is(tokens, index + 1, "("):
        return None
    if index < 2 or not _is(tokens, index - 1, ".") or tokens[index - 2].name.lower() != _DATABASE:
        return None
    has_catalog = index >= 4 and _is(tokens, index - 3, ".") and tokens[index - 4].is_name
    return index - 4 if has_catalog else index - 2


def _is(tokens: Sequence[Token], index: int, sign: str) -> bool:
    return index < len(tokens) and tokens[index].is_symbol(sign)


def _table_name(
    lake: Lake, catalog: str | None, arguments: Sequence[Token], *, given: Arguments
) -> TableName | None:
    """The table that a call names; None where the function is not Lakebed's."""
    registry = lake.registry
    if catalog is not None and catalog not in registry.catalogs:
        return None
    parts = _parts(arguments, given)
    is_ours = catalog is not None or registry.current_catalog is not None
    if not is_ours and not (parts and len(parts) == 3 and parts[0] in registry.catalogs):
        return None
    if parts is None:
        raise analysis_error(
            "LAKEBED_INVALID_ARGUMENT",
            f"{_DATABASE}.{_FUNCTION} takes one argument, the name of a table as a text literal or"
            " as a :parameter",
        )
    found = registry.resolve_table(parts, is_view=lambda _: False)
    if found is None and catalog is not None and len(parts) == 2:
        # Spark's catalog is current, in which no table has partitions of Lakebed's.
        found = TableName(catalog, *parts)
    if found is None:
        raise table_not_found(quoted(parts), hint="Name it catalog.database.table")
    return found


def _parts(arguments: Sequence[Token], given: Arguments) -> tuple[str, ...] | None:
    """The parts of the name that is the only argument; None where there is no such."""
    name: object = None
    if len(arguments) == 1 and arguments[0].kind is TokenKind.STRING:
        name = arguments[0].value if arguments[0].text[0] not in "xX" else None
    elif len(arguments) == 2 and arguments[0].is_symbol(":"):
        name = given.named.get(arguments[1].name)
    if not isinstance(name, str):
        return None
    with spark_errors():
        return split_name(name)


def _max_partition(lake: Lake, name: TableName) -> str:
    """The greatest value of the first partition column, as Spark makes a text of it."""
    table = lake.load(name)
    require_partitioned(table, name)
    field = table.schema.partition_type.fields[0]
    with spark_errors():
        values = pc.drop_null(_first_values(table))
        if not len(values):
            raise InvalidArgumentError(f"{name} has no partition that holds data")
    return _as_text(lake, pc.max(values).as_py(), field)


def _first_values(table: Table) -> ArrowColumn:
    """The first value of each partition that has files."""
    groups = partition_groups(MetadataView(parts=table.parts(), snapshot=table.latest_snapshot()))
    groups = groups.filter(pc.greater(groups.column("file_count"), 0))
    fields = table.schema.partition_type.fields
    return partition_table(groups.column("partition").combine_chunks(), fields).column(0)


def _as_text(lake: Lake, value: object, field: DataField) -> str:
    if isinstance(field.type, AtomicType) and field.type.root in _PLAIN:
        return str(value)
    schema = to_spark_schema([field])
    frame = lake.frame([(value,)], schema.fields)
    return str(frame.select(F.col(quoted((field.name,))).cast("string")).collect()[0][0])


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
