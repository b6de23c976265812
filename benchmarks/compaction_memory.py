"""How much memory does the compaction of a large bucket take? 5 overlapping runs in one bucket.

The budget is `lakebed.merge.memory`, 256 MB by default; a process of its own compacts, and its
whole peak counts. `./dev bench compaction_memory` takes 20 M rows;
`python -m benchmarks.compaction_memory ROWS` makes a bucket of so many rows, compacts it once, and
prints what that took.
"""

import json
import shutil
import subprocess
import sys
import time

import lakebed
from benchmarks.datasets import CACHE
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.peak import KIB, peak_mb
from benchmarks.write_memory import COLUMNS, batches

RUNS = 5
RUN_ROWS_FACTOR = 4
MB_MAX = 1024.0
_COMPACT = "compact"


def run(effort: Effort) -> list[Outcome]:
    """The peak of the process that compacts, all of it, in MB."""

    def peak() -> float:
        return measured(RUNS * RUN_ROWS_FACTOR * effort.run_rows)["peak_mb"]

    contender = Contender(name="lakebed", measure=peak, rounds=1)
    figures = alternate([contender], effort=effort)
    targets = (Target(of=None, at_most=MB_MAX),)
    name = "peak of the compaction of one bucket of 5 runs"
    return [Outcome(name=name, figures=figures, unit="MB", targets=targets)]


def measured(rows: int) -> dict[str, float]:
    """Makes a bucket, half of whose keys each run shares with the next, and compacts it."""
    location = CACHE / "compaction_memory"
    shutil.rmtree(location, ignore_errors=True)
    catalog = lakebed.load_catalog(warehouse=location.as_uri())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=lakebed.schema(COLUMNS),
        primary_key=["id"],
        options={"bucket": 1, "write-only": True},
    )
    run_rows, decoded = rows // RUNS, 0
    for number in range(RUNS):
        with table.writer() as writer:
            for batch in batches(run_rows, first=number * run_rows // 2):
                decoded += batch.nbytes
                writer.upsert(batch)
    command = [sys.executable, "-m", "benchmarks.compaction_memory", _COMPACT, table.location]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(told.stdout)
    left = rows // RUNS * (RUNS + 1) // 2
    if figures["rows"] != left:
        raise AssertionError(f"{figures['rows']} rows, not {left}")
    shutil.rmtree(location)
    return {**figures, "decoded_mb": decoded / KIB**2}


def _compact(location: str) -> dict[str, float]:
    started = time.perf_counter()
    table = lakebed.load_table(location, {"lakebed.read.threads": 1})
    snapshot = table.compact()
    seconds = time.perf_counter() - started
    rows = 0 if snapshot is None else snapshot.total_record_count
    return {"peak_mb": peak_mb(), "seconds": seconds, "rows": rows}


if __name__ == "__main__":
    if sys.argv[1] == _COMPACT:
        print(json.dumps(_compact(sys.argv[2])))
    else:
        print(json.dumps(measured(int(sys.argv[1]))))
