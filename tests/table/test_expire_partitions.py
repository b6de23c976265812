"""Partitions expire: which ones, when, and what another writer does meanwhile."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from lakebed.errors import InvalidArgumentError, InvalidDataError, InvalidTableError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind
from lakebed.options.values import OptionValue
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.scripted_file_io import ScriptedFileIO, meanwhile

Values = Sequence[object] | ArrowArray

DAY = timedelta(days=1)
NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
DAYS = ["2026-01-01", "2026-01-05", "2026-01-09", None, "never"]


def at(moment: datetime) -> Callable[[], int]:
    return lambda: round(moment.timestamp() * 1000)


def table_of(
    values: Mapping[str, Values],
    columns: list[tuple[str, str]],
    options: Mapping[str, OptionValue] | None = None,
) -> Table:
    """A table with a partition for each row of values, written at its time."""
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema([("id", "BIGINT"), *columns]),
        partition_by=[name for name, _ in columns],
        options={"bucket": "-1", **(options or {})},
    )
    later = reopen(table, table.file_io, clock=at(NOW))
    later.append(rows(values))
    return later


def rows(values: Mapping[str, Values]) -> pa.Table:
    count = len(next(iter(values.values())))
    return pa.table({"id": pa.array(range(count), pa.int64()), **values})


def partitions(table: Table) -> list[tuple[object, ...]]:
    found = table.scan(columns=table.partition_keys).to_arrow().to_pylist()
    return sorted({tuple(row.values()) for row in found}, key=str)


def days_of(table: Table) -> list[object]:
    return sorted((day for (day,) in partitions(table)), key=str)


def by_day(options: Mapping[str, OptionValue] | None = None) -> Table:
    return table_of({"dt": DAYS}, [("dt", "STRING")], options)


@pytest.mark.parametrize(
    ("kept", "expired"),
    [
        ("9 d", ["2026-01-01"]),
        (timedelta(days=5, hours=12), ["2026-01-01"]),
        (timedelta(days=5, hours=11), ["2026-01-01", "2026-01-05"]),
        ("1 d", ["2026-01-01", "2026-01-05", "2026-01-09"]),
        ("10 d", []),
    ],
)
def test_partitions_expire_by_the_time_that_their_values_name(
    kept: str | timedelta, expired: list[str]
) -> None:
    table = by_day()
    assert table.expire_partitions(kept) == [{"dt": day} for day in expired]
    left = [day for day in DAYS if day not in expired]
    assert days_of(table) == sorted(left, key=str)
    assert table.expire_partitions(kept) == []


def test_partitions_without_a_time_stay_and_are_named(caplog: pytest.LogCaptureFixture) -> None:
    by_day().expire_partitions("1 d")
    assert "2 partitions never expire" in caplog.text
    assert "dt=never" in caplog.text


@pytest.mark.parametrize(
    ("columns", "values", "arguments", "expired"),
    [
        (
            [("dt", "STRING"), ("hour", "INT")],
            {"dt": ["20260110", "20260110", "20260109"], "hour": [9, 11, 23]},
            {"timestamp_formatter": "yyyyMMdd H", "timestamp_pattern": "$dt $hour"},
            ["dt=20260109 hour=23", "dt=20260110 hour=9"],
        ),
        (
            [("d", "STRING"), ("d1", "STRING")],
            {"d": ["01", "10"], "d1": ["2026-01", "2026-01"]},
            {"timestamp_pattern": "$d1-$d"},
            ["d=01 d1=2026-01", "d=10 d1=2026-01"],
        ),
        (
            [("day", "INT")],
            {"day": [20260109, 20260111, 7]},
            {"timestamp_formatter": "yyyyMMdd"},
            ["day=20260109"],
        ),
        (
            [("day", "DATE")],
            {"day": [date(2026, 1, 9), date(2026, 1, 11)]},
            {},
            ["day=2026-01-09"],
        ),
        (
            [("dt", "STRING"), ("kind", "STRING")],
            {"dt": ["2026-01-09", "2026-01-09"], "kind": [None, "a,b"]},
            {},
            ["dt=2026-01-09 kind=__DEFAULT_PARTITION__", "dt=2026-01-09 kind=a,b"],
        ),
    ],
)
def test_the_time_is_made_of_the_columns_that_the_pattern_names(
    columns: list[tuple[str, str]],
    values: Mapping[str, Values],
    *,
    arguments: dict[str, Any],
    expired: list[str],
) -> None:
    table = table_of(typed(values, columns), columns)
    found = table.expire_partitions("2 h", **arguments)
    shown = [" ".join(f"{name}={text}" for name, text in spec.items()) for spec in found]
    assert shown == expired
    assert len(partitions(table)) == len(next(iter(values.values()))) - len(expired)


def typed(values: Mapping[str, Values], columns: list[tuple[str, str]]) -> dict[str, Values]:
    kinds: dict[str, pa.DataType] = {
        "INT": pa.int32(),
        "DATE": pa.date32(),
        "STRING": pa.string(),
    }
    return {name: pa.array(values[name], kinds[kind]) for name, kind in columns}


def test_by_update_time_a_partition_lives_from_its_last_change() -> None:
    table = by_day()
    later = reopen(table, table.file_io, seed=2, clock=at(NOW + 3 * DAY))
    later.append(rows({"dt": ["never"]}))
    last = reopen(table, table.file_io, seed=3, clock=at(NOW + 4 * DAY))
    found = last.expire_partitions("3 d", expire_strategy="update-time")
    default = "__DEFAULT_PARTITION__"
    assert [spec["dt"] for spec in found] == ["2026-01-01", "2026-01-05", "2026-01-09", default]
    assert days_of(last) == ["never"]


def test_so_many_expire_at_a_time_in_commits_of_so_many() -> None:
    days = [f"2025-01-{day:02}" for day in range(1, 10)]
    table = table_of({"dt": days}, [("dt", "STRING")])
    before = len(table.snapshots())
    batches = {"partition.expiration-batch-size": 2}
    found = table.expire_partitions("1 d", max_expires=5, options=batches)
    assert [spec["dt"] for spec in found] == days[:5]
    commits = table.snapshots()[before:]
    assert [each.commit_kind for each in commits] == [CommitKind.OVERWRITE] * 3
    assert days_of(table) == days[5:]


def test_rows_that_come_to_a_partition_meanwhile_keep_it_by_update_time() -> None:
    table = table_of({"dt": ["a", "b"]}, [("dt", "STRING")])
    late = NOW + 9 * DAY
    writer = reopen(table, table.file_io, seed=5, clock=at(late))
    store = ScriptedFileIO(table.file_io, [meanwhile(lambda: writer.append(rows({"dt": ["a"]})))])
    expiring = reopen(table, store, seed=6, clock=at(late))
    found = expiring.expire_partitions("3 d", expire_strategy="update-time")
    assert found == [{"dt": "b"}]
    assert table.scan(where="dt = 'a'").count() == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "'partition.expiration-time' says how long"),
        ({"expiration_time": "soon"}, "a duration such as 1 h"),
        ({"expiration_time": "1 d", "timestamp_formatter": "yyyyMM"}, "names no day"),
        ({"expiration_time": "1 d", "timestamp_pattern": "2020-01-01"}, "which are: dt"),
        ({"expiration_time": "1 d", "timestamp_pattern": "$dt $hr:00:00"}, "which are: dt"),
        ({"expiration_time": "1 d", "expire_strategy": "size"}, "values-time, update-time"),
        ({"expiration_time": "1 d", "max_expires": 0}, "a whole number from 1 on"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_expires(
    arguments: dict[str, object], message: str
) -> None:
    table = by_day()
    with pytest.raises(InvalidArgumentError, match=message.replace("$", r"\$")):
        table.expire_partitions(**arguments)  # type: ignore[arg-type]
    assert len(partitions(table)) == len(DAYS)


@pytest.mark.parametrize(
    ("keys", "options", "message"),
    [
        ([], {"partition.expiration-time": "1 d"}, "has no partition columns"),
        (["dt"], {"partition.timestamp-formatter": "yyyyMM"}, "names no day"),
        (["dt"], {"partition.timestamp-pattern": "$id"}, "which are: dt"),
        (["dt"], {"partition.expiration-batch-size": "0"}, "a whole number from 1 on"),
    ],
)
def test_a_table_that_could_never_expire_partitions_is_not_made(
    keys: list[str], options: dict[str, str], message: str
) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    columns = schema([("id", "BIGINT"), ("dt", "STRING")])
    with pytest.raises((InvalidArgumentError, InvalidTableError), match=message):
        catalog.create_table("db.t", schema=columns, partition_by=keys, options=options)
    assert catalog.list_tables("db") == []


def test_a_table_without_partitions_has_none_that_expire() -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=schema([("id", "BIGINT")]))
    with pytest.raises(InvalidArgumentError, match="where there are partition columns"):
        table.expire_partitions("1 d")


EXPIRING = {"partition.expiration-time": "3 d"}


@pytest.mark.parametrize(
    ("options", "minutes", "checks"),
    [
        (EXPIRING, [0, 30, 59, 61, 62, 125], [0, 61, 125]),
        ({**EXPIRING, "partition.expiration-check-interval": "0 ms"}, [0, 1], [0, 1]),
        ({**EXPIRING, "end-input.check-partition-expire": "true"}, [0, 1], [0, 1]),
        ({**EXPIRING, "write-only": "true"}, [0, 61], []),
        ({}, [0, 61], []),
    ],
)
def test_the_first_commit_of_each_interval_looks_for_partitions_that_expire(
    options: dict[str, str], minutes: list[int], checks: list[int]
) -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema([("id", "BIGINT"), ("dt", "STRING")]),
        partition_by=["dt"],
        options={"bucket": "-1", **options},
    )
    found = []
    for number, minute in enumerate(minutes):
        moment = datetime(2026, 1, 10, tzinfo=UTC) + timedelta(minutes=minute)
        writer = reopen(table, table.file_io, seed=number, clock=at(moment))
        writer.append(rows({"dt": ["2026-01-01", "2026-01-09"]}))
        if days_of(writer) == ["2026-01-09"]:
            found.append(minute)
    assert found == checks


def test_a_compaction_is_no_commit_that_looks() -> None:
    table = by_day(EXPIRING)
    assert days_of(table) == ["2026-01-09", None, "never"]
    before = reopen(table, table.file_io, seed=7, clock=at(NOW + timedelta(minutes=59)))
    before.append(rows({"dt": ["2026-01-01", "2026-01-09"]}))
    assert "2026-01-01" in days_of(table)
    compacting = reopen(table, table.file_io, seed=8, clock=at(NOW + timedelta(minutes=61)))
    assert compacting.compact_manifest() is not None
    assert "2026-01-01" in days_of(table)
    after = reopen(table, table.file_io, seed=9, clock=at(NOW + timedelta(minutes=62)))
    after.append(rows({"dt": ["2026-01-10"]}))
    assert "2026-01-01" not in days_of(table)


def test_a_commit_stands_when_partitions_cannot_expire(caplog: pytest.LogCaptureFixture) -> None:
    table = by_day()
    options = {**table.options, **EXPIRING, "partition.timestamp-formatter": "EEE"}
    foreign = replace(table, schema=replace(table.schema, options=options))
    later = reopen(foreign, table.file_io, seed=2, clock=at(NOW + DAY))
    assert later.append(rows({"dt": ["2026-01-01"]})) is not None
    assert len(partitions(table)) == len(DAYS)
    assert "the pattern 'EEE'" in caplog.text


def test_strictly_no_row_is_written_to_a_partition_without_a_time() -> None:
    strict = {
        "partition.timestamp-format.strict": "true",
        "partition.timestamp-formatter": "yyyyMMdd",
    }
    table = table_of({"dt": ["20260101"]}, [("dt", "STRING")], strict)
    files = set(file_names(table))
    for write in (table.append, table.overwrite):
        with pytest.raises(InvalidDataError, match="partition dt=2026-01-02 names no time"):
            write(rows({"dt": ["20260103", "2026-01-02"]}))
    assert set(file_names(table)) == files
    assert days_of(table) == ["20260101"]


def file_names(table: Table) -> list[str]:
    found = table.file_io.list(f"{table.location}/dt=20260103/bucket-0")
    return [each.name for each in (*found, *table.file_io.list(f"{table.location}/snapshot"))]
