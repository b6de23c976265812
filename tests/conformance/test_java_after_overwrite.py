"""Lakebed replaces what the real Paimon wrote, indexes and changelogs too; that writes on.

The tables are the golden ones, whose hash indexes, deletion vectors and changelogs are the real
engine's own.
"""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.arrow.typing import python_values
from lakebed.format.snapshot import CommitKind
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

GOLDEN = Path(__file__).parents[1] / "golden" / "warehouse" / "db.db"
Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def golden(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN / name, tmp_path / "db.db" / name))


def writable(path: Path) -> Table:
    """The table as if no row of it were ever marked, which an overwrite does not mind."""
    table = lakebed.load_table(str(path))
    options = dict(table.schema.options)
    options.pop("deletion-vectors.enabled", None)
    return replace(table, schema=replace(table.schema, options=options))


def arrow(table: Table, rows: Rows) -> pa.Table:
    names = table.schema.names
    return pa.Table.from_pylist(
        [dict(zip(names, row, strict=True)) for row in rows],
        schema=to_arrow_schema(table.schema.fields),
    )


def ours(path: Path) -> Rows:
    found = lakebed.load_table(str(path)).scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def theirs(referee: Referee, path: Path) -> Rows:
    return sorted(map(tuple, referee.read(path).rows), key=repr)


def indexed(referee: Referee, path: Path) -> list[str]:
    """The index files that the real Paimon finds, as partition, bucket and type."""
    answer = referee.read(path.with_name(f"{path.name}$table_indexes"))
    names = [name for name, _ in answer.columns]
    wanted = [names.index(each) for each in ("partition", "bucket", "index_type")]
    return sorted(" ".join(str(row[at]) for at in wanted) for row in answer.rows)


@dataclass(frozen=True)
class Case:
    """What Lakebed does to a golden table, and what the real Paimon writes on top.

    Attributes:
        table: The golden table.
        act: What Lakebed does.
        keeps: Whether a row of before is still there.
        new: Rows that Lakebed writes.
        theirs: Rows that the real Paimon writes on top, its own assigner choosing dynamic buckets.
        keeps_index: Whether an index file of before, as `indexed` shows it, is still listed.
        waits: Whether new rows are seen only when the real Paimon has compacted them.
    """

    table: str
    act: Callable[[Table, pa.Table], object]
    keeps: Callable[[Sequence[object]], bool]
    new: Rows
    theirs: Rows
    keeps_index: Callable[[str], bool] = lambda _: False
    waits: bool = False


P1: Rows = [(number, f"new-{number}", "p1") for number in (1, 2, 9001)]

CASES = {
    "drop of a partition with hash indexes": Case(
        table="pk_dynamic_bucket",
        act=lambda table, _: table.drop_partitions([{"p": "p1"}]),
        keeps=lambda row: row[2] != "p1",
        new=[],
        theirs=[(9002, "theirs", "p1"), (9003, "theirs", "p2")],
        keeps_index=lambda index: "p1" not in index,
    ),
    "overwrite of a partition with hash indexes": Case(
        table="pk_dynamic_bucket",
        act=lambda table, rows: table.overwrite(rows, {"p": "p1"}),
        keeps=lambda row: row[2] != "p1",
        new=P1,
        theirs=[*((number, "theirs", "p1") for number in (1, 9001, 9002)), (9003, "theirs", "p2")],
        keeps_index=lambda index: index.startswith("{p2} ") or index == "{p1} 0 HASH",
    ),
    "truncate of hash indexes": Case(
        table="pk_dynamic_bucket",
        act=lambda table, _: table.truncate(),
        keeps=lambda _: False,
        new=[],
        theirs=[(9002, "theirs", "p1")],
    ),
    "overwrite of deletion vectors without buckets": Case(
        table="append_dv",
        act=lambda table, rows: table.overwrite(rows),
        keeps=lambda _: False,
        new=[(1, "new", 5), (None, None, None)],
        theirs=[(9002, "theirs", 6)],
    ),
    "overwrite of deletion vectors of buckets": Case(
        table="pk_dv",
        act=lambda table, rows: table.overwrite(rows),
        keeps=lambda _: False,
        new=[(number, f"new-{number}", 5) for number in range(4)],
        theirs=[(number, "theirs", 6) for number in range(9000, 9010)],
        waits=True,
    ),
    "overwrite of a partition with changelogs": Case(
        table="cl_input",
        act=lambda table, rows: table.overwrite(rows, {"p": "x"}),
        keeps=lambda row: row[2] != "x",
        new=[(1, "new", "x"), (9001, "new", "x")],
        theirs=[(9002, "theirs", "x"), (9003, "theirs", "y")],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_real_paimon_reads_and_writes_on_after_an_overwrite(
    case: Case, referee: Referee, tmp_path: Path
) -> None:
    path = golden(case.table, tmp_path)
    before, indexes = ours(path), indexed(referee, path)
    table = writable(path)
    assert case.act(table, arrow(table, case.new)) is not None
    expected = [*filter(case.keeps, before), *case.new]
    assert indexed(referee, path) == [each for each in indexes if case.keeps_index(each)]
    if not case.waits:
        assert theirs(referee, path) == ours(path) == sorted(expected, key=repr)

    referee.write(path, [["+I", *row] for row in case.theirs], assign=True)
    keys = [table.schema.names.index(name) for name in table.primary_keys]
    replaced = {tuple(row[at] for at in keys) for row in case.theirs if keys}
    kept = [row for row in expected if tuple(row[at] for at in keys) not in replaced]
    expected = [*kept, *case.theirs]
    assert theirs(referee, path) == ours(path) == sorted(expected, key=repr)
    assert "{p1} 0 HASH" in indexed(referee, path) or case.table != "pk_dynamic_bucket"


def test_the_real_paimon_reads_a_rescaled_table_and_writes_on(
    referee: Referee, tmp_path: Path
) -> None:
    path = golden("pk_string_buckets", tmp_path)
    before, table = ours(path), lakebed.load_table(str(path))
    snapshot = table.rescale(7)
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.OVERWRITE
    assert theirs(referee, path) == ours(path) == before
    referee.alter(path, [{"action": "setOption", "key": "bucket", "value": "7"}])
    rows = referee.read(path).rows
    referee.write(path, [["+I", *row] for row in rows])
    assert theirs(referee, path) == ours(path) == before
    lakebed.load_table(str(path)).upsert(arrow(table, before))
    assert theirs(referee, path) == before


def test_the_real_paimon_reads_rescaled_buckets_beside_rows_that_wait_for_theirs(
    referee: Referee, tmp_path: Path
) -> None:
    path = golden("pk_postpone", tmp_path)
    before, waiting = ours(path), waiting_files(path)
    table = lakebed.load_table(str(path))
    assert table.rescale(3) is not None
    assert waiting_files(path) == waiting
    assert theirs(referee, path) == ours(path) == before


def waiting_files(path: Path) -> list[str]:
    """The files of `bucket-postpone`."""
    table = lakebed.load_table(str(path))
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    live = table.parts().manifests.live(snapshot, partitions=EveryPartition())
    waiting = live.filter(pc.equal(live.column("bucket"), -2))
    return sorted(python_values(waiting.column("file_name")))


def test_the_real_paimon_reads_the_changelog_of_a_commit(referee: Referee, tmp_path: Path) -> None:
    path = golden("cl_input", tmp_path)
    table = lakebed.load_table(str(path))
    first = table.upsert(arrow(table, [(1, "new", "x"), (9001, "new", "y")]))
    assert first is not None
    assert first.changelog_record_count == 2
    second = table.overwrite(arrow(table, [(7, "over", "x")]), {"p": "x"})
    assert second is not None
    assert second.changelog_manifest_list is None
    read = referee.read(
        path,
        options={
            "incremental-between": f"{first.id - 1},{second.id}",
            "incremental-between-scan-mode": "changelog",
        },
    )
    assert sorted(zip(read.kinds, map(tuple, read.rows), strict=True)) == [
        ("+I", (1, "new", "x")),
        ("+I", (9001, "new", "y")),
    ]
