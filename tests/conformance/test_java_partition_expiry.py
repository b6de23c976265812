"""Partitions expire in copies of one table, by Lakebed and the real Paimon 1.4.2: the same go."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

NOW = datetime.now(UTC)
AGES = (400, 40, 8, 2, 0)
DAYS = [f"{NOW - timedelta(days=age):%Y-%m-%d}" for age in AGES]
TIGHT = [day.replace("-", "") for day in DAYS]
CASES: dict[str, tuple[list[str], dict[str, str]]] = {
    "days": (DAYS, {"partition.expiration-time": "5 d"}),
    "days as text": (TIGHT, {"partition.timestamp-formatter": "yyyyMMdd"}),
    "odd texts": (
        ["2020-1-1", "2020-02-31", "2020-13-41", "20200101", "never", "2020-01-01 25:61:61"],
        {},
    ),
    "odd texts by a formatter": (
        ["20200230", "20200132", "20201301", "2020010", "020200101", "+20200101", "20200101 "],
        {"partition.timestamp-formatter": "yyyyMMdd"},
    ),
    "single letters": (
        ["1.2.2020", "01.02.2020", "31.4.2020", "1.2.20"],
        {"partition.timestamp-formatter": "d.M.y"},
    ),
    "hours": (
        ["2020010124", "2020010125", "2020010100", "20200101"],
        {"partition.timestamp-formatter": "yyyyMMddHH"},
    ),
    "quotes": (
        ["2020-01-01T07:00", "2020-01-01 07:00", "2020-01-01t07:00"],
        {"partition.timestamp-formatter": "yyyy-MM-dd'T'HH:mm"},
    ),
    "a pattern": (
        DAYS,
        {
            "partition.timestamp-formatter": "yyyy-MM-dd H:mm:ss",
            "partition.timestamp-pattern": "$dt $hour:00:00",
        },
    ),
    "so many": (DAYS, {"partition.expiration-time": "1 d", "partition.expiration-max-num": "2"}),
    "batches": (DAYS, {"partition.expiration-batch-size": "1"}),
    "young files": (DAYS, {"partition.expiration-strategy": "update-time"}),
    "any file": (
        DAYS,
        {"partition.expiration-strategy": "update-time", "partition.expiration-time": "1 ms"},
    ),
}


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def partitions(path: Path) -> set[tuple[object, ...]]:
    found = lakebed.load_table(str(path)).scan(columns=["dt", "hour"]).to_arrow().to_pylist()
    return {tuple(row.values()) for row in found}


@pytest.mark.parametrize("name", CASES)
def test_the_same_partitions_expire(name: str, referee: Referee, tmp_path: Path) -> None:
    values, more = CASES[name]
    catalog = lakebed.load_catalog(warehouse=str(tmp_path / "ours"))
    catalog.create_database("db")
    schema = lakebed.schema([("id", "BIGINT"), ("dt", "STRING"), ("hour", "INT")])
    table = catalog.create_table("db.t", schema=schema, partition_by=["dt", "hour"])
    count = len(values)
    hours = pa.array([7] * count, pa.int32())
    table.append(pa.table({"id": range(count), "dt": values, "hour": hours}))
    ours, theirs = (tmp_path / each / "db.db" / "t" for each in ("ours", "theirs"))
    shutil.copytree(ours, theirs)
    options = {
        "partition.expiration-time": "5 d",
        "partition.expiration-check-interval": "0 ms",
        **more,
    }
    before = partitions(ours)
    changes = [{"action": "setOption", "key": key, "value": text} for key, text in options.items()]
    for path in (ours, theirs):
        referee.alter(path, changes)
    expired = lakebed.load_table(str(ours)).expire_partitions()
    referee.write(theirs, [])
    assert partitions(ours) == partitions(theirs)
    assert {(each["dt"], int(each["hour"])) for each in expired} == before - partitions(ours)
    if name != "young files":
        assert expired
    commits = [len(lakebed.load_table(str(path)).snapshots()) for path in (ours, theirs)]
    assert commits[0] == commits[1]
