"""Does a bucket hold each key once, when all is merged, and is each key in its hash index?

In most tables a key is once in the table because it is once in a file, files of one level do not
overlap, and levels are merged. Where a table promises reads without a merge (deletion vectors,
first-row), a key may have one row that is not marked on all levels above 0 together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lakebed.errors import CorruptTableError, LakebedError, NotFoundError
from lakebed.format.binary_row.codec import encode_rows
from lakebed.format.bucket import hash_rows
from lakebed.format.hash_index import Hashes, decode_hashes
from lakebed.format.key_value import SEQUENCE_NUMBER
from lakebed.format.schema import TableSchema
from lakebed.lsm.section_plan import RowOrder, SectionFile, SectionPlan
from lakebed.lsm.windows import GroupedRows, grouped_rows
from lakebed.table.checking.findings import Code, Finding
from lakebed.table.checking.reading import ReadingContext
from lakebed.table.planning.split import SplitSection
from lakebed.table.reading.read import SplitReader

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketReading:
    """A bucket of one state of a table with a primary key, to be merged.

    Attributes:
        branch: Whose schemas its files have.
        directory: Where it lies.
        named_by: What names its files.
        sections: Its files.
        has_newest_apart: Whether rows above level 0 are read without a merge.
        hash_index: Its hash index, where it must have one.
    """

    branch: str
    directory: str
    named_by: str
    sections: tuple[SplitSection, ...]
    has_newest_apart: bool
    hash_index: str | None

    @property
    def size_bytes(self) -> int:
        """What is read, about."""
        return sum(file.size_bytes for each in self.sections for file in each.files)

    def read(self, context: ReadingContext) -> Sequence[Finding]:
        """What is wrong with it."""
        reader = SplitReader(
            file_io=context.file_io,
            table_schema=context.table_schema,
            file_schemas=context.schemas[self.branch],
            options=context.options,
            columns=(),
            predicate=None,
            merge_memory=context.merge_memory,
            time_zone=context.time_zone,
        )
        try:
            found = [self._of_section(each, reader) for each in self.sections]
            unindexed = 0 if self.hash_index is None else self._unindexed(reader, self.hash_index)
        except (CorruptTableError, NotFoundError):
            return []  # whoever reads that file alone tells
        except LakebedError as error:
            corrupt, missing = Code.UNREADABLE_FILE, Code.MISSING_FILE
            return [Finding.of_error(error, self.directory, corrupt=corrupt, missing=missing)]
        twice, alike = (sum(counts) for counts in zip((0, 0), *found, strict=True))
        told = (
            (Code.TWO_LIVE_ROWS, twice, "keys have more than one live row above level 0"),
            (
                Code.EQUAL_SEQUENCE,
                alike,
                "rows have the sequence number of another row of their key",
            ),
            (
                Code.HASH_INDEX,
                unindexed,
                f"rows have keys that its hash index {self.hash_index} lacks",
            ),
        )
        return [
            Finding(code, self.directory, f"{count} {problem} ({self.named_by})")
            for code, count, problem in told
            if count
        ]

    def _of_section(self, section: SplitSection, reader: SplitReader) -> tuple[int, int]:
        """Keys with more than one live row, and rows with a number of another one of their key."""
        if len(section.runs) < 2:
            return 0, 0
        schema = reader.table_schema
        order = RowOrder(key_names=schema.trimmed_primary_keys)
        files = reader.section_files(section)
        plan = SectionPlan.of(files, order=order, values=(SEQUENCE_NUMBER.name,))
        if not plan.by_sequence and not self.has_newest_apart:
            return 0, 0
        twice = alike = 0
        for rows in grouped_rows(plan, budget_bytes=reader.merge_memory, with_levels=True):
            twice += _twice_above(rows) if self.has_newest_apart else 0
            alike += _alike(rows)
        return twice, alike

    def _unindexed(self, reader: SplitReader, path: str) -> int:
        """How many rows have keys that the hash index lacks."""
        indexed = decode_hashes(reader.file_io.read(path), path)
        return sum(
            int(np.count_nonzero(~np.isin(hashes, indexed)))
            for section in self.sections
            for file in reader.section_files(section)
            for hashes in _hashes(file, reader.table_schema)
        )


def _twice_above(rows: GroupedRows) -> int:
    """Keys that have more than one row above level 0."""
    groups = rows.groups
    if rows.levels is None or not len(groups.last):
        return 0
    above = rows.levels[groups.order] > 0
    counts = np.add.reduceat(above.astype(np.int64), groups.firsts)
    return int(np.count_nonzero(counts > 1))


def _alike(rows: GroupedRows) -> int:
    """Rows that have the sequence number of the row before of their key."""
    groups = rows.groups
    table = rows.columns.rows_at([SEQUENCE_NUMBER.name], groups.order)
    numbers = table[SEQUENCE_NUMBER.name].to_numpy()
    equal = numbers[1:] == numbers[:-1]
    equal[groups.last[:-1]] = False
    return int(np.count_nonzero(equal))


def _hashes(file: SectionFile, schema: TableSchema) -> Iterator[Hashes]:
    """The hashes of the keys of a file."""
    fields = [schema.field(name) for name in schema.trimmed_primary_keys]
    names = [each.name for each in fields]
    for rows in file.stream_columns(names, batch_rows=_BATCH_ROWS):
        columns = [rows[each.name] for each in fields]
        yield hash_rows(encode_rows(columns, [each.type for each in fields], with_arity=False))


@dataclass(frozen=True, slots=True, kw_only=True)
class HashIndexReading:
    """The hash indexes of a partition in one state, to be compared.

    Attributes:
        directory: Where the partition lies.
        named_by: What names the index files.
        paths: The index files.
        size_bytes: Their size.
    """

    directory: str
    named_by: str
    paths: tuple[str, ...]
    size_bytes: int

    def read(self, context: ReadingContext) -> Sequence[Finding]:
        """What is wrong with them."""
        hashes: list[Hashes] = []
        for path in self.paths:
            try:
                hashes.append(decode_hashes(context.file_io.read(path), path))
            except LakebedError as error:
                corrupt, missing = Code.HASH_INDEX, Code.MISSING_FILE
                return [Finding.of_error(error, path, corrupt=corrupt, missing=missing)]
        every = np.concatenate(hashes)
        repeated = len(every) - len(np.unique(every))
        if not repeated:
            return []
        problem = f"its hash indexes have {repeated} hashes twice ({self.named_by})"
        return [Finding(Code.HASH_INDEX, self.directory, problem)]
