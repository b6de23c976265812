"""How does Structured Streaming read a table?

A Python Data Source: Spark asks it, in a process of its own on the driver, how far a micro-batch
goes and which parts it has; tasks read the parts. Offsets are positions in the table
(`table.streaming.position`), whose form is that of Paimon's own connector.

A part holds all that the micro-batch reads of some buckets, in the order of the commits, so the
changes of one key stay in their order as far as Spark keeps rows in order at all.
"""

import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from lakebed.spark.types import to_arrow_schema
from lakebed.spark.worker import ReadSplits
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.planning.split import Split
from lakebed.table.reading.scan_plan import RowReader
from lakebed.table.streaming.position import Position
from lakebed.table.streaming.steps import Following, Step, steps_between
from lakebed.table.table import Table

# A task costs about as much as reading this much.
_PART_BYTES = 8 << 20
_PARTS_MAX = 256
_BEGAN = "began"

Offset = dict[str, object]
Read = tuple[RowReader, Split]


@dataclass
class StreamPart(InputPartition):
    """What one task reads.

    Attributes:
        reads: Pickled readers, each with its splits.
    """

    reads: tuple[tuple[bytes, bytes], ...]


class TableStreamReader(DataSourceStreamReader):
    """Reads a table as a stream; how far a micro-batch goes, the version of Spark says."""

    def __init__(self, table: Table, schema: StructType, options: Mapping[str, str]) -> None:
        """Looks at nothing yet.

        Args:
            table: The table, its `$audit_log` or `$binlog`.
            schema: The columns that are read.
            options: The stream's.

        Raises:
            InvalidArgumentError: A bad option.
            UnsupportedError: The table cannot be read as a stream.
        """
        self._schema = to_arrow_schema(schema)
        columns = [field.name for field in schema.fields]
        self.following: Following = table.following(columns, options=options, with_kinds=False)
        self._by_bucket = bool(self.following.parts.schema.primary_keys)

    def initialOffset(self) -> Offset:
        """Where a new query begins, and where one that died in its first micro-batch would now."""
        return self.following.beginning.find().to_json()

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """What the micro-batch between two offsets reads.

        Spark keeps the ends of micro-batches alone. For the first one run again it asks anew where
        a query begins, which may be beyond its end by then; so ends tell where theirs began.
        """
        if _BEGAN not in start:
            start = cast("Offset", end.get(_BEGAN, start))
        steps = steps_between(self.following, Position.from_json(start), Position.from_json(end))
        groups = _by_bucket(steps) if self._by_bucket else _each(steps)
        readers = {id(step.reader): pickle.dumps(step.reader) for step in steps}
        return [_part(group, readers) for group in _packed(groups)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of one part."""
        if not isinstance(partition, StreamPart):
            # Spark makes a partition of its own where a micro-batch has none.
            return
        for reader, splits in partition.reads:
            yield from ReadSplits(reader, (splits,), self._schema).read_all()

    @staticmethod
    def _end(end: Position, start: Offset) -> Offset:
        """The offset of a position, with where the query began whose last offset is given."""
        return {**end.to_json(), _BEGAN: start.get(_BEGAN, start)}

    def commit(self, end: Offset) -> None:
        """Keeps the position of the consumer, which a restart without a checkpoint goes on from.

        It moves past a snapshot when all of that was read; of a first snapshot that is read whole a
        part is no position that changes could go on from.
        """
        consumer_id, position = self.following.options.consumer_id, Position.from_json(end)
        if consumer_id is None or (position.is_full and not position.is_done):
            return
        parts = self.following.parts
        Consumers(parts.file_io, parts.paths).record(consumer_id, position.next_id)

    def __getstate__(self) -> dict[str, object]:
        """What a task needs: the types of the rows."""
        return {"_schema": self._schema}


def _each(steps: Sequence[Step]) -> list[list[Read]]:
    """Every split by itself: no row replaces another."""
    return [[(step.reader, split)] for step in steps for split in step.splits]


def _by_bucket(steps: Sequence[Step]) -> list[list[Read]]:
    """The splits of each bucket, in the order of the commits."""
    groups: dict[tuple[str, int], list[Read]] = {}
    for step in steps:
        for split in step.splits:
            place = (repr(split.partition), split.bucket)
            groups.setdefault(place, []).append((step.reader, split))
    return list(groups.values())


def _packed(groups: Sequence[list[Read]]) -> list[list[Read]]:
    """Groups together, so that a task is worth its cost; each as a whole, and in its order."""
    sizes = [sum(split.size_bytes for _, split in group) for group in groups]
    wanted = min(len(groups), _PARTS_MAX, max(-(-sum(sizes) // _PART_BYTES), 1))
    if sum(sizes) > _PART_BYTES:
        wanted = max(wanted, min(len(groups), os.cpu_count() or 1))
    packed: list[list[Read]] = [[] for _ in range(wanted)]
    weights = [0] * wanted
    for size, group in sorted(zip(sizes, groups, strict=True), key=lambda each: -each[0]):
        lightest = weights.index(min(weights))
        packed[lightest] += group
        weights[lightest] += size
    return packed


def _part(reads: Sequence[Read], readers: Mapping[int, bytes]) -> StreamPart:
    """Splits of one reader that follow each other travel together."""
    runs: list[tuple[RowReader, list[Split]]] = []
    for reader, split in reads:
        if runs and runs[-1][0] is reader:
            runs[-1][1].append(split)
        else:
            runs.append((reader, [split]))
    return StreamPart(tuple((readers[id(reader)], pickle.dumps(splits)) for reader, splits in runs))
