"""What is `format("paimon")` where no catalog is attached?

A Python Data Source: it reads any table and writes tables without buckets. Spark tells it neither
which columns a query needs nor how rows should be brought together; that is what `attach` is for.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from lakebed.errors import InvalidArgumentError
from lakebed.spark.changelog_option import shown_by
from lakebed.spark.places import Place, scan_options
from lakebed.spark.plain_writer import PaimonStreamWriter, PaimonWriter
from lakebed.spark.reader import grouped
from lakebed.spark.stream_tables import FOLLOWED, followed_table, is_of_stream, stream_reader
from lakebed.spark.types import to_arrow_schema, to_spark_schema
from lakebed.spark.worker import ReadSplits, to_schema
from lakebed.table.reading.scan import Scan
from lakebed.table.system.metadata_scan import MetadataScan
from lakebed.table.table import Table

_GROUPS_MAX = 64


class PaimonDataSource(DataSource):
    """A table by its path."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "paimon"

    def schema(self) -> StructType:
        """The columns that the table had at the point that is read; of a stream those of today."""
        table, options = self._read_table()
        if any(is_of_stream(key) for key in options) or FOLLOWED in self.options:
            return to_spark_schema(table.schema.fields)
        return to_spark_schema(table.scan(options=options).table_schema.fields)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Reads the columns of a schema, which may be fewer than the table's."""
        table, options = self._read_table()
        return PaimonReader(table, schema, options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Reads the columns of a schema as they change."""
        table, options = self._read_table()
        return stream_reader(table, schema, options)

    def streamWriter(
        self,
        schema: StructType,  # noqa: ARG002 - as below
        overwrite: bool,  # noqa: FBT001
    ) -> "PaimonStreamWriter":
        """Writes micro-batches, each once; `overwrite` is the output mode complete."""
        checkpoint = self.options.get("checkpointLocation")
        return PaimonStreamWriter(
            PaimonWriter(self._table(), is_overwrite=overwrite),
            checkpoint=checkpoint,
            store_options=self._place().store_options,
        )

    def writer(self, schema: StructType, overwrite: bool) -> "PaimonWriter":  # noqa: ARG002, FBT001 - Spark's signature
        """Appends to the table or replaces its rows."""
        return PaimonWriter(self._table(), is_overwrite=overwrite)

    def _read_table(self) -> tuple[Table, dict[str, str]]:
        """What is read, and how."""
        if FOLLOWED in self.options:
            return followed_table(self.options)
        place = self._place()
        return shown_by(place.load(), scan_options(place.table_options))

    def _place(self) -> Place:
        options = {key: value for key, value in self.options.items() if key != "path"}
        path = self.options.get("path")
        if path is None:
            raise InvalidArgumentError("the format paimon needs the path of a table: load(path)")
        return Place(path, options)

    def _table(self) -> Table:
        return self._place().load()


@dataclass
class SplitGroup(InputPartition):
    """What one task reads.

    Attributes:
        reader: The reader of the scan, pickled.
        splits: The splits, pickled.
    """

    reader: bytes
    splits: bytes


@dataclass
class Metadata(InputPartition):
    """What the one task reads that reads a table of metadata.

    Attributes:
        scan: The scan, pickled.
    """

    scan: bytes


@dataclass
class PaimonReader(DataSourceReader):
    """Reads a table at the snapshot that is there when the query is planned."""

    table: Table
    columns: StructType
    options: dict[str, str]

    def partitions(self) -> Sequence[InputPartition]:
        """One for each task."""
        names = [field.name for field in self.columns.fields]
        scan: Scan | MetadataScan = self.table.scan(names, options=self.options)
        if isinstance(scan, MetadataScan):
            return [Metadata(pickle.dumps(scan))]
        plan = scan.plan()
        reader = pickle.dumps(plan.reader)
        count = min(len(plan.splits), _GROUPS_MAX)
        return [
            SplitGroup(reader, pickle.dumps(group))
            for group in grouped(plan.splits, count=count)
            if group
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one task."""
        schema = to_arrow_schema(self.columns)
        if isinstance(partition, Metadata):
            scan = cast("MetadataScan", pickle.loads(partition.scan))
            for batch in scan.to_batches():
                yield to_schema(batch, schema)
        if not isinstance(partition, SplitGroup):
            # Spark makes a partition of its own where a table has no splits.
            return
        yield from ReadSplits(partition.reader, (partition.splits,), schema).read_all()
