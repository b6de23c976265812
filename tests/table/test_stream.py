"""A table as a stream in process: what is there, then each change, in order and once."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from lakebed.changes import AddColumn, ChangeColumnType, RenameColumn
from lakebed.errors import InvalidArgumentError, InvalidDataError, NotFoundError, UnsupportedError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import EPOCH_MS, fixed_effects, open_catalog
from support.watermarks import put_watermark

ROWS = schema([("k", "INT NOT NULL"), ("v", "INT")])
KEYED = {"bucket": "2", "num-sorted-run.compaction-trigger": "100"}
PRODUCERS = {
    "none": {},
    "input": {"changelog-producer": "input"},
    "lookup": {"changelog-producer": "lookup"},
    "full-compaction": {"changelog-producer": "full-compaction"},
    "marked": {"deletion-vectors.enabled": "true", "changelog-producer": "lookup"},
}
Model = dict[int, int]


def keyed(options: dict[str, str] | None = None) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t", schema=ROWS, primary_key=["k"], options={**KEYED, **(options or {})}
    )


def append_only() -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table("db.t", schema=ROWS)


def rows(*pairs: tuple[int, int]) -> pa.Table:
    return pa.table({"k": [k for k, _ in pairs], "v": [v for _, v in pairs]})


def told(batches: Iterator[pa.RecordBatch]) -> list[tuple[str, int, int]]:
    return [(row["_row_kind"], row["k"], row["v"]) for b in batches for row in b.to_pylist()]


def applied(batches: Iterator[pa.RecordBatch], model: Model | None = None) -> Model:
    """What a reader holds who does what each row says."""
    found: Model = dict(model or {})
    for kind, key, value in told(batches):
        if kind in {"+I", "+U"}:
            found[key] = value
        elif kind == "-D":
            found.pop(key, None)
    return found


def held(table: Table) -> Model:
    return {row["k"]: row["v"] for row in table.scan().to_arrow().to_pylist()}


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize("seed", range(4))
def test_who_does_what_a_stream_says_holds_the_table(producer: str, seed: int) -> None:
    chance = random.Random(seed)
    table = keyed(PRODUCERS[producer])
    model: Model = {}
    next_id: int | None = None
    for _ in range(12):
        action = chance.choice(["upsert", "upsert", "upsert", "delete", "compact", "follow"])
        if action == "upsert":
            keys = chance.sample(range(20), 5)
            table.upsert(rows(*((key, chance.randrange(1000)) for key in keys)))
        elif action == "delete":
            table.delete(f"k IN ({', '.join(map(str, chance.sample(range(20), 4)))})")
        elif action == "compact":
            table.compact(compact_strategy="full")
        else:
            model = applied(table.stream(next_id, until="latest"), model)
            newest = table.latest_snapshot()
            next_id = newest.id + 1 if newest else None
    table.compact(compact_strategy="full")
    model = applied(table.stream(next_id, until="latest"), model)
    assert model == held(table)


def test_the_snapshot_comes_first_and_all_of_it_is_new() -> None:
    table = keyed()
    table.upsert(rows((1, 10), (2, 20)))
    table.upsert(rows((1, 11)))
    table.delete("k = 2")
    assert told(table.stream(until="latest")) == [("+I", 1, 11)]


def test_changes_come_as_they_were_committed() -> None:
    table = keyed({"bucket": "1"})
    table.upsert(rows((1, 10), (2, 20)))
    table.upsert(rows((1, 11)))
    table.compact()
    table.delete("k = 2")
    assert told(table.stream(1, until="latest")) == [
        *(("+I", 1, 10), ("+I", 2, 20)),
        ("+I", 1, 11),
        ("-D", 2, 20),
    ]
    assert told(table.stream(2, until=2)) == [("+I", 1, 11)]


def test_a_changelog_tells_what_was_before() -> None:
    table = keyed({"bucket": "1", "changelog-producer": "full-compaction"})
    for value in (10, 11):
        table.upsert(rows((1, value)))
        table.compact(compact_strategy="full")
    changes = told(table.stream(1, until="latest"))
    assert changes == [("+I", 1, 10), ("-U", 1, 10), ("+U", 1, 11)]


def test_level_0_of_a_lookup_table_comes_with_its_changelog_and_not_before() -> None:
    table = keyed({"bucket": "1", "changelog-producer": "lookup", "write-only": "true"})
    table.upsert(rows((1, 10)))
    table.upsert(rows((2, 20)))
    stream = table.stream(until="latest")
    assert told(stream) == []
    compacting = replace(
        table,
        schema=replace(
            table.schema,
            options={k: v for k, v in table.options.items() if k != "write-only"},
        ),
    )
    compacting.compact(compact_strategy="full")
    assert told(table.stream(3, until="latest")) == [("+I", 1, 10), ("+I", 2, 20)]


def test_columns_and_rows_are_chosen() -> None:
    table = append_only()
    table.append(rows((1, 10), (2, 20), (3, 30)))
    (batch,) = table.stream(until="latest", columns=["v"], where="k > 2")
    assert batch.to_pylist() == [{"v": 30, "_row_kind": "+I"}]


MODES = [
    ({}, [10, 20, 30, 40]),
    ({"scan.mode": "latest-full"}, [10, 20, 30, 40]),
    ({"scan.mode": "latest"}, [40]),
    ({"scan.snapshot-id": "2"}, [20, 30, 40]),
    ({"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2"}, [10, 20, 30, 40]),
    ({"scan.mode": "from-snapshot", "scan.snapshot-id": "9"}, []),
]


@pytest.mark.parametrize(("options", "expected"), MODES, ids=str)
def test_a_stream_begins_where_its_options_say(
    options: dict[str, str], expected: list[int]
) -> None:
    table = append_only()
    for value in (10, 20, 30):
        table.append(rows((1, value)))
    following = table.following(options=options)
    start = following.beginning.find()
    table.append(rows((1, 40)))
    found: list[int] = []
    while (step := following.next_step(start)) is not None:
        for split in step.splits[step.first :]:
            found += [row["v"] for b in step.reader.read(split) for row in b.to_pylist()]
        start = step.end
    assert found == expected


def test_a_time_is_where_the_changes_from_then_on_begin() -> None:
    table = append_only()
    for value in (10, 20, 30):
        table.append(rows((1, value)))
    second = table.snapshots()[1].time_millis
    for time, expected in ((second, [20, 30]), (second + 1, [30]), (EPOCH_MS, [10, 20, 30])):
        options = {"scan.timestamp-millis": str(time)}
        assert [v for _, _, v in told(table.stream(until="latest", options=options))] == expected


FILE_TIMES = ["scan.file-creation-time-millis", "scan.creation-time-millis"]


@pytest.mark.parametrize("option", FILE_TIMES)
def test_where_older_snapshots_expired_a_time_chooses_files_of_the_newest(option: str) -> None:
    table = append_only()
    for value in (10, 20, 30):
        table.append(rows((1, value)))
    after_second = table.snapshots()[1].time_millis + 1
    table.expire_snapshots(retain_max=1, retain_min=1)
    options = {option: str(after_second)}
    following = table.following(options=options)
    start = following.beginning.find()
    assert [v for _, _, v in told(table.stream(until="latest", options=options))] == [30]
    table.append(rows((1, 40)))
    step = following.next_step(start)
    assert step is not None
    assert (step.snapshot.id, step.is_full, len(step.splits)) == (3, True, 1)


def test_a_time_of_files_wants_the_newest_snapshot_where_older_ones_are_there_too() -> None:
    table = append_only()
    for value in (10, 20, 30):
        table.append(rows((1, value)))
    after_second = table.snapshots()[1].time_millis + 1
    for option, full in zip(FILE_TIMES, (True, False), strict=True):
        options = {option: str(after_second)}
        assert table.following(options=options).beginning.find().is_full is full
        assert [v for _, _, v in told(table.stream(until="latest", options=options))] == [30]


def test_a_stream_of_a_table_without_snapshots_waits_for_the_first() -> None:
    table = append_only()
    assert told(table.stream(until="latest")) == []
    table.append(rows((1, 10)))
    assert told(table.stream(until=1)) == [("+I", 1, 10)]


def test_a_stream_waits_for_what_is_still_to_come() -> None:
    effects = fixed_effects()
    table = append_only()
    waits: list[float] = []

    def write_meanwhile(milliseconds: float) -> None:
        waits.append(milliseconds)
        table.append(rows((len(waits), 0)))

    session = replace(table.session, effects=replace(effects, sleep_ms=write_meanwhile))
    follower = replace(table, session=session)
    options = {"continuous.discovery-interval": "3 s"}
    assert told(follower.stream(until=2, options=options)) == [("+I", 1, 0), ("+I", 2, 0)]
    assert waits == [3000, 3000]


def test_an_overwrite_shows_only_where_it_is_wanted() -> None:
    table = keyed()
    table.upsert(rows((1, 10), (2, 20)))
    table.overwrite(rows((2, 20), (3, 30)))
    assert told(table.stream(2, until="latest")) == []
    changes = told(table.stream(2, until="latest", options={"streaming-read-overwrite": True}))
    assert sorted(changes) == [("+I", 3, 30), ("-D", 1, 10)]


def test_an_overwrite_of_an_append_table_shows_what_it_added() -> None:
    table = append_only()
    table.append(rows((1, 10)))
    table.overwrite(rows((2, 20)))
    assert told(table.stream(1, until="latest")) == [("+I", 1, 10)]
    options = {"streaming-read-append-overwrite": True}
    assert told(table.stream(1, until="latest", options=options)) == [("+I", 1, 10), ("+I", 2, 20)]


def test_what_expired_before_it_was_read_is_an_error_and_no_gap() -> None:
    table = append_only()
    for value in (10, 20, 30):
        table.append(rows((1, value)))
    following = table.following(options={"scan.snapshot-id": "1"})
    step = following.next_step(following.beginning.find())
    assert step is not None
    table.expire_snapshots(retain_max=1, retain_min=1)
    with pytest.raises(NotFoundError, match=r"2 of .*It has expired: the oldest is 3.*consumer-id"):
        following.next_step(step.end)


@pytest.mark.parametrize("commits_again", [0, 1, 2])
def test_a_rollback_under_a_stream_is_an_error_and_no_gap(commits_again: int) -> None:
    table = append_only()
    for value in (10, 20, 30):
        table.append(rows((1, value)))
    following = table.following(options={"scan.snapshot-id": "1"})
    position = following.beginning.find()
    while (step := following.next_step(position)) is not None:
        position = step.end
    table.rollback(snapshot=1)
    for value in range(commits_again):
        table.append(rows((2, value)))
    fresh = table.following(options={"scan.snapshot-id": "1"})
    if commits_again == 2:
        assert fresh.next_step(position) is None
        table.append(rows((2, 9)))
    with pytest.raises(NotFoundError, match="rolled back or made anew"):
        fresh.next_step(position)


def test_columns_of_later_on_are_not_of_this_stream() -> None:
    table = append_only()
    table.append(rows((1, 10)))
    following = table.following(options={"scan.snapshot-id": "1"})
    catalog = open_catalog(table.file_io, seed=1)
    catalog.alter_table("db.t", [AddColumn("w", "INT"), RenameColumn("v", "value")])
    altered = catalog.load_table("db.t")
    altered.append(pa.table({"k": [2], "value": [20], "w": [5]}))
    position, found = following.beginning.find(), []
    while (step := following.next_step(position)) is not None:
        for split in step.splits:
            found += [row for b in step.reader.read(split) for row in b.to_pylist()]
        position = step.end
    assert found == [
        {"k": 1, "v": 10, "_row_kind": "+I"},
        {"k": 2, "v": 20, "_row_kind": "+I"},
    ]
    catalog.alter_table("db.t", [ChangeColumnType("value", "BIGINT")])
    catalog.load_table("db.t").append(pa.table({"k": [3], "value": [30], "w": [5]}))
    with pytest.raises(InvalidDataError, match="column 'v' became BIGINT"):
        following.next_step(position)


def test_a_stream_ends_before_its_watermark() -> None:
    table = append_only()
    for watermark in (10, 20, 30):
        snapshot = table.append(rows((1, watermark)))
        assert snapshot is not None
        put_watermark(table, snapshot, watermark)
    stream = table.stream(1, options={"scan.bounded.watermark": 20})
    assert [v for _, _, v in told(stream)] == [10, 20]


def test_a_stream_stays_behind_by_its_delay() -> None:
    table = append_only()
    table.append(rows((1, 10)))
    following = table.following(
        options={"scan.snapshot-id": "1", "streaming.read.snapshot.delay": "1 h"}
    )
    assert following.next_step(following.beginning.find()) is None


@pytest.mark.parametrize("suffix", ["ro", "snapshots", "files"])
def test_what_has_no_changes_is_no_stream(suffix: str) -> None:
    table = keyed()
    catalog = open_catalog(table.file_io)
    with pytest.raises(UnsupportedError, match="cannot be read as a stream"):
        catalog.load_table(f"db.t${suffix}").stream()


def test_an_audit_log_says_the_kind_in_its_own_column() -> None:
    table = keyed({"bucket": "1"})
    table.upsert(rows((1, 10)))
    table.delete("k = 1")
    audit = open_catalog(table.file_io).load_table("db.t$audit_log")
    found = [row for batch in audit.stream(1, until="latest") for row in batch.to_pylist()]
    assert found == [{"rowkind": "+I", "k": 1, "v": 10}, {"rowkind": "-D", "k": 1, "v": 10}]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"options": {"scan.tag-name": "v1"}}, "a stream cannot begin at"),
        ({"options": {"scan.mode": "latest-delta"}}, "a stream cannot begin at"),
        ({"options": {"read.stream.maxRowsPerTrigger": "5"}}, "is of micro-batches"),
        ({"options": {"no.such.option": "5"}}, "is no option"),
        ({"options": {"bucket": "5"}}, "is no option of a stream"),
        ({"from_snapshot": 1, "options": {"scan.mode": "latest"}}, "both say where to begin"),
        ({"consumer_id": "a", "options": {"consumer-id": "b"}}, "say the same"),
        ({"until": "yesterday"}, "until is"),
        ({"where": "nothing = 1"}, "nothing"),
        ({"columns": ["nothing"]}, "nothing"),
    ],
)
def test_what_cannot_be_is_refused_at_the_call(arguments: dict[str, Any], problem: str) -> None:
    table = append_only()
    table.append(rows((1, 10)))
    with pytest.raises((InvalidArgumentError, UnsupportedError), match=problem):
        next(table.stream(**arguments))


def test_a_batch_refuses_options_of_streams() -> None:
    with pytest.raises(InvalidArgumentError, match="'consumer-id' is an option of a stream"):
        append_only().scan(options={"consumer-id": "c"})
