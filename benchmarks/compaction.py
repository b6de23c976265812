"""How fast is a full compaction? 2 buckets of 5 overlapping runs, 5 M rows, of which 1.94 M stay.

It is held against PyArrow alone, which reads the same files and writes the rows that stay, and
merges nothing.
"""

import shutil
import time
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

import lakebed
from benchmarks.datasets import CACHE, merge_table, merged_count
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from tools.peers.process import PeerProcess

TARGETS = (Target(of="PyArrow, unmerged", at_most=1.5),)


def run(effort: Effort) -> list[Outcome]:
    """Lakebed compacts a copy each time."""
    with PeerProcess("lakebed") as writer:
        source = merge_table(writer, run_rows=effort.run_rows)
    copy = CACHE / "scratch" / "db.db" / "compacted"
    count = merged_count(run_rows=effort.run_rows)
    compacted = partial(_compacted, source, copy, row_count=count)
    compacted()
    contenders = [
        Contender(name="lakebed", measure=compacted),
        Contender(name="PyArrow, unmerged", measure=partial(_copied, source, copy)),
    ]
    figures = alternate(contenders, effort=effort)
    return [Outcome(name="full compaction of 5 runs", figures=figures, targets=TARGETS)]


def _compacted(source: Path, copy: Path, *, row_count: int) -> float:
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)
    table = lakebed.load_table(str(copy))
    started = time.perf_counter()
    snapshot = table.compact()
    seconds = time.perf_counter() - started
    if snapshot is None or snapshot.total_record_count != row_count:
        raise AssertionError(f"{snapshot} does not hold {row_count} rows")
    return seconds


def _copied(source: Path, compacted: Path) -> float:
    """Reads what a compaction reads, and writes what it writes."""
    read = sorted(source.glob("bucket-*/*.parquet"))
    names = {path.name for path in read}
    kept = [path for path in compacted.glob("bucket-*/*.parquet") if path.name not in names]
    rows = [pq.read_table(path) for path in kept]
    started = time.perf_counter()
    decoded = [pq.read_table(path) for path in read]
    for number, table in enumerate(rows):
        pq.write_table(table, compacted / f"copy-{number}.parquet", compression="zstd")
    seconds = time.perf_counter() - started
    del decoded
    return seconds
