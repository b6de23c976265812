"""How is ALTER TABLE read?"""

from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Actions, Forms
from lakebed.spark.sql.statements import Statement, Unsupported
from lakebed.spark.sql.tagging import forms as tagging


def _alter_table(cursor: Cursor) -> Statement:
    name = cursor.names()
    for words, parse in _ACTIONS:
        if cursor.accept(*words):
            return parse(cursor, name)
    return Unsupported(operation="ALTER TABLE", target=name)


_ACTIONS: Actions = (*tagging.ACTIONS,)
FORMS: Forms = ((("ALTER", "TABLE"), _alter_table),)
