"""What a scan says it reads, and which snapshot that is."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import golden_adapter
import lakebed
from lakebed.errors import InvalidArgumentError, NotFoundError
from lakebed.format.paths import TablePaths
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.options.choices import IncrementMode
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.snapshots import Snapshots
from lakebed.table.reading.scan_point import (
    AutoTagIncrement,
    CreationPoint,
    Increment,
    Newest,
    NewestChanges,
    NewestCompacted,
    Point,
    ScanPoint,
    SnapshotPoint,
    TagPoint,
    TimeIncrement,
    TimePoint,
    VersionPoint,
    WatermarkPoint,
)
from lakebed.table.reading.time_travel import find_scan_point, parse_epoch_ms
from lakebed.table.table import Table
from support.table_builder import Shape, Step, build_table, sorted_rows

UTC = dt.UTC
DATABASE = golden_adapter.__file__.removesuffix("golden_adapter.py") + "golden/warehouse/db.db"


def golden(name: str) -> Table:
    return lakebed.load_table(f"{DATABASE}/{name}", {"lakebed.time-zone": "UTC"})


def point_of(
    options: dict[str, str] | None = None,
    stored: dict[str, str] | None = None,
    **arguments: Any,  # noqa: ANN401 - what users may give
) -> ScanPoint:
    return find_scan_point(arguments, options or {}, stored=stored or {}, time_zone=UTC)


@pytest.mark.parametrize(
    ("options", "point"),
    [
        ({}, Newest()),
        ({"scan.mode": "latest"}, Newest()),
        ({"scan.mode": "full"}, Newest()),
        ({"scan.mode": "latest-delta"}, NewestChanges()),
        ({"scan.mode": "compacted-full"}, NewestCompacted(None)),
        ({"scan.snapshot-id": "3"}, SnapshotPoint(3)),
        ({"scan.snapshot-id": "3", "scan.mode": "from-snapshot-full"}, SnapshotPoint(3)),
        ({"scan.tag-name": "v1", "scan.mode": "from-snapshot"}, TagPoint("v1")),
        ({"scan.version": "7"}, VersionPoint("7")),
        ({"scan.watermark": "5"}, WatermarkPoint(5)),
        ({"scan.timestamp-millis": "86400000"}, TimePoint(86400000)),
        ({"scan.timestamp": "1970-01-02"}, TimePoint(86400000)),
        ({"scan.creation-time-millis": "9"}, CreationPoint(9, files_only=False)),
        ({"scan.file-creation-time-millis": "9"}, CreationPoint(9, files_only=True)),
        ({"incremental-between": "3,7"}, Increment("3", "7")),
        ({"incremental-between": "a,b", "scan.mode": "incremental"}, Increment("a", "b")),
        ({"incremental-between-timestamp": "10,20"}, TimeIncrement(10, 20)),
        (
            {"incremental-between-timestamp": "1970-01-01 00:00:01,1970-01-01 00:00:02.5"},
            TimeIncrement(1000, 2500),
        ),
        ({"incremental-to-auto-tag": "2026-01-02"}, AutoTagIncrement("2026-01-02")),
    ],
)
def test_options_name_a_point(options: dict[str, str], point: Point) -> None:
    assert point_of(options).point == point


@pytest.mark.parametrize(
    ("arguments", "point"),
    [
        ({"snapshot_id": 3}, SnapshotPoint(3)),
        ({"tag": "v"}, TagPoint("v")),
        ({"watermark": -4}, WatermarkPoint(-4)),
        ({"timestamp": 1234}, TimePoint(1234)),
        ({"timestamp": dt.datetime(1970, 1, 1, 1, tzinfo=UTC)}, TimePoint(3_600_000)),
        ({"timestamp": "1970-01-01 01:00:00.123"}, TimePoint(3_600_123)),
        ({"incremental": (1, 2)}, Increment(1, 2)),
        ({"incremental": ["a", "b"]}, Increment("a", "b")),
    ],
)
def test_arguments_name_a_point(arguments: dict[str, Any], point: Point) -> None:
    assert point_of(**arguments).point == point


@pytest.mark.parametrize(
    ("options", "arguments", "words"),
    [
        ({}, {"snapshot_id": 1, "tag": "v"}, "snapshot_id and tag both say what to read"),
        ({"scan.tag-name": "v"}, {"snapshot_id": 1}, "both say what to read"),
        ({"scan.tag-name": "v", "scan.watermark": "1"}, {}, "both say what to read"),
        ({"scan.mode": "latest", "scan.snapshot-id": "1"}, {}, "contradicts 'scan.snapshot-id'"),
        ({"scan.mode": "from-timestamp"}, {"tag": "v"}, "contradicts tag"),
        ({"scan.mode": "from-snapshot"}, {}, "Give 'scan.snapshot-id' or 'scan.tag-name'"),
        ({"scan.mode": "incremental"}, {}, "Give 'incremental-between' or"),
        ({"incremental-between": "3"}, {}, "a start and an end"),
        ({"incremental-between": "3,4,5"}, {}, "a start and an end"),
        ({"incremental-between-scan-mode": "diff"}, {}, "says nothing without"),
        ({}, {"incremental_mode": "diff"}, "says nothing without incremental"),
        ({}, {"incremental": (1, 2), "incremental_mode": "all"}, "incremental_mode"),
        (
            {"incremental-between-scan-mode": "diff"},
            {"incremental": (1, 2), "incremental_mode": "delta"},
            "both say what the changes are made of",
        ),
        ({}, {"incremental": (1, 2, 3)}, "a pair of snapshot ids or of tags"),
        ({}, {"incremental": (True, 2)}, "a pair of snapshot ids or of tags"),
        ({}, {"timestamp": dt.datetime(2026, 1, 1)}, "a datetime with a time zone"),  # noqa: DTZ001
        ({}, {"timestamp": "yesterday"}, "'yesterday' is no time"),
        ({"scan.timestamp": "2026-02-30"}, {}, "'2026-02-30' is no time"),
        ({}, {"watermark": "5"}, "watermark is a whole number"),
        ({}, {"tag": 5}, "tag is a name"),
    ],
)
def test_what_contradicts_itself_is_refused(
    options: dict[str, str], arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        point_of(options, **arguments)


def test_what_a_table_stores_holds_until_a_scan_says_otherwise() -> None:
    stored = {"scan.mode": "from-snapshot", "scan.snapshot-id": "2"}
    assert point_of(stored=stored).point == SnapshotPoint(2)
    assert point_of(stored=stored, tag="v").point == TagPoint("v")
    assert point_of({"scan.mode": "latest"}, stored).point == Newest()
    made_of = {"incremental-between-scan-mode": "diff"}
    assert point_of(stored=made_of, incremental=(1, 2)).increment_mode is IncrementMode.DIFF
    full = {"changelog-producer": "full-compaction", "scan.mode": "compacted-full"}
    assert point_of(stored=full).point == NewestCompacted(1)


def test_a_time_counts_in_its_zone() -> None:
    kathmandu = ZoneInfo("Asia/Kathmandu")
    assert parse_epoch_ms("1990-01-01 05:45:00", kathmandu) == parse_epoch_ms("1990-01-01", UTC)
    berlin = ZoneInfo("Europe/Berlin")
    # 02:30 is skipped in spring, and told twice in autumn.
    assert parse_epoch_ms("2026-03-29T02:30", berlin) == parse_epoch_ms("2026-03-29 01:30", UTC)
    assert parse_epoch_ms("2026-10-25 02:30", berlin) == parse_epoch_ms("2026-10-25 00:30", UTC)


def snapshots_of(marks: list[tuple[int, int | None]]) -> Snapshots:
    """Snapshots of these times and watermarks, from id 4 on."""
    file_io = MemoryFileIO()
    paths = TablePaths("memory:/t")
    for snapshot_id, (time, watermark) in enumerate(marks, start=4):
        snapshot = Snapshot(
            id=snapshot_id,
            schema_id=0,
            base_manifest_list="b",
            delta_manifest_list="d",
            commit_user="u",
            commit_identifier=snapshot_id,
            commit_kind=CommitKind.APPEND,
            time_millis=time,
            total_record_count=0,
            delta_record_count=0,
            watermark=watermark,
        )
        file_io.write(paths.snapshot(snapshot_id), snapshot.to_json())
    return Snapshots(file_io, paths)


@pytest.mark.parametrize(
    ("time", "found"), [(9, None), (10, 4), (11, 4), (20, 5), (29, 5), (30, 6), (99, 8)]
)
def test_a_time_finds_the_newest_snapshot_until_then(time: int, found: int | None) -> None:
    snapshots = snapshots_of([(10, None), (20, None), (30, None), (40, None), (50, None)])
    snapshot = snapshots.at_or_before(time)
    assert (None if snapshot is None else snapshot.id) == found


@pytest.mark.parametrize(
    ("watermark", "found"), [(-5, 5), (100, 5), (101, 8), (200, 8), (250, 9), (300, 9), (301, None)]
)
def test_a_watermark_finds_the_oldest_snapshot_from_then(watermark: int, found: int | None) -> None:
    snapshots = snapshots_of(
        [(1, None), (2, 100), (3, None), (4, -(2**63)), (5, 200), (6, 300), (7, None)]
    )
    snapshot = snapshots.at_or_after_watermark(watermark)
    assert (None if snapshot is None else snapshot.id) == found


def test_without_watermarks_none_is_found() -> None:
    assert snapshots_of([(1, None), (2, -(2**63))]).at_or_after_watermark(0) is None
    assert snapshots_of([]).at_or_after_watermark(0) is None
    assert snapshots_of([]).at_or_before(0) is None


def test_each_snapshot_is_found_by_its_time() -> None:
    table = golden("append_many_commits")
    for snapshot in table.snapshots():
        by_id = table.scan(snapshot_id=snapshot.id).to_arrow()
        assert table.scan(timestamp=snapshot.time_millis).to_arrow() == by_id
        at = dt.datetime.fromtimestamp(snapshot.time_millis / 1000, UTC)
        text = at.strftime("%Y-%m-%d %H:%M:%S.%f")
        assert table.scan(options={"scan.timestamp": text}).to_arrow() == by_id


def test_a_time_before_all_snapshots_names_the_earliest() -> None:
    with pytest.raises(NotFoundError, match=r"The earliest is snapshot 11 of 20"):
        golden("rollback_expire").scan(timestamp="2020-01-01")


def test_a_tag_outlives_its_snapshot() -> None:
    table = golden("rollback_expire")
    kept = table.parts().history.tags.load("keep").snapshot
    with pytest.raises(NotFoundError, match="Snapshots 11 to 13 exist"):
        table.scan(snapshot_id=kept.id)
    assert table.scan(tag="keep").plan().snapshot_id == kept.id
    assert table.scan(options={"scan.version": "keep"}).count() == table.scan(tag="keep").count()
    with pytest.raises(NotFoundError, match=r"tag 'kept' does not exist\. There is keep"):
        table.scan(tag="kept")


def test_a_version_is_a_tag_an_id_or_a_watermark() -> None:
    table = golden("tags_branches")
    for version, wanted in (("first", {"tag": "first"}), ("2", {"snapshot_id": 2})):
        found = table.scan(options={"scan.version": version}).to_arrow()
        assert found == table.scan(**wanted).to_arrow()
    with pytest.raises(NotFoundError, match="tag 'nine'"):
        table.scan(options={"scan.version": "nine"})
    with pytest.raises(NotFoundError, match="watermark 5 or later"):
        table.scan(options={"scan.version": "watermark-5"})


def test_the_past_has_the_columns_of_its_time() -> None:
    table = golden("evolve_append")
    assert table.scan(snapshot_id=1).schema.names != table.scan().schema.names
    first = table.snapshots()[0]
    assert table.scan(timestamp=first.time_millis).schema == table.scan(snapshot_id=1).schema


def test_a_full_compaction_can_be_what_is_read() -> None:
    table = golden("cl_full_compaction")
    compacted = [s.id for s in table.snapshots() if s.commit_kind is CommitKind.COMPACT]
    scan = table.scan(options={"scan.mode": "compacted-full"})
    assert scan.plan().snapshot_id == max(compacted)
    never = golden("append_partitioned")
    latest = never.latest_snapshot()
    assert latest is not None
    assert never.scan(options={"scan.mode": "compacted-full"}).plan().snapshot_id == latest.id


def test_files_are_chosen_by_their_time() -> None:
    built = build_table(Shape(has_primary_key=False, buckets=-1), [Step("write", range(6))])
    rows = sorted_rows(built.table.scan().to_arrow())
    for key in ("scan.file-creation-time-millis", "scan.creation-time-millis"):
        assert sorted_rows(built.table.scan(options={key: "0"}).to_arrow()) == rows
        assert built.table.scan(options={key: str(2**45)}).count() == 0
