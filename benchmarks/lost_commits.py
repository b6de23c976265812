"""How many acknowledged commits are lost when eight processes append to one table on local disk?"""

import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pyarrow as pa

import lakebed
from benchmarks.datasets import CACHE
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from tools.peers.process import PeerError, PeerProcess, write_ipc

PROCESSES = 8
COMMITS = 50
SCHEMA = pa.schema([("id", pa.int64())])
TARGETS = (Target(of=None, at_most=0.0),)


def run(effort: Effort) -> list[Outcome]:
    """Each library alone: its processes append a row a commit, and what they were told is read."""
    names = ["lakebed", "pypaimon", "pypaimon-rust"] if effort.peers else ["lakebed"]
    place = CACHE / "lost_commits"
    with ExitStack() as stack:
        writers = {
            name: [stack.enter_context(PeerProcess(name)) for _ in range(PROCESSES)]
            for name in names
        }
        contenders = [
            Contender(name=name, measure=partial(_lost_percent, writers[name], place))
            for name in names
        ]
        figures = alternate(contenders, effort=effort)
    return [
        Outcome(
            name="acknowledged commits that are lost", figures=figures, unit="%", targets=TARGETS
        )
    ]


def _lost_percent(writers: Sequence[PeerProcess], place: Path) -> float:
    shutil.rmtree(place, ignore_errors=True)
    catalog = lakebed.load_catalog(warehouse=place.as_uri())
    catalog.create_database("db")
    made = catalog.create_table("db.t", schema=SCHEMA, options={"bucket": -1})
    table = place / "db.db" / "t"
    with ThreadPoolExecutor(len(writers)) as pool:
        told = pool.map(partial(_append_all, table=table), range(len(writers)), writers)
        acknowledged = {row for rows in told for row in rows}
    found = set(made.scan().to_arrow()["id"].to_pylist())
    return 100 * len(acknowledged - found) / len(acknowledged)


def _append_all(process: int, writer: PeerProcess, *, table: Path) -> list[int]:
    """The rows whose commits were acknowledged; a commit that was refused is none."""
    acknowledged = []
    for row in range(process * COMMITS, (process + 1) * COMMITS):
        data = write_ipc(pa.table({"id": [row]}, schema=SCHEMA), table.parent / f"{row}.arrow")
        try:
            writer.ask("write", table=str(table), data=str(data))
        except PeerError:
            continue
        acknowledged.append(row)
    return acknowledged
