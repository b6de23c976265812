"""Sorted runs that a writer puts on the local disk when its memory is full, merged at the end.

Each run was a full write buffer, so it holds a key once. Merging them is merging a section: the
same kernel, within the same budget, so one level-0 run comes out however much went in.

    buffer full   ->  run 0 on disk
    buffer full   ->  run 1 on disk      finish: windows of runs 0, 1, 2 -> one run
    the rest      ->  run 2 on disk
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
import pyarrow.ipc

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.key_value import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.lsm.engines import Folding, Picking
from lakebed.lsm.merge import are_adds
from lakebed.lsm.section_plan import Mask, SectionPlan
from lakebed.lsm.windows import grouped_rows
from lakebed.lsm.write_buffer import SYSTEM_COLUMNS, merged
from lakebed.storage.scratch import Scratch

_BATCH_ROWS = 65_536
_FILE_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpilledRun:
    """One run on disk (`section_plan.SectionFile`).

    Attributes:
        path: An Arrow file.
        run: Which run it is.
        row_count: Its rows.
        min_sequence_number: Smallest sequence number.
        max_sequence_number: Greatest sequence number.
        has_deletes: Whether it holds -U or -D rows.
        column_bytes: Size of each column in memory.
    """

    path: str
    run: int
    row_count: int
    min_sequence_number: int
    max_sequence_number: int
    has_deletes: bool
    column_bytes: dict[str, int]

    @property
    def ordinal(self) -> int:
        """Later runs are newer."""
        return self.run

    @property
    def level(self) -> int:
        """Nothing here is compacted."""
        return 0

    def removed(self) -> Mask | None:
        """Nothing is."""
        return None

    def decoded_bytes(self, names: Sequence[str]) -> int:
        """Size of some columns in memory."""
        return sum(self.column_bytes[name] for name in names)

    def read_columns(self, names: Sequence[str], keep: Mask | None = None) -> pa.Table:
        """Columns of all rows, or of some."""
        rows = pa.Table.from_batches(self._batches(names))
        return rows if keep is None else rows.filter(pa.array(keep))

    def stream_columns(self, names: Sequence[str], *, batch_rows: int) -> Iterator[pa.Table]:
        """The same, at most `batch_rows` at a time."""
        for batch in self._batches(names):
            for start in range(0, batch.num_rows, batch_rows):
                yield pa.Table.from_batches([batch.slice(start, batch_rows)])

    def _batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        stored = list(self.column_bytes)
        chosen = pa.ipc.IpcReadOptions(included_fields=sorted(map(stored.index, names)))
        with pa.OSFile(self.path, "rb") as source:
            file = pa.ipc.open_file(source, options=chosen)
            for index in range(file.num_record_batches):
                yield file.get_batch(index).select(list(names))


class Spills:
    """The runs of one writer, in a directory of their own, made at the first run.

    Args:
        names: The table's columns.
        merging: How the rows of a key become one.
        budget_bytes: Memory that merging may take.
        memory_option: The option that says how much there is.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        merging: Picking | Folding,
        budget_bytes: int,
        memory_option: str = "write-buffer-size",
    ) -> None:
        self._wanted = (*names, *SYSTEM_COLUMNS)
        self._merging = merging
        self._budget_bytes = budget_bytes
        self._advice = f"raise {memory_option}"
        self._runs: list[SpilledRun] = []
        self._scratch = Scratch("spill")

    def __bool__(self) -> bool:
        """Whether anything was spilled."""
        return bool(self._runs)

    def add(self, run: Iterable[pa.Table]) -> None:
        """Writes a run to disk, given in parts; it is newer than those before.

        Raises:
            InvalidDataError: Rows that the merge engine forbids.
            StorageError: The disk is full, or cannot be written.
        """
        problem = "a full write buffer cannot be spilled"
        with self._scratch.writing(problem, advice=self._advice):
            written = self._written(run)
        if written is not None:
            self._runs.append(written)
        # What a full buffer took is given back before the next one fills.
        pa.default_memory_pool().release_unused()

    def merged(self) -> Iterator[pa.Table]:
        """The rows that all runs merge into, by key, within the budget."""
        plan = SectionPlan.of(self._runs, order=self._merging.order, values=self._wanted)
        for grouped in grouped_rows(plan, budget_bytes=self._budget_bytes):
            yield from merged(grouped, self._merging, self._wanted)

    def close(self) -> None:
        """Deletes the runs."""
        self._runs = []
        self._scratch.close()

    def _written(self, run: Iterable[pa.Table]) -> SpilledRun | None:
        parts = iter(run)
        first = next(parts, None)
        if first is None:
            return None
        number = len(self._runs)
        path = self._scratch.path(f"run-{number}.arrow")
        facts = _RunFacts()
        with (
            pa.OSFile(path, "wb") as sink,
            pa.ipc.new_file(sink, first.schema, options=_FILE_OPTIONS) as writer,
        ):
            for part in chain([first], parts):
                if part.num_rows:
                    writer.write_table(part, max_chunksize=_BATCH_ROWS)
                    facts.add(part)
        return facts.run(path, number) if facts.row_count else None


class _RunFacts:
    """What is said of a run, gathered while it is written."""

    def __init__(self) -> None:
        self.row_count = 0
        self._low, self._high = 2**63 - 1, -(2**63)
        self._has_deletes = False
        self._column_bytes: Counter[str] = Counter()

    def add(self, part: pa.Table) -> None:
        ends = pc.min_max(part.column(SEQUENCE_NUMBER.name))
        self._low = min(self._low, ends["min"].as_py())
        self._high = max(self._high, ends["max"].as_py())
        kinds = part.column(VALUE_KIND.name).to_numpy()
        self._has_deletes |= not are_adds(kinds).all()
        self._column_bytes.update({name: part.column(name).nbytes for name in part.column_names})
        self.row_count += part.num_rows

    def run(self, path: str, number: int) -> SpilledRun:
        return SpilledRun(
            path=path,
            run=number,
            row_count=self.row_count,
            min_sequence_number=self._low,
            max_sequence_number=self._high,
            has_deletes=self._has_deletes,
            column_bytes=dict(self._column_bytes),
        )
