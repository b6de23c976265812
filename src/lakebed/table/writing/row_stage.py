"""Where do rows wait whose bucket depends on what comes after them? On the local disk.

One file holds all of them, compressed, batch by batch; a batch is of one partition. What a
partition takes there is what its rows are measured by.
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from lakebed.lsm.merge import Kinds
from lakebed.storage.scratch import Scratch

_BATCH_ROWS = 65_536
_KIND = "_VALUE_KIND"
_FILE_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


class RowStage:
    """Rows of many partitions; a directory is made for the first of them."""

    def __init__(self, *, advice: str) -> None:
        """Starts without a file.

        Args:
            advice: What to do when the disk is full, besides taking a larger one.
        """
        self._advice = advice
        self._scratch = Scratch("stage")
        self._sink: pa.NativeFile | None = None
        self._writer: pa.ipc.RecordBatchFileWriter | None = None
        self._batches: dict[bytes, list[int]] = defaultdict(list)
        self._count = 0
        self._bytes: dict[bytes, int] = defaultdict(int)
        self._rows: dict[bytes, int] = defaultdict(int)

    @property
    def partitions(self) -> list[bytes]:
        """The partitions that rows wait for."""
        return list(self._batches)

    def size_bytes(self, partition: bytes) -> int:
        """What the rows of a partition take, compressed."""
        return self._bytes[partition]

    def row_count(self, partition: bytes) -> int:
        """How many rows of a partition wait."""
        return self._rows[partition]

    def add(self, partition: bytes, rows: pa.Table, kinds: Kinds | None) -> None:
        """Takes rows of a partition, the newest last.

        Raises:
            StorageError: The disk is full, or cannot be written.
        """
        told = np.zeros(rows.num_rows, np.int8) if kinds is None else kinds
        batches = rows.append_column(_KIND, pa.array(told)).to_batches(_BATCH_ROWS)
        problem = "rows that wait for a bucket cannot be staged"
        with self._scratch.writing(problem, advice=self._advice):
            for batch in batches:
                self._write(partition, batch)

    def read(self, partition: bytes) -> Iterator[tuple[pa.Table, Kinds]]:
        """The rows of a partition in the order they came, and their kinds; no more are taken."""
        if self._writer is not None and self._sink is not None:
            self._writer.close()
            self._sink.close()
            self._writer = self._sink = None
        with pa.OSFile(self._path, "rb") as source:
            file = pa.ipc.open_file(source)
            for index in self._batches[partition]:
                rows = pa.Table.from_batches([file.get_batch(index)])
                yield rows.drop_columns([_KIND]), rows.column(_KIND).to_numpy()

    def close(self) -> None:
        """Deletes the file."""
        if self._sink is not None:
            self._sink.close()
            self._writer = self._sink = None
        self._scratch.close()

    @property
    def _path(self) -> str:
        return self._scratch.path("rows.arrow")

    def _write(self, partition: bytes, batch: pa.RecordBatch) -> None:
        if self._writer is None or self._sink is None:
            self._sink = pa.OSFile(self._path, "wb")
            self._writer = pa.ipc.new_file(self._sink, batch.schema, options=_FILE_OPTIONS)
        before = self._sink.tell()
        self._writer.write_batch(batch)
        self._bytes[partition] += self._sink.tell() - before
        self._rows[partition] += batch.num_rows
        self._batches[partition].append(self._count)
        self._count += 1


def staged_bytes(rows: pa.Table) -> int:
    """What rows take on the local disk, compressed.

    Raises:
        StorageError: The disk is full, or cannot be written.
    """
    stage = RowStage(advice="free some of it")
    try:
        stage.add(b"", rows, None)
        return stage.size_bytes(b"")
    finally:
        stage.close()
