"""Rows of `bucket-postpone` get real buckets, in the order in which they came."""

import itertools

import numpy as np
import pyarrow as pa
import pytest

from lakebed.errors import CommitConflictError, StorageError
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind
from lakebed.storage.file_io import FileIO
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.postponed import place_postponed
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.faulty_file_io import FaultyFileIO
from support.scripted_file_io import ScriptedFileIO, meanwhile
from support.store_listing import orphans, read_store

COLUMNS = [("id", "BIGINT NOT NULL"), ("p", "STRING NOT NULL"), ("v", "INT")]
Key = tuple[int, str]


def make(options: dict[str, str] | None = None, *, store: FileIO | None = None) -> Table:
    catalog = open_catalog(store or MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=schema(COLUMNS),
        primary_key=["id", "p"],
        partition_by=["p"],
        options={
            "bucket": "-2",
            "postpone.batch-write-fixed-bucket": "false",
            "postpone.target-row-num-per-bucket": "40",
            **(options or {}),
        },
    )


def upsert(table: Table, seed: int, model: dict[Key, int]) -> None:
    """Rows of some keys, a few of them deletes."""
    chance = np.random.default_rng(seed)
    ids = chance.choice(200, 60, replace=False).tolist()
    parts = chance.choice(["x", "y"], 60).tolist()
    kinds = np.where(chance.random(60) < 0.2, "-D", "+I").tolist()
    rows = {"id": ids, "p": parts, "v": pa.array([seed] * 60, pa.int32()), "_row_kind": kinds}
    table.upsert(pa.table(rows))
    for *key, kind in zip(ids, parts, kinds, strict=True):
        if kind == "-D":
            model.pop((key[0], key[1]), None)
        else:
            model[key[0], key[1]] = seed


def found(table: Table) -> dict[Key, int]:
    return {(row["id"], row["p"]): row["v"] for row in table.scan().to_arrow().to_pylist()}


def counts(table: Table) -> dict[bytes, set[int]]:
    """The bucket counts of each partition."""
    parts = table.parts()
    snapshot = parts.snapshots.latest()
    assert snapshot is not None
    live = parts.manifests.live(snapshot, partitions=EveryPartition())
    told: dict[bytes, set[int]] = {}
    for row in live.select(["partition", "total_buckets"]).to_pylist():
        told.setdefault(row["partition"], set()).add(row["total_buckets"])
    return told


def test_rows_that_waited_are_seen_when_they_have_buckets_the_newest_of_a_key() -> None:
    table, model = make(), dict[Key, int]()
    for round_start in (0, 3):
        for seed in range(round_start, round_start + 3):
            upsert(table, seed, model)
        assert found(table) != model
        snapshot = place_postponed(table.parts(), EveryPartition())
        assert snapshot is not None
        assert snapshot.commit_kind is CommitKind.COMPACT
        assert found(table) == model
        # A partition that has buckets keeps their number.
        assert set(map(frozenset, counts(table).values())) == {frozenset({4})}
    assert place_postponed(table.parts(), EveryPartition()) is None


def test_rows_of_a_table_without_postponed_buckets_stay_where_they_are() -> None:
    table = make({"bucket": "2"})
    upsert(table, 1, {})
    assert place_postponed(table.parts(), EveryPartition()) is None


def test_the_input_is_told_as_changelog_when_rows_get_their_buckets() -> None:
    table, model = make({"changelog-producer": "input"}), dict[Key, int]()
    upsert(table, 1, model)
    written = table.latest_snapshot()
    assert written is not None
    assert written.changelog_record_count is None
    snapshot = place_postponed(table.parts(), EveryPartition())
    assert snapshot is not None
    assert snapshot.changelog_record_count == 60


def test_of_two_that_place_the_same_rows_the_second_gives_up() -> None:
    table, model = make(), dict[Key, int]()
    upsert(table, 1, model)
    store = table.parts().file_io
    rival = meanwhile(lambda: place_postponed(table.parts(), EveryPartition()))
    late = reopen(table, ScriptedFileIO(store, [rival]), seed=3)
    with pytest.raises(CommitConflictError):
        place_postponed(late.parts(), EveryPartition())
    assert found(table) == model
    # Those that waited are of the snapshot before.
    assert {path for path in orphans(table, store) if "/bucket-postpone/" not in path} == set()


def test_a_failure_anywhere_leaves_the_rows_waiting_or_placed() -> None:
    for call in itertools.count(1):
        store, model = MemoryFileIO(), dict[Key, int]()
        table = make(store=store)
        upsert(table, 1, model)
        kept = read_store(store, table.location)
        faulty = FaultyFileIO(store, call)
        try:
            place_postponed(reopen(table, faulty, seed=5).parts(), EveryPartition())
        except StorageError:
            assert read_store(store, table.location) == kept, faulty.failed_call
        place_postponed(table.parts(), EveryPartition())
        assert found(table) == model
        if faulty.failed_call is None or "/snapshot/" in faulty.failed_call:
            break
    assert call > 10
