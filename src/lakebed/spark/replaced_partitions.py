"""Which partitions does an overwrite by a condition replace: `writeTo(t).overwrite(condition)`?

Those for whose values Spark says that it is true, of the partitions that are there when the
overwrite is committed. A row whose own partition is none of them is an error.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType

from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.types import DataField
from lakebed.spark.conditions import unsupported_operation
from lakebed.spark.lake import Lake
from lakebed.spark.names import TableName
from lakebed.spark.types import to_arrow_schema, to_spark_schema
from lakebed.table.metadata.partitions import partition_table
from lakebed.table.table import Table

_NUMBER = "__lakebed_number"

Choice = Callable[[DataFrame], DataFrame]
"""The rows of a frame for which a condition is true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedPartitions:
    """Keeps the partitions for which Spark says that a condition is true.

    Attributes:
        lake: The session.
        name: The table, whose name may stand before its columns.
        fields: Its partition columns, in order.
        choose: The condition.
        text: It as it is shown in errors.
    """

    lake: Lake
    name: TableName
    fields: tuple[DataField, ...]
    choose: Choice
    text: str

    @classmethod
    def of(  # noqa: PLR0917 - which table, and which of its partitions
        cls, lake: Lake, name: TableName, table: Table, choose: Choice, *, text: str
    ) -> "ReplacedPartitions":
        """The partitions of a table that a condition means.

        Args:
            lake: The session.
            name: The table's name.
            table: The table.
            choose: The condition.
            text: It as it is shown in errors.

        Raises:
            AnalysisException: It is no condition, or one on columns that the table is not
                partitioned by.
        """
        fields = table.schema.partition_type.fields
        found = cls(lake=lake, name=name, fields=fields, choose=choose, text=text)
        try:
            # Spark Connect looks at a frame when it is asked for its columns.
            assert choose(found._frame(pa.array([], pa.binary()))).columns
        except AnalysisException:
            rows = lake.read(table).alias(name.table)
            assert choose(rows).columns
            keys = ", ".join(table.partition_keys) or "none"
            raise unsupported_operation(
                "overwrite by a condition on other columns than those it is partitioned by"
                f" ({keys}); delete the rows that it means and append the new ones",
                str(name),
            ) from None
        return found

    def keep(self, partitions: ArrowArray) -> npt.NDArray[np.bool_]:
        """True where Spark says that the condition is."""
        mask = np.zeros(len(partitions), np.bool_)
        if len(partitions):
            numbers = self.choose(self._frame(partitions)).select(_NUMBER).toArrow().column(_NUMBER)
            mask[numbers.to_numpy()] = True
        return mask

    def __str__(self) -> str:
        """The condition."""
        return self.text

    def _frame(self, partitions: ArrowArray) -> DataFrame:
        """The values of partitions, and their numbers: without columns they are no less."""
        schema = to_spark_schema(self.fields).add(_NUMBER, LongType(), nullable=False)
        columns = partition_table(partitions, self.fields).columns
        numbers = pa.array(range(len(partitions)), pa.int64())
        arrow = pa.table([*columns, numbers], names=schema.names).cast(to_arrow_schema(schema))
        frame = self.lake.spark.createDataFrame(arrow, schema)
        return frame.alias(self.name.table)
