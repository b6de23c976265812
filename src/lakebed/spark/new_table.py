"""What is a table to be that a statement or a writer of Spark makes?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql.types import StructType

from lakebed.format.schema_definition import Schema
from lakebed.spark.conditions import unknown_column
from lakebed.spark.types import to_table_schema

_PRIMARY_KEY = "primary-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable:
    """The definition of a table in words of Spark.

    Attributes:
        schema: The columns.
        partition_by: Partition columns.
        properties: Options, with the keys and the comment among them as in SQL.
        comment: The comment, where no property says it.
        defaults: Texts of defaults by column.
    """

    schema: StructType
    partition_by: Sequence[str] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        """What a catalog's `create_table` and `replacement` are given.

        Raises:
            AnalysisException: UNRESOLVED_COLUMN of a key or partition column.
            UnsupportedError: A type that no table has.
        """
        options = dict(self.properties)
        keys = [key.strip() for key in options.pop(_PRIMARY_KEY, "").split(",") if key.strip()]
        comment = options.pop("comment", self.comment)
        options.pop("provider", None)
        return {
            "schema": self._columns(),
            "primary_key": [self._own_name(key) for key in keys],
            "partition_by": [self._own_name(key) for key in self.partition_by],
            "options": options,
            "comment": comment,
        }

    def _columns(self) -> Schema:
        fields = to_table_schema(self.schema).fields
        return Schema(
            fields=tuple(
                replace(each, default_value=self.defaults.get(each.name)) for each in fields
            )
        )

    def _own_name(self, name: str) -> str:
        """The column's name as the schema spells it."""
        names = {each.name.lower(): each.name for each in self.schema.fields}
        if name.lower() not in names:
            raise unknown_column(name, self.schema.names)
        return names[name.lower()]
