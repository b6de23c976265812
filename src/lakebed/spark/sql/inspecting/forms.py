"""How are statements read that tell what is there?"""

from lakebed.spark.sql.clauses import is_query, pattern, place, whole_partition
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms
from lakebed.spark.sql.inspecting.statements import (
    DescribeColumn,
    DescribeDatabase,
    DescribePartition,
    RefreshTable,
    ShowCatalogs,
    ShowColumns,
    ShowCreateTable,
    ShowCurrentNamespace,
    ShowPartitions,
    ShowProperties,
    ShowTablesExtended,
    ShowViews,
)
from lakebed.spark.sql.statements import Describe, Query, Statement, Unsupported
from lakebed.spark.sql.tokens import TokenKind

_DATABASE = ("DATABASE", "SCHEMA", "NAMESPACE")


def _show_properties(cursor: Cursor) -> Statement:
    name = cursor.names()
    key = None
    if cursor.sees_symbol("("):
        inner = Cursor(cursor.parenthesized())
        token = inner.peek()
        is_text = token is not None and token.kind is TokenKind.STRING
        key = inner.string() if is_text else ".".join(inner.names())
        inner.expect_end()
    cursor.expect_end()
    return ShowProperties(name=name, key=key)


def _show_create_table(cursor: Cursor) -> Statement:
    name = cursor.names()
    if cursor.accept("AS", "SERDE"):
        return Unsupported(operation="SHOW CREATE TABLE AS SERDE", target=name)
    cursor.expect_end()
    return ShowCreateTable(name=name)


def _show_columns(cursor: Cursor) -> Statement:
    name = cursor.names()
    database = place(cursor)
    cursor.expect_end()
    return ShowColumns(name=name, database=database)


def _show_partitions(cursor: Cursor) -> Statement:
    name = cursor.names()
    partition = whole_partition(cursor) if cursor.accept("PARTITION") else {}
    cursor.expect_end()
    return ShowPartitions(name=name, partition=partition)


def _show_tables_extended(cursor: Cursor) -> Statement:
    database = place(cursor)
    cursor.expect("LIKE")
    chosen = cursor.string()
    partition = whole_partition(cursor) if cursor.accept("PARTITION") else {}
    cursor.expect_end()
    return ShowTablesExtended(database=database, pattern=chosen, partition=partition)


def _show_views(cursor: Cursor) -> Statement:
    database, chosen = place(cursor), pattern(cursor)
    cursor.expect_end()
    return ShowViews(database=database, pattern=chosen)


def _show_catalogs(cursor: Cursor) -> Statement:
    chosen = pattern(cursor)
    cursor.expect_end()
    return ShowCatalogs(pattern=chosen)


def _show_current_namespace(cursor: Cursor) -> Statement:
    cursor.expect_end()
    return ShowCurrentNamespace()


def _refresh_table(cursor: Cursor) -> Statement:
    name = cursor.names()
    cursor.expect_end()
    return RefreshTable(name=name)


def _describe(cursor: Cursor) -> Statement:
    if cursor.sees("QUERY") or (is_query(cursor) and not cursor.sees("TABLE")):
        return Query()
    for word in _DATABASE:
        if cursor.accept(word):
            return _describe_database(cursor)
    for word in ("FUNCTION", "CATALOG"):
        if cursor.accept(word):
            cursor.accept("EXTENDED")
            return Unsupported(
                operation=f"DESCRIBE {word}",
                target=cursor.names(),
                # Functions of one part are Spark's, whatever is current.
                is_explicit_only=word == "FUNCTION",
            )
    cursor.accept("TABLE")
    is_extended = cursor.accept("EXTENDED") or cursor.accept("FORMATTED")
    name = cursor.names()
    partition = whole_partition(cursor) if cursor.accept("PARTITION") else {}
    if cursor.accept("AS", "JSON"):
        return Unsupported(operation="DESCRIBE ... AS JSON", target=name)
    if partition:
        if not cursor.at_end:
            return Unsupported(operation="DESCRIBE of a column of a partition", target=name)
        return DescribePartition(name=name, partition=partition, is_extended=is_extended)
    if cursor.at_end:
        return Describe(name=name, is_extended=is_extended)
    column = cursor.names()
    cursor.expect_end()
    return DescribeColumn(name=name, column=column)


def _describe_database(cursor: Cursor) -> Statement:
    is_extended = cursor.accept("EXTENDED")
    name = cursor.names()
    cursor.expect_end()
    return DescribeDatabase(name=name, is_extended=is_extended)


FORMS: Forms = (
    (("SHOW", "TBLPROPERTIES"), _show_properties),
    (("SHOW", "CREATE", "TABLE"), _show_create_table),
    (("SHOW", "COLUMNS", "IN"), _show_columns),
    (("SHOW", "COLUMNS", "FROM"), _show_columns),
    (("SHOW", "PARTITIONS"), _show_partitions),
    (("SHOW", "TABLE", "EXTENDED"), _show_tables_extended),
    (("SHOW", "VIEWS"), _show_views),
    (("SHOW", "CATALOGS"), _show_catalogs),
    (("SHOW", "CURRENT", "NAMESPACE"), _show_current_namespace),
    (("REFRESH", "TABLE"), _refresh_table),
    (("DESCRIBE",), _describe),
    (("DESC",), _describe),
)
