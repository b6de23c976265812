"""Tables that Lakebed and the real Paimon write and cluster in turn.

Without buckets Paimon clusters in Spark and Flink alone: its planner says what it would cluster
next, and Flink (2.0.0) does it. With buckets its writers (1.4.2) cluster.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.format.snapshot import CommitKind
from lakebed.table.compaction.job import compaction_job
from lakebed.table.metadata.partitions import EveryPartition
from support.marked_tables import live_files, newest
from tools.peers.flink import Flink
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

COLUMNS = [("p", "INT"), ("a", "INT"), ("b", "STRING"), ("note", "STRING")]
CLUSTERED = {
    "clustering.incremental": "true",
    "clustering.columns": "a,b",
    "num-sorted-run.compaction-trigger": "3",
    "compaction.max-size-amplification-percent": "1000",
}
KINDS = {
    "order": {"clustering.strategy": "order"},
    "z-order": {"target-file-row-num": "20"},
    "hilbert": {"clustering.strategy": "hilbert", "num-levels": "6"},
    "local-sort": {"clustering.incremental.mode": "local-sort", "source.split.target-size": "1 b"},
    "deletion vectors": {"deletion-vectors.enabled": "true"},
    "avro": {"file.format": "avro"},
}
BUCKETED = {"bucket": "2", "bucket-key": "note", "bucket-append-ordered": "false"}
TURNS = 10


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def create(path: Path, options: dict[str, str]) -> lakebed.Table:
    catalog = lakebed.load_catalog(warehouse=str(path.parent.parent))
    catalog.create_database("db", ignore_if_exists=True)
    return catalog.create_table(
        f"db.{path.name}",
        schema=lakebed.schema(COLUMNS),
        partition_by=["p"],
        options={**CLUSTERED, **options},
    )


def drawn_rows(lot: Random, turn: int) -> list[list[object]]:
    count = lot.choice([3, 10, 40, 200]) if turn else 2000
    return [
        [
            lot.randrange(2),
            lot.choice([None, lot.randrange(50)]),
            f"b{lot.randrange(9)}",
            f"{turn}-{n}",
        ]
        for n in range(count)
    ]


def write(referee: Referee, table: lakebed.Table, rows: list[list[object]], *, java: bool) -> None:
    if java:
        referee.write(Path(table.location), [["+I", *row] for row in rows])
    else:
        write_by_lakebed(table, rows)


def write_by_lakebed(table: lakebed.Table, rows: list[list[object]]) -> None:
    types = [pa.int32(), pa.int32(), pa.string(), pa.string()]
    columns = [
        pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), types, strict=True)
    ]
    table.append(pa.table(columns, names=[name for name, _ in COLUMNS]))


def is_deleted(row: list[Any], turn: int) -> bool:
    return row[3].startswith(f"{turn}-") and row[1] is not None and row[1] < 20


def ours(table: lakebed.Table) -> list[str]:
    return sorted(repr(list(row.values())) for row in table.scan().to_arrow().to_pylist())


def check_rows(referee: Referee, table: lakebed.Table, expected: list[list[object]]) -> None:
    theirs = referee.read(Path(table.location)).rows
    assert ours(table) == sorted(map(repr, theirs)) == sorted(map(repr, expected))


def picked(table: lakebed.Table, strategy: str) -> list[tuple[int, list[str]]]:
    """What Lakebed would cluster of each partition: the level and the names."""
    job = compaction_job(table.parts(), strategy, EveryPartition())
    found: dict[str, tuple[int, list[str]]] = {}
    for each in job.compactions:
        names = found.setdefault(each.directory, (each.output_level, []))[1]
        names.extend(meta.file_name for meta in each.pick.files)
    return sorted((level, sorted(names)) for level, names in found.values())


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_the_real_paimon_reads_what_lakebed_clustered_and_would_cluster_the_same_next(
    referee: Referee, tmp_path: Path, options: dict[str, str]
) -> None:
    path = tmp_path / "db.db" / "t"
    table = create(path, options)
    lot = Random(len(options))
    rows: list[list[object]] = []
    met: set[int] = set()
    for turn in range(TURNS):
        new = drawn_rows(lot, turn)
        write(referee, table, new, java=turn % 2 == 1)
        rows += new
        if "deletion-vectors.enabled" in options and turn % 3 == 2:
            table.delete(f"note LIKE '{turn - 1}-%' AND a < 20")
            rows = [row for row in rows if not is_deleted(row, turn - 1)]
        for strategy in ("minor", "full"):
            theirs = referee.clustering(path, full=strategy == "full")
            expected = sorted((level, sorted(names)) for level, names in theirs)
            assert picked(table, strategy) == expected, f"turn {turn}, {strategy}"
        snapshot = table.compact("full" if turn == TURNS // 2 else "minor")
        assert snapshot is None or snapshot.commit_kind is CommitKind.COMPACT
        check_rows(referee, table, rows)
        met.update(live_files(table).values())
    assert len(met) >= 3, f"files stood on several levels: {met}"


def test_writers_of_the_real_paimon_go_on_clustering_buckets(
    referee: Referee, tmp_path: Path
) -> None:
    path = tmp_path / "db.db" / "t"
    table = create(path, BUCKETED)
    lot = Random(5)
    rows: list[list[object]] = []
    by_java = {True: 0, False: 0}
    for turn in range(TURNS):
        new = drawn_rows(lot, turn)
        java = turn % 4 < 2
        write(referee, table, new, java=java)
        rows += new
        if turn % 5 == 4:
            if java:
                referee.compact(path, full=True)
            else:
                table.compact("full")
            assert set(live_files(table).values()) == {3}
        by_java[java] += newest(table).commit_kind is CommitKind.COMPACT
        check_rows(referee, table, rows)
    assert min(by_java.values()) >= 2, f"both have clustered: {by_java}"


def test_flink_goes_on_clustering_a_table_without_buckets(tmp_path: Path) -> None:
    flink = Flink(tmp_path)
    try:
        table = create(tmp_path / "db.db" / "t", {"target-file-row-num": "500"})
        lot = Random(7)
        rows: list[list[object]] = []
        for turn in range(6):
            for part in range(3):
                new = drawn_rows(lot, 3 * turn + part)
                write_by_lakebed(table, new)
                rows += new
            strategy = "full" if turn == 3 else "minor"
            planned = picked(table, strategy)
            before = live_files(table)
            if turn % 2:
                arguments = f"`table` => 'db.t', compact_strategy => '{strategy}'"
                flink.ask(f"CALL lake.sys.compact({arguments})")
            else:
                table.compact("full" if turn == 3 else "minor")
            after = live_files(table)
            assert before.keys() - after.keys() == {name for _, names in planned for name in names}
            assert {after[name] for name in after.keys() - before} == {
                level for level, _ in planned
            }
            theirs = flink.read(Path(table.location))
            assert sorted(map(repr, theirs)) == sorted(map(repr, rows)) == ours(table)
    finally:
        flink.close()
