"""The algebra of entries, on entries made by hand."""

import random
from typing import Any

import pyarrow as pa
import pytest

from lakebed.errors import CommitConflictError, CorruptTableError
from lakebed.format.data_file_meta import EMPTY_STATS, DataFileMeta, FileKind, ManifestEntry
from lakebed.format.manifest import entries_from_columns, entries_to_columns
from lakebed.table.metadata.entries import (
    Identity,
    bucket_counts,
    check_bucket_counts,
    check_deletes_live,
    identity,
    live_entries,
    live_identities,
    max_sequence_numbers,
    net_entries,
)

ADD, DELETE = FileKind.ADD, FileKind.DELETE


def entry(
    kind: FileKind,
    name: str,
    *,
    partition: bytes = b"p",
    bucket: int = 0,
    level: int = 0,
    total_buckets: int = 1,
    sequence: int = 0,
    extra_files: tuple[str, ...] = (),
    embedded_file_index: bytes | None = None,
) -> ManifestEntry:
    return ManifestEntry(
        kind=kind,
        partition=partition,
        bucket=bucket,
        total_buckets=total_buckets,
        file=DataFileMeta(
            file_name=name,
            file_size=1,
            row_count=1,
            min_key=b"",
            max_key=b"",
            key_stats=EMPTY_STATS,
            value_stats=EMPTY_STATS,
            min_sequence_number=sequence,
            max_sequence_number=sequence,
            schema_id=0,
            level=level,
            extra_files=extra_files,
            embedded_file_index=embedded_file_index,
        ),
    )


def spelled(entries: pa.Table) -> list[str]:
    """`+name` or `-name` of each entry."""
    return [
        f"{'+-'[each.kind]}{each.file.file_name}@{each.file.level}"
        for each in entries_from_columns(entries)
    ]


def net(*entries: ManifestEntry) -> list[str]:
    return spelled(net_entries(entries_to_columns(entries), source="t"))


def live(*entries: ManifestEntry) -> list[str]:
    return spelled(live_entries(entries_to_columns(entries), source="t"))


def test_an_add_is_live_until_it_is_deleted() -> None:
    assert live(entry(ADD, "a"), entry(ADD, "b")) == ["+a@0", "+b@0"]
    assert live(entry(ADD, "a"), entry(ADD, "b"), entry(DELETE, "a")) == ["+b@0"]
    assert live(entry(DELETE, "a"), entry(ADD, "b"), entry(ADD, "a")) == ["+b@0"]
    assert live() == []


def test_a_delete_without_its_add_stays_when_netting_and_is_no_live_file() -> None:
    assert net(entry(DELETE, "a"), entry(ADD, "b")) == ["-a@0", "+b@0"]
    assert live(entry(DELETE, "a"), entry(ADD, "b")) == ["+b@0"]


@pytest.mark.parametrize("other", [{"partition": b"q"}, {"bucket": 1}, {"level": 1}], ids=str)
def test_partition_bucket_and_level_are_part_of_the_identity(other: dict[str, int]) -> None:
    gone = entry(DELETE, "a", **other)  # type: ignore[arg-type]  # one argument a time
    assert len(net(entry(ADD, "a"), gone)) == 2
    assert identity(gone) != identity(entry(DELETE, "a"))


def test_a_level_upgrade_is_a_delete_and_an_add_of_one_file() -> None:
    upgraded = (entry(DELETE, "a"), entry(ADD, "a", level=5))
    assert live(entry(ADD, "a"), *upgraded) == ["+a@5"]


@pytest.mark.parametrize(
    "index", [{"extra_files": ("a.index",)}, {"embedded_file_index": b"i"}], ids=str
)
def test_a_file_that_gets_another_index_has_another_identity(index: dict[str, Any]) -> None:
    plain, indexed = entry(DELETE, "a"), entry(ADD, "a", **index)
    assert net(plain, indexed) == ["-a@0", "+a@0"]
    left = live_entries(entries_to_columns([entry(ADD, "a"), plain, indexed]), source="t")
    assert entries_from_columns(left) == [indexed]
    check_deletes_live([plain, indexed], {identity(entry(ADD, "a"))}, base=7)
    with pytest.raises(CommitConflictError, match="data file a"):
        check_deletes_live(
            [plain, entry(ADD, "a", extra_files=("b",))], {identity(indexed)}, base=7
        )


def test_identities_of_more_values_than_a_number_holds_are_told_apart() -> None:
    def at(number: int, kind: FileKind, name: int) -> ManifestEntry:
        return entry(
            kind,
            f"{name}",
            partition=b"%d" % number,
            bucket=number,
            level=number,
            embedded_file_index=b"%d" % number,
        )

    files = [at(number, ADD, number) for number in range(1 << 13)]
    entries = [*files, at(5, ADD, 0), at(5, DELETE, 1 << 12)]
    assert net_entries(entries_to_columns(entries), source="t").num_rows == len(entries)


def test_a_file_added_again_after_its_delete_is_live_once() -> None:
    assert live(entry(ADD, "a"), entry(DELETE, "a"), entry(ADD, "a")) == ["+a@0"]


@pytest.mark.parametrize(
    "entries",
    [
        (entry(ADD, "a"), entry(ADD, "a"), entry(DELETE, "b")),
        (entry(DELETE, "a"), entry(DELETE, "a")),
        (entry(ADD, "a"), entry(ADD, "b"), entry(ADD, "a")),
    ],
    ids=["added twice", "deleted twice", "added twice, nothing deleted"],
)
def test_a_file_that_is_there_twice_is_corrupt(entries: tuple[ManifestEntry, ...]) -> None:
    with pytest.raises(CorruptTableError, match="data file a is added or deleted twice"):
        live(*entries)


@pytest.mark.parametrize("seed", range(20))
def test_netting_in_any_parts_and_order_comes_to_what_a_set_says(seed: int) -> None:
    chance = random.Random(seed)
    history: list[ManifestEntry] = []
    model: set[Identity] = set()
    for _ in range(60):
        name, bucket = f"f{chance.randrange(6)}", chance.randrange(2)
        partition, level = chance.choice([b"", b"p"]), chance.randrange(2)
        probe = entry(ADD, name, partition=partition, bucket=bucket, level=level)
        kind = DELETE if identity(probe) in model else ADD
        history.append(entry(kind, name, partition=partition, bucket=bucket, level=level))
        model ^= {identity(probe)}
    cuts = sorted(chance.sample(range(60), 4))
    parts = [history[a:b] for a, b in zip([0, *cuts], [*cuts, 60], strict=True)]
    netted = [net_entries(entries_to_columns(part), source="t") for part in parts]
    chance.shuffle(netted)
    assert live_identities(live_entries(pa.concat_tables(netted), source="t")) == model


def test_a_delete_must_find_its_file_live() -> None:
    there = {identity(entry(ADD, "a"))}
    check_deletes_live([entry(DELETE, "a"), entry(ADD, "b")], there, base=7)
    with pytest.raises(CommitConflictError, match=r"data file c \(bucket 0\).*of snapshot 7"):
        check_deletes_live([entry(DELETE, "a"), entry(DELETE, "c")], there, base=7)
    with pytest.raises(CommitConflictError, match="data file a"):
        check_deletes_live([entry(DELETE, "a", level=1)], there, base=7)


def test_an_add_must_not_be_live_already() -> None:
    with pytest.raises(CommitConflictError, match="part of snapshot 7 already"):
        check_deletes_live([entry(ADD, "a")], {identity(entry(ADD, "a"))}, base=7)


def test_files_of_a_partition_share_one_bucket_count() -> None:
    four = entry(ADD, "a", total_buckets=4)
    check_bucket_counts([four], {b"p": 4}, base=1)
    check_bucket_counts([four], {b"q": 2}, base=1)
    check_bucket_counts([entry(DELETE, "a", total_buckets=2), four], {b"p": 4}, base=1)
    check_bucket_counts([entry(ADD, "a", total_buckets=-1)], {b"p": 4}, base=1)
    with pytest.raises(CommitConflictError, match="used 4 buckets, but the partition has 2"):
        check_bucket_counts([four], {b"p": 2}, base=1)
    with pytest.raises(CommitConflictError, match="used 4 buckets, but the partition has 3"):
        check_bucket_counts([entry(ADD, "b", total_buckets=3), four], {}, base=1)


def test_bucket_counts_and_sequence_numbers_are_taken_by_partition() -> None:
    columns = entries_to_columns(
        [
            entry(ADD, "a", total_buckets=4, bucket=1, sequence=7),
            entry(ADD, "b", total_buckets=4, bucket=1, sequence=9),
            entry(ADD, "c", total_buckets=4, bucket=2, sequence=3),
            entry(ADD, "d", total_buckets=-1, partition=b"q", sequence=1),
            entry(ADD, "e", total_buckets=2, partition=b"r", sequence=0),
        ]
    )
    assert bucket_counts(columns) == {b"p": 4, b"r": 2}
    assert max_sequence_numbers(columns) == {
        (b"p", 1): 9,
        (b"p", 2): 3,
        (b"q", 0): 1,
        (b"r", 0): 0,
    }
