"""How is ANALYZE TABLE read?"""

from lakebed.spark.sql.analyzing.statements import AnalyzeTable
from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Forms
from lakebed.spark.sql.statements import Statement, Unsupported


def _analyze_table(cursor: Cursor) -> Statement:
    name = cursor.names()
    if cursor.accept("PARTITION"):
        return Unsupported(operation="ANALYZE TABLE with PARTITION", target=name)
    for word in ("COMPUTE", "STATISTICS"):
        cursor.expect(word)
    if cursor.accept("NOSCAN"):
        return Unsupported(operation="ANALYZE TABLE with NOSCAN", target=name)
    columns: tuple[str, ...] | None = ()
    if cursor.accept("FOR", "ALL", "COLUMNS"):
        columns = None
    elif cursor.accept("FOR", "COLUMNS"):
        columns = _columns(cursor)
    cursor.expect_end()
    return AnalyzeTable(name=name, columns=columns)


def _columns(cursor: Cursor) -> tuple[str, ...]:
    names = [cursor.name()]
    while cursor.accept_symbol(","):
        names.append(cursor.name())
    return tuple(names)


FORMS: Forms = ((("ANALYZE", "TABLE"), _analyze_table),)
