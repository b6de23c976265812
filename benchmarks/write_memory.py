"""How much memory does a large write into one bucket take? 20 M rows, a fresh process.

The buffer is what `write-buffer-size` says by default, 256 MB; beside it stand the buffer in the
order of its keys, and the part of it that is being written.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

import lakebed
from benchmarks.datasets import CACHE
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.peak import peak_mb

COMMITS = 20
BATCH_ROWS = 100_000
MB_MAX = 1024.0
ROUNDS = 3
SCATTER = np.uint64(0x9E3779B97F4A7C15)
KEY_MASK = np.uint64((1 << 63) - 1)
COLUMNS = [
    ("id", "BIGINT NOT NULL"),
    *((f"n{number}", "BIGINT") for number in range(2)),
    *((f"d{number}", "DOUBLE") for number in range(2)),
    *((f"s{number}", "STRING") for number in range(2)),
    ("day", "DATE"),
]


def run(effort: Effort) -> list[Outcome]:
    """The peak of the process that writes, all of it, in MB."""
    location = CACHE / "write_memory"

    def peak() -> float:
        shutil.rmtree(location, ignore_errors=True)
        command = [sys.executable, "-m", "benchmarks.write_memory", str(location)]
        told = subprocess.run(
            [*command, str(COMMITS * effort.run_rows)], check=True, capture_output=True, text=True
        )
        figures: dict[str, float] = json.loads(told.stdout)
        if figures["rows"] != COMMITS * effort.run_rows:
            raise AssertionError(f"{figures['rows']} rows")
        return figures["peak_mb"]

    fewer = replace(effort, rounds=min(effort.rounds, ROUNDS))
    figures = alternate([Contender(name="lakebed", measure=peak)], effort=fewer)
    targets = (Target(of=None, at_most=MB_MAX),)
    name = "peak of a write of 20 runs' rows into one bucket"
    return [Outcome(name=name, figures=figures, unit="MB", targets=targets)]


def _write(location: Path, *, rows: int) -> dict[str, float]:
    catalog = lakebed.load_catalog({"lakebed.read.threads": 1}, warehouse=location.as_uri())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t", schema=lakebed.schema(COLUMNS), primary_key=["id"], options={"bucket": 1}
    )
    with table.writer() as writer:
        for batch in batches(rows):
            writer.upsert(batch)
    snapshot = table.latest_snapshot()
    return {"peak_mb": peak_mb(), "rows": 0 if snapshot is None else snapshot.total_record_count}


def batches(rows: int, *, first: int = 0) -> Iterator[pa.RecordBatch]:
    """Rows of keys in no order, all different, from the one of number `first` on."""
    random = np.random.default_rng(0)
    words = pa.array([f"word {number}" for number in range(5000)])
    for start in range(first, first + rows, BATCH_ROWS):
        numbers = np.arange(start, min(start + BATCH_ROWS, first + rows), dtype=np.uint64)
        # Times an odd number, modulo a power of two: no two are the same.
        keys = (numbers * SCATTER & KEY_MASK).astype(np.int64)
        count = len(keys)
        columns: list[pa.Array] = [
            pa.array(keys),
            *(pa.array(random.integers(0, 1 << 40, count)) for _ in range(2)),
            *(pa.array(random.random(count)) for _ in range(2)),
            *(words.take(pa.array((keys + shift) % 5000)) for shift in range(2)),
            pa.array(random.integers(0, 20_000, count).astype(np.int32)).cast(pa.date32()),
        ]
        yield pa.RecordBatch.from_arrays(columns, names=[name for name, _ in COLUMNS])


if __name__ == "__main__":
    print(json.dumps(_write(Path(sys.argv[1]), rows=int(sys.argv[2]))))
