"""How rows of any buckets are written in one process, and committed once."""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self

import pyarrow as pa

from lakebed.errors import InvalidDataError
from lakebed.format.arrow.typing import repeated, scalar_of
from lakebed.format.schema import TableSchema
from lakebed.lsm.merge import Kinds
from lakebed.table.writing.align import align, arrow_batches
from lakebed.table.writing.bucket_writer import BucketWriter, BucketWrites
from lakebed.table.writing.commit_message import CommitMessage
from lakebed.table.writing.routing import RoutedRows, Router
from lakebed.table.writing.row_kinds import ROW_KIND


@dataclass(slots=True, kw_only=True)
class RowsWriter:
    """Takes rows of any bucket and flushes the fullest writers when they hold too much.

    Attributes:
        writes: Opens bucket writers.
        router: Knows each row's bucket.
        directory_of: The directory of a (partition values, bucket).
        memory: What all writers may hold together, in bytes (`write-buffer-size`).
        threads: How many buckets are flushed at once (`lakebed.read.threads`).
    """

    writes: BucketWrites
    router: Router
    directory_of: Callable[[tuple[object, ...], int], str]
    memory: int
    threads: int
    _writers: dict[tuple[bytes, int], BucketWriter] = field(default_factory=dict, init=False)
    _stack: ExitStack = field(default_factory=ExitStack, init=False)

    def add(self, data: object, *, fixed: Mapping[str, object] | None = None) -> None:
        """Takes whatever `align.arrow_batches` takes; rows are aligned before any is written.

        Args:
            data: The rows.
            fixed: Partition values that the rows lack, for a write into one partition.
        """
        for part in arrow_batches(data):
            rows, kinds = align(_with_fixed(part, fixed or {}), self.schema)
            if kinds is not None and not self.schema.primary_keys:
                if kinds.any():
                    raise InvalidDataError(
                        f"{ROW_KIND} has changes other than +I, but the table has no primary key; "
                        "an append table takes inserts only"
                    )
                kinds = None
            self.add_aligned(rows, kinds)

    @property
    def schema(self) -> TableSchema:
        """The schema that is written."""
        return self.writes.table_schema

    def add_aligned(self, rows: pa.Table, kinds: Kinds | None) -> None:
        """Takes rows that are aligned already."""
        self._take(self.router.route(rows, kinds))

    def finish(self) -> list[CommitMessage]:
        """Flushes every writer and returns what they wrote, index files last."""
        self._take(self.router.held_back())
        return [*self._finished(), *self.router.finish()]

    def _take(self, routed_rows: Iterable[RoutedRows]) -> None:
        held = sum(writer.held_bytes for writer in self._writers.values())
        for routed in routed_rows:
            writer = self._writer_of(routed)
            held -= writer.held_bytes
            writer.add(routed.rows, routed.kinds)
            held += writer.held_bytes
            while held > self.memory:
                fullest = max(self._writers.values(), key=lambda writer: writer.held_bytes)
                held -= fullest.held_bytes
                fullest.flush()

    def _writer_of(self, routed: RoutedRows) -> BucketWriter:
        key = (routed.partition, routed.bucket)
        writer = self._writers.get(key)
        if writer is None:
            writer = self.writes.open(
                routed.partition,
                routed.bucket,
                directory=self.directory_of(routed.values, routed.bucket),
                total_buckets=routed.total_buckets,
            )
            self._writers[key] = self._stack.enter_context(writer)
        return writer

    def _finished(self) -> list[CommitMessage]:
        writers = list(self._writers.values())
        if len(writers) < 2 or self.threads < 2:
            return [writer.finish() for writer in writers]
        with ThreadPoolExecutor(min(self.threads, len(writers))) as pool:
            return list(pool.map(BucketWriter.finish, writers))

    def __enter__(self) -> Self:
        """Nothing is opened before the first row."""
        return self

    def __exit__(self, *error: object) -> None:
        """On an error, deletes every file written."""
        self.router.close()
        self._stack.__exit__(*error)  # type: ignore[arg-type]  # the triple of `with`


def _with_fixed(rows: pa.Table, fixed: Mapping[str, object]) -> pa.Table:
    for name, value in fixed.items():
        if name not in rows.column_names:
            rows = rows.append_column(name, repeated(scalar_of(value), rows.num_rows))
    return rows
