"""How are statements about tags read?

The grammar is that of the extensions of Paimon's Spark connector, to which RENAME TAG IF EXISTS and
a list of names behind DELETE TAG are added.
"""

from collections.abc import Callable

from lakebed.spark.sql.cursor import Cursor
from lakebed.spark.sql.forms import Actions, Forms
from lakebed.spark.sql.statements import Name, Statement
from lakebed.spark.sql.tagging.statements import CreateTag, DeleteTags, RenameTag, ShowTags
from lakebed.spark.sql.tokens import TokenKind

# Words of RETAIN, and the units of durations that they are.
_UNITS = {"DAYS": "d", "HOURS": "h", "MINUTES": "min"}


def _create_tag(*, is_replace: bool) -> Callable[[Cursor, Name], Statement]:
    def parse(cursor: Cursor, name: Name) -> Statement:
        if_not_exists = not is_replace and cursor.accept("IF", "NOT", "EXISTS")
        tag = cursor.name()
        snapshot = _whole_number(cursor) if cursor.accept("AS", "OF", "VERSION") else None
        time_retained = _duration(cursor) if cursor.accept("RETAIN") else None
        cursor.expect_end()
        return CreateTag(
            name=name,
            tag=tag,
            snapshot=snapshot,
            time_retained=time_retained,
            if_not_exists=if_not_exists,
            is_replace=is_replace,
        )

    return parse


def _delete_tags(cursor: Cursor, name: Name) -> Statement:
    cursor.accept("IF", "EXISTS")
    written = [cursor.name()]
    while cursor.accept_symbol(","):
        written.append(cursor.name())
    cursor.expect_end()
    # Paimon takes several within one pair of backticks: `a, b`.
    tags = [tag.strip() for each in written for tag in each.split(",")]
    return DeleteTags(name=name, tags=tuple(tags))


def _rename_tag(cursor: Cursor, name: Name) -> Statement:
    if_exists = cursor.accept("IF", "EXISTS")
    tag = cursor.name()
    cursor.expect("TO")
    target = cursor.name()
    cursor.expect_end()
    return RenameTag(name=name, tag=tag, target=target, if_exists=if_exists)


def _show_tags(cursor: Cursor) -> Statement:
    name = cursor.names()
    cursor.expect_end()
    return ShowTags(name=name)


def _duration(cursor: Cursor) -> str:
    number = _whole_number(cursor)
    for word, unit in _UNITS.items():
        if cursor.accept(word):
            return f"{number} {unit}"
    raise cursor.error()


def _whole_number(cursor: Cursor) -> int:
    token = cursor.peek()
    # A name may begin with a digit, so that 7 alone is a number and `7` is none.
    if token is None or token.kind is not TokenKind.NUMBER or not token.text.isdecimal():
        raise cursor.error()
    return int(cursor.take().text)


ACTIONS: Actions = (
    (("CREATE", "TAG"), _create_tag(is_replace=False)),
    (("CREATE", "OR", "REPLACE", "TAG"), _create_tag(is_replace=True)),
    (("REPLACE", "TAG"), _create_tag(is_replace=True)),
    (("DELETE", "TAG"), _delete_tags),
    (("RENAME", "TAG"), _rename_tag),
)
FORMS: Forms = ((("SHOW", "TAGS"), _show_tags),)
