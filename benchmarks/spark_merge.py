"""How fast is a MERGE of 1 % of the keys into a table with a primary key?

Paimon's own connector does the same to copies of the same files, on a Spark of its own; Iceberg and
Delta Lake to tables of the same rows, which know no keys. At full size 50,000 rows, half of whose
keys are there, are merged into 4 compacted buckets of 5 M rows:

* whole rows: `WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *`;
* by a condition: some rows are updated by a column, some deleted, the rest inserted.
"""

import shutil

import lakebed
from benchmarks.datasets import CACHE, RUN_COUNT, SCHEMA
from benchmarks.harness import Effort, Outcome, Target
from benchmarks.spark_jobs import THEIRS, Job, drawn_rows, engines, kept, outcomes_of
from tools.peers.other_lakes import OTHER_LAKES
from tools.peers.process import PeerProcess

TARGETS = (
    Target(of=THEIRS, at_most=1 / 5),
    *(Target(of=lake.name, at_most=1 / 2) for lake in OTHER_LAKES),
)
_SCRATCH = CACHE / "scratch" / "spark-merge"
_CHANGED_SHARE = 100
_WHOLE = """
MERGE INTO lake.db.t AS t USING changes AS s ON t.id = s.id
WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
"""
_BY_CONDITION = """
MERGE INTO lake.db.t AS t USING changes AS s ON t.id = s.id
WHEN MATCHED AND s.quantity < 10 THEN DELETE
WHEN MATCHED THEN UPDATE SET note = s.note, quantity = t.quantity + s.quantity
WHEN NOT MATCHED THEN INSERT *
"""


def run(effort: Effort) -> list[Outcome]:
    """Both merges, by Lakebed and by Paimon's connector."""
    shutil.rmtree(_SCRATCH, ignore_errors=True)
    row_count = RUN_COUNT * effort.run_rows
    held = drawn_rows(row_count, seed=0)
    changes = drawn_rows(row_count // _CHANGED_SHARE, seed=1, of=row_count)
    source = _SCRATCH / "db.db" / "merged"
    with PeerProcess("lakebed") as writer:
        writer.create(source, SCHEMA, primary_key=["id"], options={"bucket": "4"})
    table = lakebed.load_table(str(source))
    table.upsert(held)
    table.compact()
    known = changes.join(held.select(["id"]), "id", join_type="inner")
    gone = int((known["quantity"].to_numpy() < 10).sum())
    after = row_count + changes.num_rows - known.num_rows
    jobs = (
        Job(name="MERGE of whole rows", source=source, statement=_WHOLE, row_count=after),
        Job(
            name="MERGE by a condition",
            source=source,
            statement=_BY_CONDITION,
            row_count=after - gone,
        ),
    )
    rows = kept(_SCRATCH, "plain", held)
    changed = kept(_SCRATCH, "changes", changes)
    with engines(_SCRATCH, effort, rows=rows, changes=changed, others=OTHER_LAKES) as contenders:
        return outcomes_of(jobs, contenders, effort=effort, targets=TARGETS)
