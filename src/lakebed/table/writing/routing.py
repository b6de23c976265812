"""Which partition and bucket does each row go to?

A `Router` says it, one kind for each bucket mode (format.md 9):

- `FixedBuckets`: by the hash of the bucket key; `OneBucket`: an append table without buckets
- `dynamic_buckets`: a known key where it is, a new one in the first bucket with room
- `cross_partition`: the same, of keys that may move between partitions
- `postpone`: into a bucket that is no bucket yet, or by hash when the size of the batch is known

A router may hold rows back, and may have index files to write when all rows are routed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.typing import encode_dictionary, python_values
from lakebed.format.binary_row.codec import EMPTY_ROW, encode_rows
from lakebed.format.bucket import Buckets, assign_buckets
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import Kinds
from lakebed.options.table_options import TableOptions
from lakebed.table.metadata.entries import check_bucket_count
from lakebed.table.writing.commit_message import CommitMessage

Codes = npt.NDArray[np.int64]

UNAWARE_BUCKET = 0
NOT_FIXED = -1
"""The bucket count that files of dynamic buckets, and of tables without buckets, carry."""

_CODES_MAX = 1 << 62


@dataclass(frozen=True, slots=True)
class RoutedRows:
    """Rows of one bucket, in the order they came.

    Attributes:
        partition: Serialized row of the partition values.
        values: The partition values.
        bucket: The bucket.
        total_buckets: Bucket count that files of the bucket carry.
        rows: The rows.
        kinds: Their kinds; None for all inserts.
    """

    partition: bytes
    values: tuple[object, ...]
    bucket: int
    total_buckets: int
    rows: pa.Table
    kinds: Kinds | None


class Router(Protocol):
    """Sends the rows of one writer to their buckets."""

    def route(self, rows: pa.Table, kinds: Kinds | None) -> Iterator[RoutedRows]:
        """The rows by bucket; the order of rows of one key is kept.

        Raises:
            LakebedError: Rows that no bucket may take; nothing of them was given out.
        """
        ...

    def held_back(self) -> Iterator[RoutedRows]:
        """The rows that `route` did not give out, when all rows have come."""
        ...

    def finish(self) -> list[CommitMessage]:
        """Writes what the table must know of the rows, and says which index files that made."""
        ...

    def close(self) -> None:
        """Lets go of what is held; `finish` may not have been called."""
        ...


@dataclass(frozen=True, slots=True)
class PartitionedRows:
    """In which partition each of some rows is.

    Attributes:
        codes: The partition of each row, as a position in the others.
        partitions: Serialized rows of the partition values, all different.
        values: The partition values.
    """

    codes: Codes
    partitions: list[bytes]
    values: list[tuple[object, ...]]

    @classmethod
    def of(cls, rows: pa.Table, schema: TableSchema) -> "PartitionedRows":
        """From the partition columns."""
        names = schema.partition_keys
        codes = np.zeros(rows.num_rows, np.int64)
        if not names or rows.num_rows == 0:
            return cls(codes, [EMPTY_ROW] if not names else [], [()] if not names else [])
        count = 1
        for name in names:
            column = encode_dictionary(rows.column(name).combine_chunks(), null_encoding="encode")
            size = max(len(column.dictionary), 1)
            if count * size > _CODES_MAX:
                codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
                count = rows.num_rows
            codes = codes * size + column.indices.to_numpy()
            count *= size
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        distinct = rows.select(names).take(first)
        types = [schema.field(name).type for name in names]
        return cls(
            inverse.reshape(-1).astype(np.int64, copy=False),
            python_values(encode_rows(distinct.columns, types)),
            list(zip(*(column.to_pylist() for column in distinct.columns), strict=True)),
        )

    def each(self) -> Iterator[tuple[int, Codes]]:
        """Each partition's code and the positions of its rows, ascending."""
        if len(self.partitions) == 1:
            yield 0, np.arange(len(self.codes))
            return
        order = np.argsort(self.codes, kind="stable")
        cuts = np.flatnonzero(np.diff(self.codes[order])) + 1
        for positions in np.split(order, cuts) if len(order) else []:
            yield int(self.codes[positions[0]]), positions


def by_bucket(
    rows: pa.Table,
    kinds: Kinds | None,
    *,
    places: PartitionedRows,
    buckets: Buckets,
    total_buckets: Sequence[int] | int,
) -> Iterator[RoutedRows]:
    """Rows whose buckets are known, bucket by bucket.

    Args:
        rows: The rows.
        kinds: Their kinds; None for all inserts.
        places: Their partitions.
        buckets: Their buckets.
        total_buckets: Bucket count of every partition, or of each by its code.
    """
    if rows.num_rows == 0:
        return
    codes = places.codes
    order: Codes | None = None
    starts = [0, rows.num_rows]
    if (codes != codes[0]).any() or (buckets != buckets[0]).any():
        order = np.lexsort((buckets, codes))
        codes, buckets = codes[order], buckets[order]
        changes = (np.diff(codes) != 0) | (np.diff(buckets) != 0)
        starts = [0, *(np.flatnonzero(changes) + 1).tolist(), rows.num_rows]
        rows = rows.combine_chunks().take(order)
        kinds = kinds[order] if kinds is not None else None
    for start, stop in pairwise(starts):
        code = int(codes[start])
        total = total_buckets if isinstance(total_buckets, int) else total_buckets[code]
        yield RoutedRows(
            places.partitions[code],
            places.values[code],
            int(buckets[start]),
            total,
            rows.slice(start, stop - start),
            kinds[start:stop] if kinds is not None else None,
        )


def hashed_buckets(
    rows: pa.Table, schema: TableSchema, options: TableOptions, *, total_buckets: int
) -> Buckets:
    """The bucket of each row by `bucket-key` and `bucket-function.type`."""
    names = schema.bucket_keys
    return assign_buckets(
        [rows.column(name) for name in names],
        [schema.field(name).type for name in names],
        total_buckets=total_buckets,
        function=options.bucket_function_type.value,
    )


class HoldsNothing:
    """A router that gives every row out at once and keeps no index."""

    __slots__ = ()

    def held_back(self) -> Iterator[RoutedRows]:
        """Nothing."""
        return iter(())

    def finish(self) -> list[CommitMessage]:
        """There is no index."""
        return []

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedBuckets(HoldsNothing):
    """Buckets by the hash of the bucket key.

    Attributes:
        table_schema: The schema that is written.
        options: The table's options.
        counts: Bucket counts of partitions that rows are added to.
        base: Id of the snapshot that has these counts.
    """

    table_schema: TableSchema
    options: TableOptions
    counts: Mapping[bytes, int]
    base: int

    def route(self, rows: pa.Table, kinds: Kinds | None) -> Iterator[RoutedRows]:
        """The rows by bucket.

        Raises:
            CommitConflictError: A partition has another number of buckets.
        """
        total = self.options.bucket
        places = PartitionedRows.of(rows, self.table_schema)
        for partition in places.partitions:
            check_bucket_count(total, self.counts.get(partition, total), base=self.base)
        buckets = hashed_buckets(rows, self.table_schema, self.options, total_buckets=total)
        yield from by_bucket(rows, kinds, places=places, buckets=buckets, total_buckets=total)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBucket(HoldsNothing):
    """All rows of a partition lie together, as in append tables without buckets.

    Attributes:
        table_schema: The schema that is written.
        bucket: The one bucket.
        total_buckets: The bucket count that its files carry.
    """

    table_schema: TableSchema
    bucket: int = UNAWARE_BUCKET
    total_buckets: int = NOT_FIXED

    def route(self, rows: pa.Table, kinds: Kinds | None) -> Iterator[RoutedRows]:
        """The rows by partition."""
        yield from by_bucket(
            rows,
            kinds,
            places=PartitionedRows.of(rows, self.table_schema),
            buckets=np.full(rows.num_rows, self.bucket, np.int32),
            total_buckets=self.total_buckets,
        )
