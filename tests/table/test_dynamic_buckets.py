"""Tables with dynamic buckets: a key has one bucket, whoever wrote it, and its index says which."""

import itertools
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.catalog.loading import load_table
from lakebed.errors import (
    CommitConflictError,
    CorruptTableError,
    InvalidTableError,
    StorageError,
)
from lakebed.format.hash_index import decode_hashes
from lakebed.format.schema_definition import schema
from lakebed.storage.file_io import FileIO
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.faulty_file_io import FaultyFileIO
from support.golden_manifests import DATABASE
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
        options={"bucket": "-1", "dynamic-bucket.target-row-num": "5", **(options or {})},
    )


def rows(keys: list[Key], version: int = 0) -> pa.Table:
    return pa.table(
        {
            "id": pa.array([key[0] for key in keys], pa.int64()),
            "p": pa.array([key[1] for key in keys], pa.string()),
            "v": pa.array([version] * len(keys), pa.int32()),
        }
    )


def some(ids: range, partition: str = "x") -> list[Key]:
    return [(number, partition) for number in ids]


def buckets_of_keys(table: Table) -> dict[Key, int]:
    """The bucket of every key that a scan finds, which finds none twice."""
    found: dict[Key, int] = {}
    plan = table.scan(columns=["id", "p"]).plan()
    for split in plan.splits:
        for batch in plan.reader.read(split):
            for row in batch.to_pylist():
                assert (row["id"], row["p"]) not in found
                found[row["id"], row["p"]] = split.bucket
    return found


def indexed(table: Table) -> dict[tuple[bytes, int], list[int]]:
    """The hashes that the newest snapshot's indexes hold."""
    paths = table.parts().paths
    found = {}
    for entry in table.parts().manifests.index_files(table.latest_snapshot()):
        path = paths.index(entry.file_name)
        hashes = decode_hashes(table.file_io.read(path), path).tolist()
        assert entry.row_count == len(hashes) == len(set(hashes))
        found[entry.partition, entry.bucket] = hashes
    return found


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "append", "delete", "overwrite", "dynamic", "truncate"]),
        st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["x", "y"])), max_size=25),
    ),
    max_size=8,
)


@settings(max_examples=15)
@given(
    steps=STEPS,
    growth=st.fixed_dictionaries(
        {"dynamic-bucket.target-row-num": st.sampled_from(["1", "4", "100"])},
        optional={
            "dynamic-bucket.initial-buckets": st.sampled_from(["1", "3"]),
            "dynamic-bucket.max-buckets": st.sampled_from(["2", "-1"]),
        },
    ),
    memory=st.sampled_from(["1 b", "1 mb"]),
)
def test_a_key_has_one_bucket_through_any_life(
    steps: list[tuple[str, list[Key]]], growth: dict[str, str], memory: str
) -> None:
    table = make({**growth, "write-buffer-size": memory})
    model: dict[Key, int] = {}
    bucket_of: dict[Key, int] = {}
    for version, (kind, keys) in enumerate(steps):
        take(table, kind, keys=keys, version=version)
        model = {key: told for key, told in model.items() if not is_gone(key, kind, keys)}
        if kind != "delete":
            bucket_of = {k: told for k, told in bucket_of.items() if not is_gone(k, kind, keys)}
        if kind in {"append", "overwrite", "dynamic"}:
            model |= dict.fromkeys(keys, version)
        told = {(r["id"], r["p"]): r["v"] for r in table.scan().to_arrow().to_pylist()}
        assert told == model
        found = buckets_of_keys(table)
        known = {key: bucket for key, bucket in found.items() if key in bucket_of}
        assert known == {key: bucket_of[key] for key in known}
        bucket_of |= found
        sizes = Counter((key[1], bucket) for key, bucket in bucket_of.items())
        assert sorted(map(len, indexed(table).values())) == sorted(sizes.values())


def take(table: Table, kind: str, *, keys: list[Key], version: int) -> None:
    """One step of a life."""
    match kind:
        case "append":
            table.append(rows(keys, version))
        case "delete":
            table.delete(f"id IN ({', '.join(str(key[0]) for key in keys) or '-1'})")
        case "truncate":
            table.truncate()
        case _:
            table.overwrite(rows(keys, version), partition="dynamic" if kind == "dynamic" else None)


def is_gone(key: Key, kind: str, keys: list[Key]) -> bool:
    """Whether a step of some keys takes this one away."""
    match kind:
        case "delete":
            return key[0] in {each[0] for each in keys}
        case "dynamic":
            return key[1] in {each[1] for each in keys}
        case _:
            return kind in {"overwrite", "truncate"}


def test_files_and_indexes_say_that_the_number_of_buckets_is_not_fixed() -> None:
    table = make()
    table.append(rows(some(range(12))))
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    entries = table.parts().manifests.live(snapshot, partitions=EveryPartition())
    assert entries.column("total_buckets").to_pylist() == [-1, -1, -1]
    assert set(entries.column("bucket").to_pylist()) == {0, 1, 2}
    assert {bucket: len(held) for (_, bucket), held in indexed(table).items()} == {0: 5, 1: 5, 2: 2}


def test_only_buckets_with_new_keys_get_a_new_index() -> None:
    table = make()
    table.append(rows(some(range(12)) + some(range(3), "y")))
    before = names(table)
    table.append(rows(some(range(11))))
    assert names(table) == before
    table.append(rows([(20, "x"), (1, "x")]))
    after = names(table)
    assert {place for place in after if after[place] != before.get(place)} == {("x", 2)}
    assert buckets_of_keys(table)[20, "x"] == 2
    assert orphans(table, table.file_io) == set()


def names(table: Table) -> dict[tuple[str, int], str]:
    found = load_system(table).to_pylist()
    return {(row["partition"].strip("{}"), row["bucket"]): row["file_name"] for row in found}


def load_system(table: Table) -> pa.Table:
    catalog = open_catalog(table.file_io, seed=5)
    return catalog.load_table("db.t$table_indexes").scan().to_arrow()


def test_a_golden_table_is_written_on_with_its_keys_where_they_are(tmp_path: Path) -> None:
    location = tmp_path / "db.db" / "t"
    shutil.copytree(DATABASE / "pk_dynamic_bucket", location)
    table = load_table(str(location))
    before = buckets_of_keys(table)
    stored = table.scan().to_arrow()
    old, fresh = stored.slice(0, 40), stored.slice(40, 30)
    position = stored.column_names.index("id")
    moved = pa.compute.add(fresh["id"], 10_000).cast(stored.schema.field("id").type)
    table.append(old)
    table.append(fresh.set_column(position, "id", moved))
    table = load_table(str(location))
    after = buckets_of_keys(table)
    assert {key: after[key] for key in before} == before
    assert len(after) == len(before) + 30
    sizes = [len(held) for held in indexed(table).values()]
    assert max(sizes) == 20
    # The golden table keeps the hashes of its deleted keys.
    assert sum(sizes) == 100 + 30


RIVALS: dict[str, Callable[[Table], object]] = {
    "new keys": lambda table: table.append(rows(some(range(100, 103)))),
    "an overwrite": lambda table: table.overwrite(rows(some(range(3))), partition={"p": "x"}),
    "a drop": lambda table: table.overwrite(None, partition={"p": "x"}),
}


@pytest.mark.parametrize("rival", RIVALS)
@pytest.mark.parametrize("keys", [some(range(2)), some(range(200, 202))], ids=["known", "new"])
def test_a_partition_whose_index_another_writer_changed_is_a_conflict(
    rival: str, keys: list[Key]
) -> None:
    table = make()
    table.append(rows(some(range(7)) + some(range(3), "y")))
    other = reopen(table, table.file_io, seed=7)

    def write_beside_another() -> None:
        with table.writer() as writer:
            writer.append(rows(keys, 9))
            RIVALS[rival](other)

    with pytest.raises(CommitConflictError, match=r"hash index|no longer listed"):
        write_beside_another()
    assert 9 not in table.scan().to_arrow()["v"].to_pylist()
    assert orphans(table, table.file_io) == set()


def test_another_partition_may_be_written_meanwhile_and_known_keys_by_two() -> None:
    table = make()
    table.append(rows(some(range(7)) + some(range(3), "y")))
    other = reopen(table, table.file_io, seed=7)
    with table.writer() as writer:
        writer.append(rows(some(range(5, 12)), 1))
        other.append(rows(some(range(20), "y") + some(range(4)), 2))
    told = {(r["id"], r["p"]): r["v"] for r in table.scan().to_arrow().to_pylist()}
    others = dict.fromkeys(some(range(4)) + some(range(20), "y"), 2)
    assert told == {(4, "x"): 0, **others, **dict.fromkeys(some(range(5, 12)), 1)}
    assert len(buckets_of_keys(table)) == 32


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: data[:-1], "4 bytes a key"),
        (lambda data: data + bytes(4), "its manifest says 5"),
    ],
)
def test_a_damaged_index_stops_a_write_and_no_read(
    damage: Callable[[bytes], bytes], words: str
) -> None:
    table = make()
    table.append(rows(some(range(7))))
    path = table.parts().paths.index(names(table)["x", 0])
    data = table.file_io.read(path)
    table.file_io.delete(path)
    table.file_io.write(path, damage(data))
    with pytest.raises(CorruptTableError, match=words):
        table.append(rows(some(range(1))))
    assert table.scan().count() == 7
    table.append(rows(some(range(3), "y")))


def test_a_failed_write_leaves_neither_rows_nor_indexes() -> None:
    store = MemoryFileIO()
    table = make(store=store)
    table.append(rows(some(range(7))))
    kept = read_store(store, table.location)
    for call in itertools.count(1):
        faulty = FaultyFileIO(store, call)
        broken = reopen(table, faulty, seed=call)
        try:
            broken.append(rows(some(range(20)) + some(range(6), "y"), 1))
        except StorageError:
            assert read_store(store, table.location) == kept, faulty.failed_call
        if faulty.failed_call is None or "/snapshot/" in faulty.failed_call:
            break
    assert call > 10


def test_a_bucket_that_holds_no_key_is_refused() -> None:
    with pytest.raises(InvalidTableError, match="target-row-num' is 0"):
        make({"dynamic-bucket.target-row-num": "0"}).append(rows(some(range(1))))
