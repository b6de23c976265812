"""How fast are compactions of a Spark job, and a changelog that looks old rows up?

Paimon's own connector does the same to copies of the same files, on a Spark of its own. So what is
compared is how many plain Parquet writes of 5 M rows by its own Spark a job costs, round by round.
At full size:

* full compaction: `CALL sys.compact` of 2 buckets of 5 overlapping runs, 5 M rows;
* lookup changelog: an upsert of 0.5 M rows, half of whose keys are there, into 4 compacted buckets
  of 5 M rows, together with the compaction that tells the changes.
"""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import lakebed
from benchmarks.datasets import CACHE, RUN_COUNT, SCHEMA, merge_table, merged_count
from benchmarks.harness import Effort, Outcome, Target
from benchmarks.spark_jobs import THEIRS, Job, drawn_rows, engines, kept, outcomes_of
from tools.peers.process import PeerProcess

TARGET = Target(of=THEIRS, at_most=1 / 2)
_LOOKUP = {"bucket": "4", "changelog-producer": "lookup"}
_SCRATCH = CACHE / "scratch" / "spark-compaction"
_CHANGED_SHARE = 10


def run(effort: Effort) -> list[Outcome]:
    """Both jobs, by Lakebed and by Paimon's connector."""
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    run_rows = effort.run_rows
    with PeerProcess("lakebed") as writer:
        merge_source = merge_table(writer, run_rows=run_rows)
    compaction = Job(
        name="full compaction in Spark",
        source=merge_source,
        statement="CALL lake.sys.compact(table => 'db.t')",
        row_count=merged_count(run_rows=run_rows),
    )
    rows = kept(_SCRATCH, "plain", drawn_rows(RUN_COUNT * run_rows, seed=0))
    changes = drawn_rows(RUN_COUNT * run_rows // _CHANGED_SHARE, seed=1, of=RUN_COUNT * run_rows)
    lookup = _lookup_job(rows, changes, run_rows=run_rows)
    changed = kept(_SCRATCH, "changes", changes)
    with engines(_SCRATCH, effort, rows=rows, changes=changed) as contenders:
        return outcomes_of((compaction, lookup), contenders, effort=effort, targets=(TARGET,))


def _lookup_job(rows: Path, changes: pa.Table, *, run_rows: int) -> Job:
    """An upsert into a table that holds some rows at its highest level."""
    source = _SCRATCH / "db.db" / "lookup"
    with PeerProcess("lakebed") as writer:
        writer.create(source, SCHEMA, primary_key=["id"], options=_LOOKUP)
    held = pq.read_table(rows)
    table = lakebed.load_table(str(source))
    table.upsert(held)
    table.compact()
    known = np.isin(changes["id"].to_numpy(), held["id"].to_numpy()).sum()
    return Job(
        name="upsert with a lookup changelog in Spark",
        source=source,
        statement="INSERT INTO lake.db.t SELECT * FROM changes",
        row_count=RUN_COUNT * run_rows + changes.num_rows - int(known),
        change_count=changes.num_rows + int(known),
    )
