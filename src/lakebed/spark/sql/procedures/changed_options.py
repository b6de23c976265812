"""Which table does a procedure work on that is given options for this one call?"""

from dataclasses import replace

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.options.acceptance import check_creatable
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.table.table import Table

_BUCKET = "bucket"


def with_options(table: Table, text: str | None) -> Table:
    """The table with other options than are stored; they are never stored.

    Args:
        table: The table.
        text: The options: `target-file-size=128m,file.compression=lz4`.

    Raises:
        InvalidArgumentError: The text is no options, or a value is none of its option.
        InvalidTableError: A key is not known.
        UnsupportedError: An option that Lakebed would not act on, or that is fixed.
    """
    given = TABLE_OPTIONS.with_current_keys(_parsed(text or ""))
    check_creatable(given)
    for key, value in given.items():
        option = TABLE_OPTIONS[key]
        is_fixed = option.immutable or key == _BUCKET
        if is_fixed and table.options.get(key, option.default) != value:
            raise UnsupportedError(
                f"options: {key!r} is fixed in the files of {table.name}, and cannot be another for"
                " one call; leave it out"
            )
    options = {**TABLE_OPTIONS.with_current_keys(table.options), **given}
    return replace(table, schema=replace(table.schema, options=options))


def _parsed(text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for pair in text.split(",") if text.strip() else ():
        key, equals, value = (each.strip() for each in pair.partition("="))
        if not equals:
            raise InvalidArgumentError(
                f"options: {pair!r} is no key=value; write target-file-size=128m, and the next one"
                " behind a comma"
            )
        options[key] = value
    return options
