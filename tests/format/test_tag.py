"""A tag's file is its snapshot's, with two more members where it has a retention."""

import datetime as dt
import json

import pytest

from lakebed.errors import CorruptTableError
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.format.tag import Tag, with_retention

SNAPSHOT = Snapshot(
    id=3,
    schema_id=0,
    base_manifest_list="b",
    delta_manifest_list="d",
    commit_user="u",
    commit_identifier=1,
    commit_kind=CommitKind.APPEND,
    time_millis=5,
    total_record_count=0,
    delta_record_count=0,
)


def parse(**more: object) -> Tag:
    members = {**json.loads(SNAPSHOT.to_json()), **more}
    return Tag.from_json(json.dumps(members).encode(), "tag/tag-v", name="v")


def test_a_tag_without_retention_is_a_snapshot() -> None:
    assert parse() == Tag(name="v", snapshot=SNAPSHOT, create_time=None, time_retained=None)


@pytest.mark.parametrize(
    ("parts", "time"),
    [
        ([2026, 1, 2, 3, 4, 5, 678_901_000], dt.datetime(2026, 1, 2, 3, 4, 5, 678_901)),  # noqa: DTZ001
        ([2026, 1, 2, 3, 4, 5], dt.datetime(2026, 1, 2, 3, 4, 5)),  # noqa: DTZ001
        ([2026, 1, 2, 3, 4], dt.datetime(2026, 1, 2, 3, 4)),  # noqa: DTZ001
    ],
)
def test_a_retention_comes_with_the_time_of_making(parts: list[int], time: dt.datetime) -> None:
    tag = parse(tagCreateTime=parts, tagTimeRetained=86400.5)
    assert tag.create_time == time
    assert tag.time_retained == dt.timedelta(days=1, milliseconds=500)


@pytest.mark.parametrize(
    "members",
    [
        {"tagCreateTime": "2026-01-02"},
        {"tagCreateTime": [2026, 13, 2, 3, 4]},
        {"tagCreateTime": [2026, 1, 2]},
        {"tagTimeRetained": "PT24H"},
        {"tagTimeRetained": 1e300},
        {"tagTimeRetained": True},
    ],
)
def test_a_damaged_retention_is_told(members: dict[str, object]) -> None:
    with pytest.raises(CorruptTableError, match="tag/tag-v: tag"):
        parse(**members)


@pytest.mark.parametrize(
    ("time", "retained", "members"),
    [
        (
            dt.datetime(1969, 1, 1, 0, 0, 0, 123),  # noqa: DTZ001
            dt.timedelta(seconds=5),
            '"tagCreateTime" : [ 1969, 1, 1, 0, 0, 0, 123000 ],\n  "tagTimeRetained" : 5.000000000',
        ),
        (
            dt.datetime(2026, 1, 2, 3, 4, 5),  # noqa: DTZ001
            dt.timedelta(milliseconds=1500),
            '"tagCreateTime" : [ 2026, 1, 2, 3, 4, 5 ],\n  "tagTimeRetained" : 1.500000000',
        ),
        (
            dt.datetime(2026, 1, 2),  # noqa: DTZ001
            dt.timedelta(days=365_000),
            '"tagCreateTime" : [ 2026, 1, 2, 0, 0 ],\n  "tagTimeRetained" : 31536000000.000000000',
        ),
    ],
)
def test_a_retention_is_written_as_other_engines_write_it(
    time: dt.datetime, retained: dt.timedelta, members: str
) -> None:
    data = with_retention(SNAPSHOT.to_json(), create_time=time, time_retained=retained)
    head = SNAPSHOT.to_json().decode().removesuffix("\n}")
    assert data.decode() == f"{head},\n  {members}\n}}"
    tag = Tag.from_json(data, "tag/tag-v", name="v")
    assert tag == Tag(name="v", snapshot=SNAPSHOT, create_time=time, time_retained=retained)
