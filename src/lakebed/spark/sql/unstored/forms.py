"""How are statements about views and functions read?"""

from lakebed.spark.sql.clauses import existing
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms
from lakebed.spark.sql.statements import Statement
from lakebed.spark.sql.unstored.statements import (
    CreateFunction,
    CreateView,
    DropFunction,
    RefreshFunction,
)


def _create_view(cursor: Cursor) -> Statement:
    cursor.accept("IF", "NOT", "EXISTS")
    return CreateView(name=cursor.names())


def _create_function(cursor: Cursor) -> Statement:
    cursor.accept("IF", "NOT", "EXISTS")
    return CreateFunction(name=cursor.names())


def _drop_function(cursor: Cursor) -> Statement:
    name, if_exists = existing(cursor)
    return DropFunction(name=name, if_exists=if_exists)


def _refresh_function(cursor: Cursor) -> Statement:
    name = cursor.names()
    cursor.expect_end()
    return RefreshFunction(name=name)


FORMS: Forms = (
    (("CREATE", "VIEW"), _create_view),
    (("CREATE", "OR", "REPLACE", "VIEW"), _create_view),
    (("CREATE", "FUNCTION"), _create_function),
    (("CREATE", "OR", "REPLACE", "FUNCTION"), _create_function),
    (("DROP", "FUNCTION"), _drop_function),
    (("REFRESH", "FUNCTION"), _refresh_function),
)
