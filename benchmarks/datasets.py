"""The tables that benchmarks read and write: made once, the same on every machine.

`merge_table` has 5 commits into 2 buckets, so 5 overlapping sorted runs a bucket. At full size a
commit draws 1 M of 2 M keys without repeating one, hence 2 M x (1 - 1/2^5) = 1.94 M rows survive
the merge.
"""

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tools.peers.process import PeerProcess, write_ipc

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "bench"
RUN_COUNT = 5

COLUMNS: list[tuple[str, pa.DataType]] = [
    ("id", pa.int64()),
    ("customer", pa.int64()),
    ("quantity", pa.int32()),
    ("price", pa.float64()),
    ("discount", pa.float64()),
    ("status", pa.string()),
    ("note", pa.string()),
]
SCHEMA = pa.schema(COLUMNS).set(0, pa.field("id", pa.int64(), nullable=False))


def orders(run: int, *, row_count: int) -> pa.Table:
    """The rows of one commit, in no order; `run` is the seed."""
    random = np.random.default_rng(run)
    statuses = pa.array(["new", "paid", "packed", "shipped", "returned"])
    note = pc.add(pa.array(random.integers(0, 2**40, row_count)), 10**13).cast(pa.string())
    return pa.table(
        [
            pa.array(_keys(run, row_count=row_count)),
            pa.array(random.integers(0, 100_000, row_count)),
            pa.array(random.integers(1, 50, row_count).astype(np.int32)),
            pa.array(np.round(random.gamma(2.0, 40.0, row_count), 2)),
            pa.array(random.random(row_count), mask=random.random(row_count) < 0.1),
            statuses.take(random.integers(0, 5, row_count)),
            note,
        ],
        schema=SCHEMA,
    )


def merged_count(*, run_rows: int) -> int:
    """How many rows `merge_table` holds, found without any reader of tables."""
    seen = np.zeros(2 * run_rows, dtype=np.bool_)
    for run in range(RUN_COUNT):
        seen[_keys(run, row_count=run_rows)] = True
    return int(seen.sum())


def merge_table(writer: PeerProcess, *, run_rows: int) -> Path:
    """The table of five overlapping runs a bucket, made by `writer` when it is missing."""
    return _cached(writer, _Layout(name="merge", run_rows=run_rows))


def upsert_table(writer: PeerProcess, *, run_rows: int) -> Path:
    """A table of one run a bucket, to copy and upsert into."""
    return _cached(writer, _Layout(name="upsert", run_rows=run_rows, run_count=1))


def big_bucket_table(writer: PeerProcess, *, run_rows: int, arrow_bytes: int) -> Path:
    """One bucket of overlapping runs that take `arrow_bytes` in memory, decoded."""
    run_count = -(-arrow_bytes // orders(0, row_count=run_rows).nbytes)
    layout = _Layout(name="big", run_rows=run_rows, run_count=run_count, bucket_count=1)
    return _cached(writer, layout)


def upsert_rows(*, run_rows: int) -> Path:
    """The rows of the upsert, half of whose keys the table has."""
    path = CACHE / f"upsert-{run_rows}.arrow"
    return write_ipc(orders(RUN_COUNT, row_count=run_rows), path)


def _keys(run: int, *, row_count: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng([run, row_count]).permutation(2 * row_count)[:row_count]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    name: str
    run_rows: int
    run_count: int = RUN_COUNT
    bucket_count: int = 2


def _cached(writer: PeerProcess, layout: _Layout) -> Path:
    table = CACHE / "warehouse" / "db.db" / f"{layout.name}_{layout.run_rows}"
    digest = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    stamp, done = f"{layout} {digest}", table.with_suffix(".done")
    if done.exists() and done.read_text(encoding="ascii") == stamp:
        return table
    done.unlink(missing_ok=True)
    shutil.rmtree(table, ignore_errors=True)
    options = {"bucket": str(layout.bucket_count), "write-only": "true"}
    writer.create(table, SCHEMA, primary_key=["id"], options=options)
    for run in range(layout.run_count):
        rows = write_ipc(orders(run, row_count=layout.run_rows), table.with_suffix(".arrow"))
        writer.ask("write", table=str(table), data=str(rows))
        rows.unlink()
    done.write_text(stamp, encoding="ascii")
    return table
