"""How does a frame of a table give columns that it does not show, such as `__paimon_file_path`?

They are read only where they are named: the frame is made anew with them, when `select`, `where`
and the like name one. So other columns beside them are named by text or `F.col`, not by the frame.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.spark.changelog_option import shown_by
from lakebed.spark.conditions import spark_errors
from lakebed.spark.lake import Lake, hidden_columns
from lakebed.spark.names import quoted
from lakebed.spark.travel_options import travel_of
from lakebed.table.table import Table

_ATTRIBUTE = "_lakebed_hidden"
_STAR = "*"

Method = Callable[..., DataFrame]


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a frame has beside the columns that it shows.

    Attributes:
        columns: Their names.
        wide: The same rows with some of them behind the others.
    """

    columns: tuple[str, ...]
    wide: Callable[[Sequence[str]], DataFrame]

    def named(self, expressions: Iterable[object]) -> tuple[str, ...]:
        """Those that expressions name."""
        words = {
            word.lower() for each in expressions for word in re.findall(r"\w+", _text_of(each))
        }
        return tuple(column for column in self.columns if column.lower() in words)


def table_frame(lake: Lake, table: Table, options: Mapping[str, str] | None = None) -> DataFrame:
    """The rows of a table as a frame that also has what no star means."""
    travel, others = travel_of(lake, options or {})
    with spark_errors():
        table, others = shown_by(table, others)
    frame = lake.read(table, travel=travel, options=others)
    columns = hidden_columns(table)

    def wide(names: Sequence[str]) -> DataFrame:
        return lake.read(table, travel=travel, options=others, hidden=names)

    return _having(frame, Hidden(columns, wide)) if columns else frame


def _having(frame: DataFrame, hidden: Hidden) -> DataFrame:
    setattr(frame, _ATTRIBUTE, hidden)
    return frame


def _hidden_of(frame: DataFrame) -> Hidden | None:
    found = vars(frame).get(_ATTRIBUTE)
    return found if isinstance(found, Hidden) else None


def _text_of(expression: object) -> str:
    return str(expression) if isinstance(expression, str | Column) else ""


def _visible(frame: DataFrame) -> list[Column]:
    return [F.col(quoted((name,))) for name in frame.columns]


def _flat(columns: tuple[object, ...]) -> list[object]:
    """Columns, which may come as one list."""
    if len(columns) == 1 and isinstance(columns[0], list | tuple):
        return list(columns[0])
    return list(columns)


def _selecting(original: Method) -> Method:
    """`select` and `selectExpr`; a star means what the frame shows."""

    def select(self: DataFrame, *columns: object) -> DataFrame:
        hidden = _hidden_of(self)
        given = _flat(columns) if hidden is not None else []
        named = hidden.named(given) if hidden is not None else ()
        if hidden is None or not named:
            return original(self, *columns)
        wanted: list[object] = []
        for each in given:
            is_star = isinstance(each, str) and each.strip() == _STAR
            wanted += [quoted((name,)) for name in self.columns] if is_star else [each]
        return original(hidden.wide(named), *wanted)

    return select


def _filtering(original: Method) -> Method:
    """`where` and `filter`; what is hidden stays so, and can be named afterwards."""

    def where(self: DataFrame, condition: Column | str) -> DataFrame:
        hidden = _hidden_of(self)
        if hidden is None:
            return original(self, condition)
        named = hidden.named([condition])

        def wide(names: Sequence[str]) -> DataFrame:
            both = [each for each in hidden.columns if each in {*named, *names}]
            rows = original(hidden.wide(both), condition)
            shown = [*_visible(self), *(F.col(quoted((name,))) for name in names)]
            return rows.select(*shown) if len(both) > len(names) else rows

        found = wide(()) if named else original(self, condition)
        return _having(found, Hidden(hidden.columns, wide))

    return where


def _naming(original: Method) -> Method:
    """`alias`."""

    def alias(self: DataFrame, alias: str) -> DataFrame:
        hidden = _hidden_of(self)
        found = original(self, alias)
        if hidden is None:
            return found
        return _having(
            found, Hidden(hidden.columns, lambda names: original(hidden.wide(names), alias))
        )

    return alias


def _adding(original: Method) -> Method:
    """`withColumn`."""

    def with_column(self: DataFrame, colName: str, col: Column) -> DataFrame:  # noqa: N803 - PySpark's names
        hidden = _hidden_of(self)
        named = hidden.named([col]) if hidden is not None else ()
        if hidden is None or not named:
            return original(self, colName, col)
        others = [each for each in named if each.lower() != colName.lower()]
        return original(hidden.wide(named), colName, col).drop(*others)

    return with_column


def _as_column(original: Callable[..., Column]) -> Callable[..., Column]:
    """`metadataColumn`."""

    def metadata_column(self: DataFrame, colName: str) -> Column:  # noqa: N803 - PySpark's name
        hidden = _hidden_of(self)
        if hidden is None or not hidden.named([colName]):
            return original(self, colName)
        return F.col(quoted((colName,)))

    return metadata_column


HIDDEN: Mapping[str, Callable[..., Callable[..., object]]] = {
    "select": _selecting,
    "selectExpr": _selecting,
    "filter": _filtering,
    "where": _filtering,
    "alias": _naming,
    "withColumn": _adding,
    "metadataColumn": _as_column,
}
