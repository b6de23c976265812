"""What do the rows of a data file or changelog file say, and are they in order?

    what                     of data files           of changelog files    of the postpone bucket
    rows sorted by key       yes, a key once         yes                   no
    rows of one partition    yes                     yes                   yes
    rows of one bucket       where a hash says it    the same              no

The file is read through the schema that wrote it, a batch of rows at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakebed.errors import CorruptTableError, LakebedError
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.bucket import assign_buckets
from lakebed.format.data_file import FileOrigin, file_shape, stream_file
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND, data_file_fields
from lakebed.format.paths import POSTPONE_BUCKET
from lakebed.format.schema import TableSchema
from lakebed.format.statistics.stored import FULL_STATS_MODE
from lakebed.format.types import DataField
from lakebed.lsm.sort_keys import sort_words
from lakebed.table.checking.findings import Code, Finding
from lakebed.table.checking.reading import FileTruth, ReadingContext
from lakebed.table.writing.file_summary import FileSummary, SummaryPlan
from lakebed.table.writing.routing import PartitionedRows

Mask = npt.NDArray[np.bool_]

# A stream holds a decoded batch, what is made of it, and what the decoder keeps.
_BATCHES_HELD = 8
_BATCH_ROWS_MIN = 1024
_LAST_KIND = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """A file to be read.

    Attributes:
        path: The file.
        size_bytes: Its size.
        row_count: How many rows it is said to have.
        schema_id: The schema that wrote it.
        branch: Whose schema that is.
        partition: Serialized row of its partition.
        bucket: Its bucket.
        total_buckets: How many buckets its partition has.
        is_changelog: Whether it is a changelog file.
        columns: Its columns, where it has only some of the table's.
    """

    path: str
    size_bytes: int
    row_count: int
    schema_id: int
    branch: str
    partition: bytes
    bucket: int
    total_buckets: int
    is_changelog: bool
    columns: tuple[str, ...] | None

    def read(self, context: ReadingContext) -> Sequence[FileTruth | Finding]:
        """What its rows say."""
        schema = context.schemas[self.branch].get(self.schema_id)
        if schema is None:
            problem = f"it was written with schema {self.schema_id}, which cannot be read"
            return [Finding(Code.UNKNOWN_SCHEMA, self.path, problem)]
        try:
            rows = _Rows(self, schema, context)
            rows.read()
        except LakebedError as error:
            corrupt, missing = Code.UNREADABLE_FILE, Code.MISSING_FILE
            return [Finding.of_error(error, self.path, corrupt=corrupt, missing=missing)]
        return [rows.truth(), *rows.findings()]


class _Rows:
    """The rows of a file, read from the first to the last."""

    def __init__(self, file: FileReading, schema: TableSchema, context: ReadingContext) -> None:
        self._file = file
        self._context = context
        chosen = [
            each for each in schema.fields if file.columns is None or each.name in file.columns
        ]
        self._values = tuple(chosen)
        names = {each.name for each in chosen}
        keys = schema.trimmed_primary_keys
        self._schema = schema
        self._keys = keys if names.issuperset(keys) else ()
        self._summary = FileSummary(_full_plan(schema, self._keys, self._values))
        self._order = None if file.bucket == POSTPONE_BUCKET or not keys else _KeyOrder()
        self._nulls: dict[str, int] = {}
        self._elsewhere = 0
        self._misplaced = 0

    def read(self) -> None:
        """Reads all of them.

        Raises:
            LakebedError: The file cannot be read.
        """
        for rows in self._batches():
            if not rows.num_rows:
                continue
            if self._keys:
                self._check_system_columns(rows)
            self._summary.add(rows)
            for each in self._values:
                count = 0 if each.type.nullable else rows[each.name].null_count
                self._nulls[each.name] = self._nulls.get(each.name, 0) + count
            if self._order is not None:
                self._order.add(rows.select(list(self._keys)))
            self._add_places(rows)

    def _batches(self) -> Iterator[pa.Table]:
        file, context = self._file, self._context
        system = (SEQUENCE_NUMBER, VALUE_KIND) if self._keys else ()
        wanted: tuple[DataField, ...] = (*system, *self._values)
        names = [each.name for each in wanted]
        shape = file_shape(context.file_io, file.path, columns=names, row_count=file.row_count)
        row_bytes = shape.uncompressed_bytes // max(shape.row_count, 1) + 1
        return stream_file(
            context.file_io,
            file.path,
            schema=to_arrow_schema(wanted),
            batch_rows=max(context.merge_memory // (_BATCHES_HELD * row_bytes), _BATCH_ROWS_MIN),
            origin=FileOrigin(
                fields=data_file_fields(self._schema),
                options=context.options,
                time_zone=context.time_zone,
            ),
        )

    def _check_system_columns(self, rows: pa.Table) -> None:
        numbers, kinds = rows[SEQUENCE_NUMBER.name], rows[VALUE_KIND.name]
        if numbers.null_count or kinds.null_count:
            raise CorruptTableError(self._file.path, "a row has no sequence number or no kind")
        ends = pc.min_max(kinds)
        if ends["min"].as_py() < 0 or ends["max"].as_py() > _LAST_KIND:
            raise CorruptTableError(self._file.path, f"a row's kind is none from 0 to {_LAST_KIND}")

    def _add_places(self, rows: pa.Table) -> None:
        file, schema = self._file, self._schema
        names = {each.name for each in self._values}
        if names.issuperset(schema.partition_keys):
            placed = PartitionedRows.of(rows, schema)
            is_right = np.array([each == file.partition for each in placed.partitions], np.bool_)
            self._elsewhere += int(np.count_nonzero(~is_right[placed.codes]))
        keys = schema.bucket_keys
        if file.total_buckets < 1 or file.bucket < 0 or not keys or not names.issuperset(keys):
            return
        buckets = assign_buckets(
            [rows[name] for name in keys],
            [schema.field(name).type for name in keys],
            total_buckets=file.total_buckets,
            function=self._context.bucket_function,
        )
        self._misplaced += int(np.count_nonzero(buckets != file.bucket))

    def truth(self) -> FileTruth:
        """What an entry should say."""
        summary = self._summary
        stats, _ = summary.value_stats()
        columns: dict[str, object] = {
            "row_count": summary.row_count,
            "value_min": stats.min_values,
            "value_max": stats.max_values,
            "value_null_counts": stats.null_counts,
            "value_stats_cols": [each.name for each in self._values],
        }
        if self._keys:
            low, high = summary.sequence_range or (None, None)
            columns |= {
                "min_key": summary.min_key,
                "max_key": summary.max_key,
                "min_sequence_number": low,
                "max_sequence_number": high,
                "delete_row_count": summary.delete_row_count,
            }
        return FileTruth(path=self._file.path, columns=columns)

    def findings(self) -> list[Finding]:
        """What is wrong with the rows."""
        found = [
            (Code.NULL_VALUE, count, f"rows have null in column {name!r}, which is NOT NULL")
            for name, count in self._nulls.items()
        ]
        found += [
            (Code.WRONG_PARTITION, self._elsewhere, "rows are of another partition"),
            (Code.WRONG_BUCKET, self._misplaced, "rows belong into another bucket by their hash"),
        ]
        if self._order is not None:
            repeats = 0 if self._file.is_changelog else self._order.repeats
            found += [
                (
                    Code.UNSORTED_KEYS,
                    self._order.descents,
                    "rows have a smaller key than the row before",
                ),
                (Code.DUPLICATE_KEY, repeats, "rows have the key of the row before"),
            ]
        return [
            Finding(code, self._file.path, f"{count} of its {self._summary.row_count} {problem}")
            for code, count, problem in found
            if count
        ]


class _KeyOrder:
    """Counts rows that are not above the row before."""

    def __init__(self) -> None:
        self.descents = 0
        self.repeats = 0
        self._last: pa.Table | None = None

    def add(self, keys: pa.Table) -> None:
        """Takes the keys of the next rows."""
        rows = keys if self._last is None else pa.concat_tables([self._last, keys])
        descends, repeats = _steps(sort_words(rows.combine_chunks().columns))
        self.descents += int(np.count_nonzero(descends))
        self.repeats += int(np.count_nonzero(repeats))
        self._last = rows.slice(rows.num_rows - 1)


def _steps(words: Sequence[npt.NDArray[Any]]) -> tuple[Mask, Mask]:
    """Which rows are below the row before, and which are like it."""
    count = max(len(words[0]) - 1, 0)
    descends, repeats = np.zeros(count, np.bool_), np.ones(count, np.bool_)
    for word in words:
        descends |= repeats & (word[1:] < word[:-1])
        repeats &= word[1:] == word[:-1]
    return descends, repeats


def _full_plan(
    schema: TableSchema, keys: Sequence[str], values: tuple[DataField, ...]
) -> SummaryPlan:
    """Statistics of all that a column has, whatever the format of the file."""
    return SummaryPlan(
        key_fields=tuple(schema.field(name) for name in keys),
        key_modes=(FULL_STATS_MODE,) * len(keys),
        value_fields=values,
        value_modes=(FULL_STATS_MODE,) * len(values),
        is_dense=False,
        file_format="avro",
        indexes=None,
    )
