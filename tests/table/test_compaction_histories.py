"""Random lives of compacted tables, each commit trying other seeds; and what they leave out.

`./dev prove compaction-histories --seconds 1 --from-seed N` repeats seed N.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest

from lakebed.errors import CommitConflictError
from lakebed.format.schema_definition import schema
from lakebed.lsm.compaction import rewriting
from lakebed.lsm.section_plan import SectionPlan
from lakebed.lsm.windows import GroupedRows, grouped_rows
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.job import CompactionJob
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.compaction_histories import History, run_history
from support.compaction_model import arrow
from support.effects import open_catalog
from support.store_listing import orphans
from support.table_builder import Shape, Step, build_table, sorted_rows
from tools.provenance import read_commit, seed_of

FIRST_SEED = seed_of(read_commit())
SEEDS = range(FIRST_SEED, FIRST_SEED + 8)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_that_is_compacted_reads_and_tells_what_the_model_does(seed: int) -> None:
    _, violations = run_history(seed)
    assert not violations, "\n".join(violations)


@pytest.mark.parametrize(
    ("engine", "kind", "told"),
    [
        ("sequence group", "+I", [("+I", None)]),
        ("sum in a sequence group", "+I", [("+I", None)]),
        ("aggregation", "-D", [("+I", -5)]),
        ("first-row", "+U", [("+U", 5)]),
        ("deduplicate", "+U", [("+I", 5)]),
        ("deduplicate", "-D", []),
    ],
)
def test_a_row_that_is_alone_is_merged_by_a_compaction_that_looks_up(
    engine: str, kind: str, told: list[tuple[str, int | None]]
) -> None:
    history = History(1, engine=engine, producer="lookup")
    table = history.table
    row = {"id": 1, "p": "x", "a": 5, "b": None, "g": None}
    table.upsert(arrow([row]).append_column("_row_kind", pa.array([kind])))
    snapshot = table.compact("minor")
    assert snapshot is not None
    changes = history.changelog(snapshot)
    assert [(change["rowkind"], change["a"]) for change in changes] == told


APPEND = [
    Shape(has_primary_key=False, buckets=-1, is_partitioned=True),
    Shape(key="string", has_primary_key=False, buckets=1),
]
RIVALS: dict[str, tuple[Callable[[Table], object], bool]] = {
    "append": (lambda table: table.append(table.scan(limit=3).to_arrow()), False),
    "delete": (lambda table: table.delete("amount >= 3"), True),
    "overwrite": (lambda table: table.overwrite(table.scan(limit=3).to_arrow()), True),
    "truncate": (lambda table: table.truncate(), True),
    "compaction": (lambda table: table.compact(), True),
}


@pytest.mark.parametrize("shape", APPEND, ids=str)
@pytest.mark.parametrize("name", RIVALS)
def test_a_compaction_of_appended_rows_loses_and_revives_none_that_a_rival_changes(
    shape: Shape, name: str
) -> None:
    rival, takes_files = RIVALS[name]
    small = shape.with_options({"compaction.min.file-num": "2", "write-only": "true"})
    built = build_table(small, [Step("write", range(n, n + 6)) for n in range(4)])
    table = built.table
    job = CompactionJob.of(table.parts(), EveryPartition(), is_full=True)
    messages = job.run()
    assert sum(len(message.deleted_files) for message in messages) > 3
    rival(table)
    expected = sorted_rows(table.scan().to_arrow())
    if takes_files:
        with pytest.raises(CommitConflictError):
            job.commit(messages)
    else:
        assert job.commit(messages) is not None
    assert sorted_rows(table.scan().to_arrow()) == expected
    assert orphans(table, built.file_io) == set()


def test_a_full_compaction_of_few_files_of_a_bucket_does_what_the_options_ask_for_anyway() -> None:
    shape = Shape(has_primary_key=False, buckets=1)
    small = shape.with_options({"compaction.min.file-num": "2", "write-only": "true"})
    table = build_table(small, [Step("write", range(n, n + 6)) for n in range(2)]).table
    snapshot = table.compact("full")
    assert snapshot is not None
    assert sum(len(split.file_paths) for split in table.scan().plan().splits) == 1


BUDGET_BYTES = 1 << 19
ROWS_A_RUN = 24_000


@pytest.mark.parametrize("producer", ["none", "lookup", "full-compaction"])
def test_a_bucket_of_ten_times_the_memory_is_compacted_in_parts_of_it(
    producer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = open_catalog(MemoryFileIO(), options={"lakebed.merge.memory": f"{BUDGET_BYTES} b"})
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema([("id", "BIGINT NOT NULL"), ("text", "STRING"), ("run", "INT")]),
        primary_key=["id"],
        options={
            "bucket": "1",
            "write-only": "true",
            "changelog-producer": producer,
            "file.block-size": "64 kb",
        },
    )
    chance = np.random.default_rng(1)
    newest = np.full(2 * ROWS_A_RUN, -1)
    for run in range(3):
        ids = np.sort(chance.choice(len(newest), ROWS_A_RUN, replace=False))
        newest[ids] = run
        texts = [f"{number:060}" for number in ids.tolist()]
        table.upsert(pa.table({"id": ids, "text": texts, "run": [run] * len(ids)}))
    sizes: list[int] = []

    def observed(
        plan: SectionPlan, *, budget_bytes: int, with_levels: bool
    ) -> Iterator[GroupedRows]:
        total = plan.sorting_bytes + plan.value_bytes
        assert total >= 10 * budget_bytes
        for grouped in grouped_rows(plan, budget_bytes=budget_bytes, with_levels=with_levels):
            names = {*plan.sorting, *plan.values}
            sizes.append(sum(grouped.columns.column(name).nbytes for name in names))
            yield grouped

    monkeypatch.setattr(rewriting, "grouped_rows", observed)
    snapshot = table.compact()
    assert snapshot is not None
    assert len(sizes) > 10
    assert max(sizes) <= BUDGET_BYTES
    rows = table.scan().to_arrow().sort_by("id")
    assert rows.column("id").to_pylist() == np.flatnonzero(newest >= 0).tolist()
    assert rows.column("run").to_pylist() == newest[newest >= 0].tolist()
    told = snapshot.changelog_record_count or 0
    assert told == (0 if producer == "none" else rows.num_rows)
