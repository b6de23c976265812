"""What does a star of a MERGE give to the columns of the table?

Each column of the table gets the source's of the same name. Where the schema is merged, the source
may lack some: a row that is there keeps them, a new one gets their defaults.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import types as spark_types

from lakebed.spark.conditions import unknown_column
from lakebed.spark.names import quoted
from lakebed.spark.nested_names import lacks_fields
from lakebed.spark.sql.statements import Name
from lakebed.spark.types import to_spark_type
from lakebed.table.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Stars:
    """What stars mean in one MERGE.

    Attributes:
        table: The table, with the columns that it has got.
        source: The columns of the source.
        aliases: Of the table and of the source.
        fills: Whether the source may lack columns.
    """

    table: Table
    source: spark_types.StructType
    aliases: tuple[str, str]
    fills: bool

    def updated(self) -> dict[str, str]:
        """The texts of columns of rows that are there.

        Raises:
            AnalysisException: A column that the source lacks and may not.
        """
        own = self._own()
        there, given = self.aliases
        values = {}
        for field in self.table.schema.fields:
            found = self._found(field.name, own)
            if found is not None:
                wanted = to_spark_type(field.type, column=field.name)
                values[field.name] = _filled(
                    (found.dataType, wanted), (given, found.name), (there, field.name)
                )
        return values

    def inserted(self) -> dict[str, str]:
        """The texts of columns of rows that are new; errors as of `updated`."""
        own = self._own()
        found = {name: self._found(name, own) for name in self.table.schema.names}
        return {
            name: quoted((self.aliases[1], field.name))
            for name, field in found.items()
            if field is not None
        }

    def _own(self) -> dict[str, spark_types.StructField]:
        return {field.name.lower(): field for field in self.source.fields}

    def _found(
        self, name: str, own: Mapping[str, spark_types.StructField]
    ) -> spark_types.StructField | None:
        found = own.get(name.lower())
        if found is None and not self.fills:
            raise unknown_column(name, self.source.names)
        return found


def _filled(
    types: tuple[spark_types.DataType, spark_types.DataType], given: Name, there: Name
) -> str:
    """A value of the source, with the fields that it lacks as they are in the table's row."""
    kind, wanted = types
    is_struct = isinstance(kind, spark_types.StructType)
    if not (is_struct and lacks_fields(kind, wanted)):
        return quoted(given)
    assert isinstance(kind, spark_types.StructType)
    assert isinstance(wanted, spark_types.StructType)
    own = {field.name.lower(): field for field in kind.fields}
    members = []
    for field in wanted.fields:
        found = own.get(field.name.lower())
        text = quoted((*there, field.name))
        if found is not None:
            inner = (found.dataType, field.dataType)
            text = _filled(inner, (*given, found.name), (*there, field.name))
        members.append(f"{text} AS {quoted((field.name,))}")
    return f"CASE WHEN {quoted(given)} IS NOT NULL THEN struct({', '.join(members)}) END"
