"""How are statements about tags run?"""

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import StringType, StructField

from lakebed.spark.conditions import spark_errors
from lakebed.spark.lake import Lake
from lakebed.spark.sql.arguments import Arguments
from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import Statement
from lakebed.spark.sql.tagging.statements import CreateTag, DeleteTags, RenameTag, ShowTags
from lakebed.table.table import Table
from lakebed.table.tags.making import all_tags

_SHOW_TAGS = (StructField("tag", StringType(), nullable=False),)


def create_tag(lake: Lake, statement: CreateTag, _: Arguments) -> DataFrame | None:
    """CREATE TAG and REPLACE TAG, which make a tag that is not there; None when Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    with spark_errors(name.catalog):
        if statement.is_replace and statement.tag in _names(table):
            table.replace_tag(statement.tag, statement.snapshot, statement.time_retained)
        else:
            table.create_tag(
                statement.tag,
                statement.snapshot,
                statement.time_retained,
                ignore_if_exists=statement.if_not_exists,
            )
    return lake.empty()


def delete_tags(lake: Lake, statement: DeleteTags, _: Arguments) -> DataFrame | None:
    """DELETE TAG; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    with spark_errors(name.catalog):
        table.delete_tag(statement.tags)
    return lake.empty()


def rename_tag(lake: Lake, statement: RenameTag, _: Arguments) -> DataFrame | None:
    """RENAME TAG; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    with spark_errors(name.catalog):
        if not statement.if_exists or statement.tag in _names(table):
            table.rename_tag(statement.tag, statement.target)
    return lake.empty()


def show_tags(lake: Lake, statement: ShowTags, _: Arguments) -> DataFrame | None:
    """SHOW TAGS; None when the table is Spark's."""
    name = lake.resolve(statement.name)
    if name is None:
        return None
    table = lake.load(name)
    with spark_errors(name.catalog):
        return lake.frame([(tag,) for tag in _names(table)], _SHOW_TAGS)


def _names(table: Table) -> list[str]:
    return [tag.name for tag in all_tags(table.parts())]


RUNS: dict[type[Statement], Run[Any]] = {
    CreateTag: create_tag,
    DeleteTags: delete_tags,
    RenameTag: rename_tag,
    ShowTags: show_tags,
}
