"""Which options do the session's settings lay over a table: `SET spark.paimon.…`?

`spark.paimon.<key>` is for every table; `spark.paimon.<catalog>.<database>.<table>.<key>` for those
that it names, each of the three a name or `*`. Of several for one key the most specific holds. They
hold as if they were the table's own, so what a scan or a query says of itself goes first.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from lakebed.errors import InvalidArgumentError, InvalidTableError, LakebedError, UnsupportedError
from lakebed.format.altering.option_rules import with_option
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.spark.names import TableName
from lakebed.table.change_tables import ViewTable
from lakebed.table.system.system_table import ReadOnlyTable, SystemTable
from lakebed.table.table import Table

PREFIX = "spark.paimon."
_ANY = "*"
_NAME_PARTS = 3
_BUCKET = "bucket"


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicOption:
    """An option that a setting gives to tables.

    Attributes:
        setting: The key of the setting.
        pattern: Catalog, database and table, each a name or `*`; None for every table.
        key: The option, under its current key.
        text: Its value.
    """

    setting: str
    pattern: tuple[str, ...] | None
    key: str
    text: str

    @classmethod
    def of(cls, setting: str, text: str, *, catalogs: Collection[str]) -> "DynamicOption | None":
        """What a setting gives; None where it is for tables of another catalog.

        Args:
            setting: Its key.
            text: Its value.
            catalogs: The attached catalogs.
        """
        key = setting.removeprefix(PREFIX)
        parts = key.split(".", _NAME_PARTS)
        pattern: tuple[str, ...] | None = None
        if TABLE_OPTIONS.find(key) is None and len(parts) > _NAME_PARTS:
            is_ours = parts[0] in {_ANY, *catalogs}
            if is_ours or TABLE_OPTIONS.find(parts[-1]) is not None:
                pattern, key = tuple(parts[:_NAME_PARTS]), parts[-1]
                if not is_ours:
                    return None
        return cls(setting=setting, pattern=pattern, key=TABLE_OPTIONS.current_key(key), text=text)

    @property
    def rank(self) -> tuple[int, ...]:
        """How specific it is: by how many names it has, then by which."""
        if self.pattern is None:
            return (-1,)
        given = [part != _ANY for part in self.pattern]
        return (sum(given), *map(int, reversed(given)))

    def is_for(self, name: TableName | None) -> bool:
        """Whether it is for a table; a table without a name has only what is for every one."""
        if self.pattern is None:
            return True
        if name is None:
            return False
        names = (name.catalog, name.database, name.table)
        return all(part in {_ANY, own} for part, own in zip(self.pattern, names, strict=True))


def given_settings(spark: SparkSession) -> Mapping[str, str]:
    """The settings of a session that begin with `PREFIX`.

    A map of Java's is copied value by value, each by calls; its text comes by one, and mostly tells
    that there is nothing to copy.
    """
    java = getattr(spark.conf, "_jconf", None)
    if java is not None and PREFIX not in java.getAllAsJava().toString():
        return {}
    return {key: text for key, text in spark.conf.getAll.items() if key.startswith(PREFIX)}


def laid_over(
    table: Table,
    settings: Mapping[str, str],
    *,
    name: TableName | None,
    catalogs: Collection[str],
) -> Table:
    """A table with the options that settings give it.

    Args:
        table: The table; a system table gets them for the table that it is of.
        settings: As of `given_settings`.
        name: The name under which it is read or written; None where it was found by its path.
        catalogs: The attached catalogs.

    Raises:
        InvalidArgumentError: No such option, or no value of it.
        InvalidTableError: An option that a table keeps.
        UnsupportedError: An option that Lakebed does not act on.
    """
    given = [
        option
        for setting, text in settings.items()
        if (option := DynamicOption.of(setting, text, catalogs=catalogs)) is not None
        and option.is_for(name)
    ]
    chosen = {option.key: option for option in sorted(given, key=lambda each: each.rank)}
    return _with_options(table, list(chosen.values())) if chosen else table


def _with_options(table: Table, given: Collection[DynamicOption]) -> Table:
    if isinstance(table, ViewTable):
        return type(table).over(_with_options(table.of, given))
    if isinstance(table, SystemTable):
        return replace(table, of=_with_options(table.of, given))
    if isinstance(table, ReadOnlyTable):
        return table
    options = dict(table.options)
    for option in given:
        options = _checked(options, option)
    return replace(table, schema=replace(table.schema, options=options))


def _checked(options: Mapping[str, str], option: DynamicOption) -> dict[str, str]:
    """The options with one more."""
    known = TABLE_OPTIONS.find(option.key)
    if known is None:
        raise InvalidArgumentError(
            f"setting {option.setting!r}: {TABLE_OPTIONS.unknown(option.key)} RESET it"
        )
    try:
        if not known.accepts(option.text):
            raise UnsupportedError(
                f"option {option.key!r} = {option.text!r} ({known.meaning}) is not supported yet"
            )
        if option.key == _BUCKET and options.get(_BUCKET) != option.text:
            raise InvalidTableError("the number of buckets is changed by ALTER TABLE alone")
        return with_option(options, option.key, option.text, has_snapshots=True)
    except LakebedError as error:
        raise type(error)(f"setting {option.setting!r}: {error}. RESET it") from error
