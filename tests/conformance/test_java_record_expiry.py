"""Record-level expire, by Lakebed and the real Paimon 1.4.2 in turn, beside tables it has alone.

Rows are young, of no age, or so old that they expire all at once when the option changes; so the
moment of a compaction does not matter. Both tables hold and tell the same after each step.

With deletion vectors nothing is merged when reading, and there the real engine shows a key twice:
its lookup does not see the expired row of a file that stays, so it does not mark it. Lakebed marks
the expired rows of every file that it looks into, so its table is its own.
"""

import random
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.format.arrow.types import to_arrow_schema
from tools.peers.referee import Answer, Referee

pytestmark = pytest.mark.peers

STEP_COUNT = 7
EXPIRING_STEP = 4
IDS = 12
# INT is in seconds, BIGINT in milliseconds.
TIMES: dict[str, list[int | None]] = {
    "INT": [1_000_000_000, 1_000_000_000, 2_000_000_000, None],
    "BIGINT": [1_000_000_000_000, 1_000_000_000_000, 2_000_000_000_000, None],
}
ENGINES: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "sequence-field": {"sequence.field": "n"},
    "partial-update": {"merge-engine": "partial-update"},
    "aggregation": {"merge-engine": "aggregation", "fields.n.aggregate-function": "sum"},
    "first-row": {"merge-engine": "first-row"},
}
PRODUCERS: dict[str, dict[str, str]] = {
    "none": {},
    "lookup": {"changelog-producer": "lookup"},
    "full-compaction": {"changelog-producer": "full-compaction"},
    "vectors": {"deletion-vectors.enabled": "true"},
    "lookup with vectors": {"deletion-vectors.enabled": "true", "changelog-producer": "lookup"},
}
# The real engine reads a key of a table with lookup from its newest level alone; with a sequence
# field Lakebed may find the row that won in an older one, until a compaction takes it out.
NOT_TRIED = {
    ("sequence-field", "lookup"),
    *(("first-row", producer) for producer in PRODUCERS if producer not in {"none", "lookup"}),
}
KINDS = [kind for kind in product(ENGINES, PRODUCERS) if kind not in NOT_TRIED]
EXPIRING = {"action": "setOption", "key": "record-level.expire-time", "value": "1 d"}
Rows = list[tuple[object, ...]]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def columns(time_type: str) -> list[tuple[str, str]]:
    return [("id", "INT NOT NULL"), ("v", "STRING"), ("n", "BIGINT"), ("t", time_type)]


def create(path: Path, time_type: str, options: Mapping[str, str]) -> None:
    catalog = lakebed.load_catalog(warehouse=str(path.parent.parent))
    catalog.create_database("db", ignore_if_exists=True)
    catalog.create_table(
        f"db.{path.name}",
        schema=lakebed.schema(columns(time_type)),
        primary_key=["id"],
        options={
            "bucket": "1",
            "write-only": "true",
            "num-levels": "3",
            "num-sorted-run.compaction-trigger": "2",
            # Sizes of files are each writer's own, and shall not decide what is compacted.
            "compaction.size-ratio": "-100",
            "compaction.max-size-amplification-percent": "1000000",
            "record-level.expire-time": "99999 d",
            "record-level.time-field": "t",
            **options,
        },
    )


def drawn(chance: random.Random, time_type: str, *, deletes: bool) -> list[dict[str, Any]]:
    return [
        {
            "_row_kind": chance.choice(["+I", "+U", "+I", "-D"] if deletes else ["+I", "+U"]),
            "id": number,
            "v": chance.choice(["u", "v", None]),
            "n": chance.choice([1, 2, 3]),
            "t": chance.choice(TIMES[time_type]),
        }
        for number in sorted(chance.sample(range(IDS), chance.randint(IDS // 2, IDS)))
    ]


def write_by_lakebed(path: Path, time_type: str, rows: list[dict[str, Any]]) -> None:
    schema = to_arrow_schema(lakebed.schema(columns(time_type)).fields)
    data = pa.Table.from_pylist(rows, schema=schema.append(pa.field("_row_kind", pa.string())))
    lakebed.load_table(str(path)).upsert(data)


def write_by_java(
    referee: Referee, path: Path, time_type: str, *, rows: list[dict[str, Any]]
) -> None:
    is_long = {"n": True, "t": time_type == "BIGINT"}
    told = [
        [
            str(value) if is_long.get(name) and value is not None else value
            for name, value in row.items()
        ]
        for row in rows
    ]
    referee.write(path, told)


def listed(rows: list[dict[str, Any]], *more: str) -> Rows:
    """Rows in order; a BIGINT comes as text from one side."""
    found = [
        (
            row["id"],
            *(row[name] for name in more),
            row["v"],
            *(None if row[name] is None else int(row[name]) for name in ("n", "t")),
        )
        for row in rows
    ]
    return sorted(found, key=repr)


def of_java(answer: Answer) -> list[dict[str, Any]]:
    names = [name for name, _ in answer.columns]
    return [dict(zip(names, row, strict=True)) for row in answer.rows]


def held(referee: Referee, path: Path) -> Rows:
    """The rows, which both read alike."""
    theirs = listed(of_java(referee.read(path)))
    assert listed(lakebed.load_table(str(path)).scan().to_arrow().to_pylist()) == theirs
    return theirs


def told_after(referee: Referee, path: Path, snapshot_id: int) -> Rows:
    """The changelog from a snapshot on, which both read alike."""
    newest = newest_id(path)
    log = path.with_name(f"{path.name}$audit_log")
    answer = referee.read(
        log,
        options={
            "incremental-between": f"{snapshot_id},{newest}",
            "incremental-between-scan-mode": "changelog",
        },
    )
    theirs = listed(of_java(answer), "rowkind")
    scan = lakebed.load_table(str(log)).scan(
        incremental=(snapshot_id, newest), incremental_mode="changelog"
    )
    assert listed(scan.to_arrow().to_pylist(), "rowkind") == theirs
    return theirs


def newest_id(path: Path) -> int:
    snapshot = lakebed.load_table(str(path)).latest_snapshot()
    return 0 if snapshot is None else snapshot.id


def levels(referee: Referee, path: Path) -> list[int]:
    answer = referee.read(path.with_name(f"{path.name}$files"), columns=["level"])
    return sorted(row[0] for row in answer.rows)


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_expired_rows_go_and_are_told_as_the_real_engine_does_it(
    kind: tuple[str, str], *, referee: Referee, tmp_path: Path
) -> None:
    engine, producer = kind
    time_type = list(TIMES)[KINDS.index(kind) % len(TIMES)]
    shared, alone = (tmp_path / "db.db" / name for name in ("shared", "alone"))
    options = {**ENGINES[engine], **PRODUCERS[producer]}
    has_vectors = "deletion-vectors.enabled" in options
    for path in (shared, alone):
        create(path, time_type, options)
    chance = random.Random(str(kind))
    expected: Rows = []
    old = TIMES[time_type][0]
    for step in range(STEP_COUNT):
        if step == EXPIRING_STEP:
            for path in (shared, alone):
                assert old in {row[-1] for row in held(referee, path)}
                referee.alter(path, [EXPIRING])
        before = {path: newest_id(path) for path in (shared, alone)}
        full = producer == "full-compaction" or step % 3 == 0
        deletes = engine in {"deduplicate", "sequence-field"} and step % 2 == 0
        rows = drawn(chance, time_type, deletes=deletes)
        for path in (shared, alone):
            if path == shared and (has_vectors or step % 2 == 0):
                write_by_lakebed(path, time_type, rows)
                lakebed.load_table(str(path)).compact("full" if full else "minor")
            else:
                write_by_java(referee, path, time_type, rows=rows)
                referee.compact(path, full=full)
        expected = held(referee, alone)
        found = held(referee, shared)
        if has_vectors:
            assert len({row[0] for row in found}) == len(found), "a key is there twice"
            expected = [row for row in expected if row in found or row[-1] != old]
        assert found == expected, f"step {step}"
        assert levels(referee, shared) == levels(referee, alone)
        if "changelog-producer" in options:
            told = told_after(referee, alone, before[alone])
            assert told_after(referee, shared, before[shared]) == told, f"step {step}"
    assert old not in {row[-1] for row in expected}
