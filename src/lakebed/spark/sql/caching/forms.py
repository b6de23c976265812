"""How are statements about rows that are kept read?"""

from functools import partial

from lakebed.spark.sql.caching.statements import CacheTable, ClearCache, UncacheTable
from lakebed.spark.sql.clauses import existing, is_query, properties
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms
from lakebed.spark.sql.statements import CreateTemporaryView, Statement


def _cache_table(cursor: Cursor, *, is_lazy: bool) -> Statement:
    name = cursor.names()
    words, options = None, {}
    if cursor.accept("OPTIONS"):
        start = cursor.index
        words = cursor.parenthesized()
        cursor.index = start
        options = properties(cursor)
    if cursor.accept("AS") or is_query(cursor):
        return CreateTemporaryView(
            name=name, query=cursor.rest(), is_cached=True, is_lazy=is_lazy, cache_options=words
        )
    cursor.expect_end()
    return CacheTable(name=name, is_lazy=is_lazy, options=options)


def _uncache_table(cursor: Cursor) -> Statement:
    name, if_exists = existing(cursor)
    return UncacheTable(name=name, if_exists=if_exists)


def _clear_cache(cursor: Cursor) -> Statement:
    cursor.expect_end()
    return ClearCache()


FORMS: Forms = (
    (("CACHE", "LAZY", "TABLE"), partial(_cache_table, is_lazy=True)),
    (("CACHE", "TABLE"), partial(_cache_table, is_lazy=False)),
    (("UNCACHE", "TABLE"), _uncache_table),
    (("CLEAR", "CACHE"), _clear_cache),
)
