"""Tables that Lakebed and Flink's connector, 2.0.0, compact in turn, after each kind of compaction.

A script is carried out by Lakebed, another one by Flink, a last one by Lakebed. After each, both
must find the same rows, files and changes. Where writes compact, a twin of the table, to which
Flink alone did all three, must have got the same commits, levels, deletion vectors and changes.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import lakebed
from conformance.flink_scripts import CASES, PARTITIONS, Case, Step
from support.compaction_model import (
    COLUMNS,
    ENGINES,
    Replayed,
    State,
    Values,
    arrow,
    key_of,
)
from tools.peers.flink import Flink, name_of

pytestmark = pytest.mark.peers

NAMES = [name for name, _ in COLUMNS]
# Stand for nulls among literals; texts of one length need no padding.
NULLS = {"a": -1, "b": "--"}
# Of files: where they lie, and what a compaction made of them.
PLACED = ["partition", "bucket", "level", "record_count", "deleteRowCount", "file_source"]
FILES = [*PLACED, "file_path", "file_format", "schema_id", "file_size_in_bytes", "min_key"]
FILES += ["max_key", "min_sequence_number", "max_sequence_number"]
COUNTED = ["commit_kind", "delta_record_count", "changelog_record_count", "total_record_count"]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flink")


@pytest.fixture(scope="module")
def flink(warehouse: Path) -> Iterator[Flink]:
    lakebed.load_catalog(warehouse=str(warehouse)).create_database("db")
    flink = Flink(warehouse)
    yield flink
    flink.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What some commits left and told.

    Attributes:
        files: Where files lie and what they hold.
        vectors: How many files of a bucket have a deletion vector.
        commits: Of each commit its kind, and how many rows it brought, told and left.
        changes: The changes.
    """

    files: Counter[tuple[Any, ...]]
    vectors: Counter[tuple[Any, ...]]
    commits: list[tuple[Any, ...]]
    changes: Counter[tuple[Any, ...]]


@dataclass(slots=True)
class Twins:
    """A table, its model, and the table in which Flink is alone."""

    case: Case
    flink: Flink
    warehouse: Path
    name: str
    rows: State = field(default_factory=dict)

    def __post_init__(self) -> None:
        catalog = lakebed.load_catalog(warehouse=str(self.warehouse))
        engine = ENGINES[self.case.engine].options if self.case.engine else {}
        for table in self.tables:
            catalog.create_table(
                f"db.{table.name}",
                schema=lakebed.schema(COLUMNS),
                primary_key=["p", "id"] if self.case.engine else [],
                partition_by=["p"],
                options={"bucket": "1", **engine, **self.case.options},
            )

    @property
    def shared(self) -> Path:
        return self.warehouse / "db.db" / self.name

    @property
    def tables(self) -> list[Path]:
        twin = self.shared.with_name(f"{self.name}_twin")
        return [self.shared, twin] if self.case.with_twin else [self.shared]

    def carry_out(self, script: str, *, by_flink: bool) -> None:
        """Does what a script says, to all tables, and looks what they hold and tell."""
        before = {table: newest_id(table) for table in self.tables}
        for step in map(Step.parse, script.split("; ")):
            self._by_flink(self.tables if by_flink else self.tables[1:], step)
            if not by_flink:
                self._by_lakebed(step)
            self._model(step)
        assert sorted(map(tuple, self.flink.read(self.shared))) == self._wanted()
        files = system_table(self.shared, "files")
        columns = ", ".join(f"`{column}`" for column in FILES)
        theirs = [row[1:] for row in self.flink.ask(f"SELECT {columns} FROM {name_of(files)}")[1]]
        assert Counter(map(str, theirs)) == Counter(
            str([row[name] for name in FILES]) for row in read(files)
        )
        found = [self._look(table, after=before[table]) for table in self.tables]
        assert all(each == found[0] for each in found), found

    def follow(self) -> list[Values]:
        """All changes, in the order in which Flink gives them as a stream."""
        told = Counter(map(as_change, changes(self.shared, after=0)))
        log = name_of(system_table(self.shared, "audit_log"))
        hint = f"'incremental-between'='0,{newest_id(self.shared)}'"
        hint += ",'incremental-between-scan-mode'='changelog'"
        rows = self.flink.ask(f"SELECT * FROM {log} /*+ OPTIONS({hint}) */")[1]
        assert Counter(tuple(row[1:]) for row in rows) == told
        hint = "'scan.mode'='from-snapshot','scan.snapshot-id'='1'"
        hint += ",'continuous.discovery-interval'='20 ms'"
        rows = self.flink.follow(
            f"SELECT * FROM {name_of(self.shared)} /*+ OPTIONS({hint}) */", count=told.total()
        )
        assert Counter(map(tuple, rows)) == told
        return [dict(zip(["rowkind", *NAMES], row, strict=True)) for row in rows]

    def _wanted(self) -> list[tuple[Any, ...]]:
        return sorted(map(as_tuple, self.rows.values()))

    def _look(self, table: Path, *, after: int) -> Seen:
        assert sorted(map(as_tuple, read(table))) == self._wanted()
        files = read(system_table(table, "files"))
        commits = read(system_table(table, "snapshots"))
        return Seen(
            files=Counter(tuple(row[name] for name in PLACED) for row in files),
            vectors=Counter(
                (row["partition"], row["bucket"], row["row_count"])
                for row in read(system_table(table, "table_indexes"))
                # Flink keeps an index file when its last vector is gone.
                if row["row_count"]
            ),
            commits=[
                tuple(row[name] for name in COUNTED)
                for row in commits
                if row["snapshot_id"] > after
            ],
            changes=Counter(map(as_change, changes(table, after=after)))
            if self.case.tells_changes
            else Counter(),
        )

    def _by_flink(self, tables: Sequence[Path], step: Step) -> None:
        names = [name_of(table) for table in tables]
        if not names:
            return
        if step.word == "write":
            inserts = (f"INSERT INTO {name} {query(step.rows)};" for name in names)
            self.flink.ask(f"EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END")
        elif step.word == "delete":
            for name in names:
                self.flink.ask(f"DELETE FROM {name} WHERE {step.condition}")
        else:
            for table in tables:
                arguments = f"`table` => 'db.{table.name}', compact_strategy => '{step.word}'"
                self.flink.ask(f"CALL lake.sys.compact({arguments})")

    def _by_lakebed(self, step: Step) -> None:
        table = lakebed.load_table(str(self.shared))
        if step.word == "write":
            (table.upsert if self.case.engine else table.append)(arrow(step.rows))
        elif step.word == "delete":
            table.delete(step.condition)
        else:
            table.compact("full" if step.word == "full" else "minor")

    def _model(self, step: Step) -> None:
        if step.word == "delete":
            self.rows = {key: row for key, row in self.rows.items() if key[1] not in step.ids}
        fold = ENGINES[self.case.engine or "deduplicate"].fold
        assert fold is not None
        for row in step.rows if step.word == "write" else []:
            held = self.rows.get(key_of(row))
            self.rows[key_of(row)] = row if held is None else fold(held, row)


def system_table(table: Path, name: str) -> Path:
    return table.with_name(f"{table.name}${name}")


def read(table: Path) -> list[Values]:
    rows: list[Values] = lakebed.load_table(str(table)).scan().to_arrow().to_pylist()
    return rows


def changes(table: Path, *, after: int) -> list[Values]:
    """What the commits since a snapshot told of, in Lakebed."""
    log = lakebed.load_table(str(system_table(table, "audit_log")))
    scan = log.scan(incremental=(after, newest_id(table)), incremental_mode="changelog")
    rows: list[Values] = scan.to_arrow().to_pylist()
    return rows


def levels(table: Path) -> list[int]:
    """The levels of files of the first partition."""
    files = read(system_table(table, "files"))
    return sorted(row["level"] for row in files if PARTITIONS[0] in row["partition"])


def newest_id(table: Path) -> int:
    snapshot = lakebed.load_table(str(table)).latest_snapshot()
    return 0 if snapshot is None else snapshot.id


def query(rows: Sequence[Values]) -> str:
    """Rows in SQL. Casts among them would make a source of each."""
    columns = ", ".join(NAMES)
    values = ", ".join(
        str(tuple(NULLS[name] if row[name] is None else row[name] for name in NAMES))
        for row in rows
    )
    selected = (f"NULLIF({name}, {NULLS[name]!r})" if name in NULLS else name for name in NAMES)
    return f"SELECT {', '.join(selected)} FROM (VALUES {values}) AS v ({columns})"


def as_tuple(row: Values) -> tuple[Any, ...]:
    return tuple(row[name] for name in NAMES)


def as_change(row: Values) -> tuple[Any, ...]:
    return row["rowkind"], *as_tuple(row)


@pytest.mark.parametrize("name", CASES)
def test_flink_and_lakebed_compact_in_turn_as_flink_alone(
    name: str, *, flink: Flink, warehouse: Path
) -> None:
    case = CASES[name]
    twins = Twins(case, flink, warehouse, f"t{list(CASES).index(name)}")
    twins.carry_out(case.first, by_flink=False)
    assert levels(twins.shared) == case.levels
    twins.carry_out(case.second, by_flink=True)
    twins.carry_out(case.third, by_flink=False)
    if case.tells_changes:
        told = twins.follow()
        assert replay(told, is_whole=case.options["changelog-producer"] != "input") == twins.rows


def replay(told: Sequence[Values], *, is_whole: bool) -> State:
    """What a reader of the changes knows at last; whole ones take back what they replace."""
    replayed = Replayed(NAMES, skips_same=False, keeps_kinds=False)
    if is_whole:
        replayed.take(told)
        return replayed.rows
    rows: State = {}
    for row in told:
        rows.pop(key_of(row), None)
        if row["rowkind"] != "-D":
            rows[key_of(row)] = replayed.seen(row)
    return rows
