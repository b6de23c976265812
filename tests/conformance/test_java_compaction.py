"""Tables that Lakebed and the real Paimon 1.4.2 compact in turn, beside those that it has alone.

Each step writes rows of every kind and compacts. Of a table in turns the odd steps are Lakebed's;
another table of the same rows is the real engine's alone. Both must tell the same changes after
each step, row by row.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.format.snapshot import Snapshot
from support.compaction_histories import LEVELS, History
from support.compaction_model import COLUMNS, ENGINES, arrow
from tools.peers.referee import Answer, Referee

pytestmark = pytest.mark.peers

Rows = list[tuple[object, ...]]
NAMES = [name for name, _ in COLUMNS]
STEP_COUNT = 5
# One batch is no engine's matter, and early full compactions depend on the clock and on sizes.
NOT_TRIED = {
    "write-buffer-size",
    "write-buffer-spillable",
    "compaction.total-size-threshold",
    "compaction.optimization-interval",
}
KINDS = [
    (engine, producer)
    for engine, known in ENGINES.items()
    for producer in known.producers
    if producer != "input"
]
TAKING_BACK = [kind for kind in KINDS if kind[1] != "none" and ENGINES[kind[0]].removals]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def create(
    path: Path, options: Mapping[str, str], *, key: list[str], partition: list[str]
) -> lakebed.Table:
    catalog = lakebed.load_catalog(warehouse=str(path.parent.parent))
    catalog.create_database("db", ignore_if_exists=True)
    return catalog.create_table(
        f"db.{path.name}",
        schema=lakebed.schema(COLUMNS),
        primary_key=key,
        partition_by=partition,
        options=options,
    )


def compact_by_lakebed(path: Path, *, full: bool) -> Snapshot | None:
    return lakebed.load_table(str(path)).compact("full" if full else "minor")


def told_to_java(rows: pa.Table) -> list[list[object]]:
    """Rows as the referee takes them."""
    kinds = rows.column("_row_kind").to_pylist() if "_row_kind" in rows.column_names else None
    listed = rows.select(NAMES).to_pylist()
    return [
        ["+I" if kinds is None else kinds[place], *(java_value(row, name) for name in NAMES)]
        for place, row in enumerate(listed)
    ]


def java_value(row: Mapping[str, Any], name: str) -> object:
    """A BIGINT is a text there."""
    is_long = name in {"a", "g"} and row[name] is not None
    return str(row[name]) if is_long else row[name]


def rows_of_java(answer: Answer) -> list[dict[str, Any]]:
    names = [name for name, _ in answer.columns]
    rows = [dict(zip(names, row, strict=True)) for row in answer.rows]
    for row in rows:
        row.update({name: int(row[name]) for name in ("a", "g") if row[name] is not None})
    return rows


def by_key(rows: list[dict[str, Any]], *more: str) -> Rows:
    """Rows in key order; of one key those that take back before others."""
    ordered = sorted(
        rows, key=lambda row: (row["id"], row["p"], row.get("rowkind", "").startswith("+"))
    )
    return [tuple(row[name] for name in (*more, *NAMES)) for row in ordered]


def read(referee: Referee, path: Path) -> Rows:
    """What both read of a table."""
    theirs = by_key(rows_of_java(referee.read(path)))
    ours = by_key(lakebed.load_table(str(path)).scan().to_arrow().to_pylist())
    assert ours == theirs
    return theirs


def changes(referee: Referee, path: Path, *, after: int) -> Rows:
    """The changelog from a snapshot on, in which both read the same."""
    newest = newest_id(path)
    log = path.with_name(f"{path.name}$audit_log")
    options = {
        "incremental-between": f"{after},{newest}",
        "incremental-between-scan-mode": "changelog",
    }
    theirs = by_key(rows_of_java(referee.read(log, options=options)), "rowkind")
    scan = lakebed.load_table(str(log)).scan(
        incremental=(after, newest), incremental_mode="changelog"
    )
    assert by_key(scan.to_arrow().to_pylist(), "rowkind") == theirs
    return theirs


def newest_id(path: Path) -> int:
    snapshot = lakebed.load_table(str(path)).latest_snapshot()
    return 0 if snapshot is None else snapshot.id


def levels(referee: Referee, path: Path) -> set[int]:
    files = referee.read(path.with_name(f"{path.name}$files"), columns=["level"])
    return {row[0] for row in files.rows}


def placed(referee: Referee, path: Path) -> Rows:
    """The level and the row count of each file."""
    columns = ["partition", "bucket", "level", "record_count"]
    files = referee.read(path.with_name(f"{path.name}$files"), columns=columns)
    return sorted(map(tuple, files.rows))


class Pair:
    """A table that both write and compact in turn, and one that is the real engine's alone."""

    def __init__(self, referee: Referee, directory: Path, kind: tuple[str, str]) -> None:
        engine, self.producer = kind
        self.hides_level_0 = engine == "first-row" or self.producer == "lookup"
        self.history = History(KINDS.index(kind), engine=engine, producer="none", may_mark=False)
        drawn = self.history.options.items()
        options = {key: text for key, text in drawn if key not in NOT_TRIED}
        options["changelog-producer"] = self.producer
        # Who wrote an Avro file makes no difference to its size, on which picks depend; but Paimon
        # looks at sizes only now and then while it rolls to another file.
        self.has_equal_sizes = not options.keys() & {"target-file-size", "target-file-row-num"}
        if self.has_equal_sizes:
            options |= {"file.format": "avro", "file.compression": "null"}
            options.pop("file.format.per.level", None)
        if KINDS.index(kind) % 2:
            options["changelog-producer.row-deduplicate"] = "true"
        self.referee = referee
        self.shared, self.alone = (directory / "db.db" / name for name in ("shared", "alone"))
        partition = ["p"] if self.history.is_partitioned else []
        for path in (self.shared, self.alone):
            create(path, options, key=["id", "p"], partition=partition)

    def take(self, rows: pa.Table, *, by_lakebed: bool, full: bool) -> None:
        """Both get rows and are compacted, and must hold and tell the same."""
        before = {path: newest_id(path) for path in (self.shared, self.alone)}
        for path in (self.shared, self.alone):
            if by_lakebed and path == self.shared:
                lakebed.load_table(str(path)).upsert(rows)
                compact_by_lakebed(path, full=full)
            else:
                self.referee.write(path, told_to_java(rows))
                self.referee.compact(path, full=full)
        assert read(self.referee, self.shared) == read(self.referee, self.alone)
        if self.has_equal_sizes:
            assert placed(self.referee, self.shared) == placed(self.referee, self.alone)
        found = levels(self.referee, self.shared)
        assert found <= ({LEVELS - 1} if full else set(range(LEVELS)))
        assert not (self.hides_level_0 and 0 in found)
        if self.producer != "none":
            told = changes(self.referee, self.shared, after=before[self.shared])
            assert told == changes(self.referee, self.alone, after=before[self.alone])


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_compactions_in_turn_leave_the_rows_levels_and_changes_of_the_real_engine_alone(
    kind: tuple[str, str], *, referee: Referee, tmp_path: Path
) -> None:
    pair = Pair(referee, tmp_path, kind)
    for step in range(STEP_COUNT):
        full = pair.producer == "full-compaction" or step % 3 == 2
        pair.take(pair.history.model.change(), by_lakebed=step % 2 == 0, full=full)


@pytest.mark.parametrize("kind", TAKING_BACK, ids="-".join)
def test_rows_that_take_back_what_is_not_there_make_the_changes_of_the_real_engine(
    kind: tuple[str, str], *, referee: Referee, tmp_path: Path
) -> None:
    pair = Pair(referee, tmp_path, kind)
    removals = pair.history.engine.removals
    for step in range(3):
        rows = pair.history.model.drawn()
        kinds = [("+I", "+U", *removals)[n % (2 + len(removals))] for n in range(len(rows))]
        changed = arrow(rows).append_column("_row_kind", pa.array(kinds, pa.string()))
        pair.take(changed, by_lakebed=step % 2 == 0, full=True)


@pytest.mark.parametrize(
    "options",
    [
        {"bucket": "-1", "file.format": "avro"},
        {"bucket": "2", "bucket-key": "id", "file.format": "orc"},
    ],
    ids=["without buckets", "in buckets"],
)
def test_append_tables_compacted_in_turn_keep_their_rows_in_fewer_files(
    options: dict[str, str], *, referee: Referee, tmp_path: Path
) -> None:
    path = tmp_path / "db.db" / "t"
    small = {"compaction.min.file-num": "3", "write-only": "true"}
    create(path, options | small, key=[], partition=["p"])
    numbers = count()
    expected: list[dict[str, Any]] = []

    def drawn() -> pa.Table:
        rows = [
            {"id": n, "p": f"p{n % 2}", "a": n, "b": None if n % 5 == 0 else f"b{n}", "g": None}
            for n in (next(numbers) for _ in range(40))
        ]
        expected.extend(rows)
        return arrow(rows)

    for full in (False, True, True):
        for _ in range(4):
            lakebed.load_table(str(path)).append(drawn())
        many = file_count(referee, path)
        assert compact_by_lakebed(path, full=full) is not None
        assert file_count(referee, path) < many
        assert read(referee, path) == by_key(expected)
        for _ in range(4):
            referee.write(path, told_to_java(drawn()))
        many = file_count(referee, path)
        referee.compact(path, full=True)
        assert file_count(referee, path) < many
        assert read(referee, path) == by_key(expected)


def file_count(referee: Referee, path: Path) -> int:
    return len(referee.read(path.with_name(f"{path.name}$files"), columns=["level"]).rows)
