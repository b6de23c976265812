"""Which partition and bucket each row goes to."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.format.arrow.typing import encode_dictionary, python_values
from lakebed.format.binary_row.codec import EMPTY_ROW, encode_rows
from lakebed.format.bucket import assign_buckets
from lakebed.format.schema import TableSchema
from lakebed.options.table_options import TableOptions

Kinds = npt.NDArray[np.int8]

UNAWARE_BUCKET = 0


@dataclass(frozen=True, slots=True)
class RoutedRows:
    """Rows of one bucket, in the order they came.

    Attributes:
        partition: Serialized row of the partition values.
        values: The partition values.
        bucket: The bucket.
        rows: The rows.
        kinds: Their kinds; None for all inserts.
    """

    partition: bytes
    values: tuple[object, ...]
    bucket: int
    rows: pa.Table
    kinds: Kinds | None


@dataclass(frozen=True, slots=True)
class Router:
    """Sends rows of one table to their buckets.

    Attributes:
        table_schema: The schema that is written.
        options: The table's options.
    """

    table_schema: TableSchema
    options: TableOptions

    def route(self, rows: pa.Table, kinds: Kinds | None) -> Iterator[RoutedRows]:
        """The rows by bucket; the order of rows of one bucket is kept."""
        if rows.num_rows == 0:
            return
        codes, partitions, values = self._partitions(rows)
        buckets = self._buckets(rows)
        if len(partitions) == 1 and (buckets == buckets[0]).all():
            yield RoutedRows(partitions[0], values[0], int(buckets[0]), rows, kinds)
            return
        order = np.lexsort((buckets, codes))
        sorted_codes, sorted_buckets = codes[order], buckets[order]
        changes = (np.diff(sorted_codes) != 0) | (np.diff(sorted_buckets) != 0)
        starts = [0, *(np.flatnonzero(changes) + 1).tolist(), len(order)]
        taken = rows.combine_chunks().take(order)
        taken_kinds = kinds[order] if kinds is not None else None
        for start, stop in pairwise(starts):
            code = sorted_codes[start]
            yield RoutedRows(
                partitions[code],
                values[code],
                int(sorted_buckets[start]),
                taken.slice(start, stop - start),
                taken_kinds[start:stop] if taken_kinds is not None else None,
            )

    def _buckets(self, rows: pa.Table) -> npt.NDArray[np.int32]:
        if self.options.bucket <= 0:
            return np.full(rows.num_rows, UNAWARE_BUCKET, np.int32)
        names = self.table_schema.bucket_keys
        return assign_buckets(
            [rows.column(name) for name in names],
            [self.table_schema.field(name).type for name in names],
            total_buckets=self.options.bucket,
            function=self.options.bucket_function_type.value,
        )

    def _partitions(
        self, rows: pa.Table
    ) -> tuple[npt.NDArray[np.int64], list[bytes], list[tuple[object, ...]]]:
        """A code for each row, and serialized row and values for each code."""
        names = self.table_schema.partition_keys
        if not names:
            return np.zeros(rows.num_rows, np.int64), [EMPTY_ROW], [()]
        codes = np.zeros(rows.num_rows, np.int64)
        for name in names:
            column = encode_dictionary(rows.column(name).combine_chunks(), null_encoding="encode")
            codes = codes * max(len(column.dictionary), 1) + column.indices.to_numpy()
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        distinct = rows.select(names).take(first)
        types = [self.table_schema.field(name).type for name in names]
        partitions = python_values(encode_rows(distinct.columns, types))
        values = list(zip(*(column.to_pylist() for column in distinct.columns), strict=True))
        return inverse.astype(np.int64, copy=False), partitions, values
