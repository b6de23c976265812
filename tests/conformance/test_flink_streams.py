"""A changelog is one stream of events a key, whoever writes it and whoever follows it."""

import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.table.table import Table
from tools.peers.flink import Flink, name_of
from tools.peers.referee import Json

pytestmark = pytest.mark.peers

KEYS = 6
PRODUCERS: dict[str, dict[str, str]] = {
    "none": {},
    "input": {"changelog-producer": "input"},
    "lookup": {"changelog-producer": "lookup"},
    "full-compaction": {
        "changelog-producer": "full-compaction",
        "full-compaction.delta-commits": "1",
    },
}
Events = dict[int, list[tuple[str, int]]]


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("flink")


@pytest.fixture(scope="module")
def flink(warehouse: Path) -> Iterator[Flink]:
    """One process for all cases."""
    flink = Flink(warehouse)
    yield flink
    flink.close()


def make(warehouse: Path, name: str, producer: str) -> Table:
    catalog = lakebed.load_catalog(warehouse=warehouse.as_uri())
    catalog.create_database("db", ignore_if_exists=True)
    return catalog.create_table(
        f"db.{name}",
        schema=lakebed.schema([("k", "INT NOT NULL"), ("v", "INT")]),
        primary_key=["k"],
        options={"bucket": "2", **PRODUCERS[producer]},
    )


def batches(seed: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """What is written, commit by commit; no key is written twice by one."""
    chance = random.Random(seed)
    for _ in range(8):
        keys = chance.sample(range(KEYS), 3)
        yield (
            chance.choice(["upsert", "upsert", "delete"]),
            [(key, chance.randrange(100)) for key in keys],
        )


def ours(table: Table) -> Events:
    """The events of each key, as Lakebed streams them."""
    events: Events = defaultdict(list)
    for batch in table.stream(1, until="latest"):
        for row in batch.to_pylist():
            events[row["k"]].append((row["_row_kind"], row["v"]))
    return dict(events)


def flinks(flink: Flink, table: Table, count: int) -> Events:
    """The events of each key, as Flink's connector streams them."""
    name = name_of(Path(table.location.removeprefix("file://")))
    audit = f"{name[:-1]}$audit_log`"
    query = f"SELECT rowkind, k, v FROM {audit} /*+ OPTIONS('scan.snapshot-id' = '1') */"
    events: Events = defaultdict(list)
    for _, kind, key, value in flink.follow(query, count=count):
        events[whole(key)].append((str(kind), whole(value)))
    return dict(events)


def whole(value: Json) -> int:
    assert isinstance(value, int)
    return value


def compared(flink: Flink, table: Table) -> None:
    events = ours(table)
    count = sum(map(len, events.values()))
    assert count > KEYS
    assert flinks(flink, table, count) == events


@pytest.mark.parametrize("producer", PRODUCERS)
def test_flink_follows_what_lakebed_writes(flink: Flink, warehouse: Path, producer: str) -> None:
    table = make(warehouse, f"ours_{producer.replace('-', '_')}", producer)
    for action, pairs in batches(producer):
        if action == "delete":
            table.delete(f"k IN ({', '.join(str(key) for key, _ in pairs)})")
        else:
            table.upsert(pa.table({"k": [k for k, _ in pairs], "v": [v for _, v in pairs]}))
        if producer != "none":
            table.compact(compact_strategy="full")
    compared(flink, table)


@pytest.mark.parametrize("producer", PRODUCERS)
def test_lakebed_follows_what_flink_writes(flink: Flink, warehouse: Path, producer: str) -> None:
    table = make(warehouse, f"theirs_{producer.replace('-', '_')}", producer)
    name = name_of(Path(table.location.removeprefix("file://")))
    for action, pairs in batches(f"flink {producer}"):
        if action == "delete":
            flink.ask(f"DELETE FROM {name} WHERE k IN ({', '.join(str(key) for key, _ in pairs)})")
        else:
            values = ", ".join(f"({key}, {value})" for key, value in pairs)
            flink.ask(f"INSERT INTO {name} VALUES {values}")
    compared(flink, table)
