"""Rows of a table that decides late how many buckets a partition has (`bucket` = -2).

- A batch (`postpone.batch-write-fixed-bucket`, the default) goes to real buckets at once. A
  partition that has some keeps their number; a new one gets `postpone.default-bucket-num`, or where
  that is not given, as many as its rows need: they wait on the local disk until all have come.
- Else rows go to `bucket-postpone` as they are, unseen by readers until a compaction gives them a
  bucket. Their files have names by which that compaction knows which of them one writer wrote.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from lakebed.errors import InvalidTableError
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import Kinds
from lakebed.options.choices import ChangelogProducer
from lakebed.options.table_options import TableOptions
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.routing import PartitionedRows, RoutedRows, by_bucket, hashed_buckets
from lakebed.table.writing.row_stage import RowStage

_ADVICE = "set 'postpone.default-bucket-num'"
_STAGED_FORMAT = "avro"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostponedSize:
    """How many buckets a new partition gets.

    Attributes:
        fixed: This many, whatever its rows; None to measure them.
        target_rows: Rows of a bucket; None to go by bytes.
        target_bytes: Bytes of a bucket.
        most: The most buckets that are inferred.
    """

    fixed: int | None
    target_rows: int | None
    target_bytes: int
    most: int

    @classmethod
    def of(cls, options: TableOptions) -> "PostponedSize":
        """What the options of a table say.

        Raises:
            InvalidTableError: An option out of its range.
        """
        most = options.postpone_batch_write_fixed_bucket_max_parallelism
        for key, number in (
            ("postpone.default-bucket-num", options.postpone_default_bucket_num),
            ("postpone.target-row-num-per-bucket", options.postpone_target_row_num_per_bucket),
            ("postpone.target-size-per-bucket", options.postpone_target_size_per_bucket),
            ("postpone.batch-write-fixed-bucket.max-parallelism", most),
        ):
            if number is not None and number < 1:
                raise InvalidTableError(f"option {key!r} is {number}; give it at least 1")
        return cls(
            fixed=options.postpone_default_bucket_num,
            target_rows=options.postpone_target_row_num_per_bucket,
            target_bytes=options.postpone_target_size_per_bucket,
            most=most,
        )

    def buckets(self, *, row_count: int, size_bytes: int) -> int:
        """A power of two that gives each bucket its target at most, or `most`."""
        if self.fixed is not None:
            return self.fixed
        if self.target_rows is not None:
            needed = -(-row_count // self.target_rows)
        else:
            needed = -(-size_bytes // self.target_bytes)
        return min(1 << (max(needed, 1) - 1).bit_length(), self.most)


@dataclass(slots=True, kw_only=True)
class MeasuredBuckets:
    """Sends a batch to real buckets, whose number is known at the end for new partitions.

    Attributes:
        table_schema: The schema that is written.
        options: The table's options.
        counts: Bucket counts of partitions that rows are added to.
        size: How many buckets a new partition gets.
    """

    table_schema: TableSchema
    options: TableOptions
    counts: Mapping[bytes, int]
    size: PostponedSize
    _stage: RowStage = field(default_factory=lambda: RowStage(advice=_ADVICE), init=False)
    _values: dict[bytes, tuple[object, ...]] = field(default_factory=dict, init=False)

    def route(self, rows: pa.Table, kinds: Kinds | None) -> Iterator[RoutedRows]:
        """The rows of partitions whose number of buckets is known.

        Raises:
            StorageError: The others cannot be put aside.
        """
        places = PartitionedRows.of(rows, self.table_schema)
        for code, positions in places.each():
            partition, values = places.partitions[code], places.values[code]
            count = self.counts.get(partition) or self.size.fixed
            is_whole = len(positions) == rows.num_rows
            mine = rows if is_whole else rows.combine_chunks().take(positions)
            told = kinds if kinds is None or is_whole else kinds[positions]
            if count is None:
                self._values[partition] = values
                self._stage.add(partition, mine, told)
            else:
                yield from self._in_buckets(mine, told, place=(partition, values), count=count)

    def held_back(self) -> Iterator[RoutedRows]:
        """The rows of new partitions."""
        for partition in self._stage.partitions:
            count = self.size.buckets(
                row_count=self._stage.row_count(partition),
                size_bytes=self._stage.size_bytes(partition),
            )
            place = (partition, self._values[partition])
            for rows, kinds in self._stage.read(partition):
                yield from self._in_buckets(rows, kinds, place=place, count=count)

    def finish(self) -> list[CommitMessage]:
        """There is no index."""
        return []

    def close(self) -> None:
        """Deletes the rows on the local disk."""
        self._stage.close()

    def _in_buckets(
        self,
        rows: pa.Table,
        kinds: Kinds | None,
        *,
        place: tuple[bytes, tuple[object, ...]],
        count: int,
    ) -> Iterator[RoutedRows]:
        zeros = np.zeros(rows.num_rows, np.int64)
        yield from by_bucket(
            rows,
            kinds,
            places=PartitionedRows(zeros, [place[0]], [place[1]]),
            buckets=hashed_buckets(rows, self.table_schema, self.options, total_buckets=count),
            total_buckets=count,
        )


def postponed_options(options: TableOptions, *, writer_uuid: str) -> TableOptions:
    """The options of a table for files in `bucket-postpone` (format.md 11).

    They are short-lived: of a format that is written row by row, without a changelog, and named by
    user and writer. `file_layout` leaves out their statistics.

    Args:
        options: Of the table.
        writer_uuid: A fresh uuid of the writer.
    """
    writer_id = int(writer_uuid.replace("-", "")[:7], 16)
    return replace(
        options,
        file_format=_STAGED_FORMAT,
        formats=replace(options.formats, format_per_level={}),
        changelog_producer=ChangelogProducer.NONE,
        data_file_prefix=f"{options.data_file_prefix}-u-{writer_uuid}-s-{writer_id}-w-",
    )
