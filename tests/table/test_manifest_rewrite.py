"""Which manifests are written anew, and in which order their files go into the new ones."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import EMPTY_STATS
from lakebed.format.manifest import ManifestFileMeta
from lakebed.table.metadata.manifest_rewrite import (
    LiveFiles,
    ManifestRewrite,
    may_gain,
    planned_rewrite,
)

TARGET = 10


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """A manifest of files that are called by it and their place, such as `b2`.

    Attributes:
        size: Its bytes.
        live: Places of its live files.
        gone: How many entries it has beside them.
        days: The partition of each live file, where manifests are sorted.
    """

    size: int
    live: tuple[int, ...] = (0,)
    gone: int = 0
    days: tuple[int, ...] = ()


def meta_of(name: str, manifest: Manifest) -> ManifestFileMeta:
    return ManifestFileMeta(
        file_name=name,
        file_size=manifest.size,
        num_added_files=len(manifest.live) + manifest.gone // 2,
        num_deleted_files=manifest.gone - manifest.gone // 2,
        partition_stats=EMPTY_STATS,
        schema_id=0,
    )


def plan(*manifests: Manifest, batch_bytes: int = 1000) -> ManifestRewrite | None:
    metas = [meta_of(chr(ord("a") + number), each) for number, each in enumerate(manifests)]
    days = [day for each in manifests for day in each.days]
    live = LiveFiles(
        manifests=metas,
        numbers=np.repeat(np.arange(len(metas)), [len(each.live) for each in manifests]),
        rows=np.array([row for each in manifests for row in each.live], np.int64),
        ranks=np.array(days, np.int64) if days else None,
    )
    return planned_rewrite(live, target_size_bytes=TARGET, batch_bytes=batch_bytes)


class Files:
    """Takes what is written."""

    def __init__(self, batches: list[list[str]]) -> None:
        self.batches = batches

    def write(self, entries: pa.Table) -> None:
        self.batches.append(python_values(entries.column("name")))

    def finish(self) -> list[ManifestFileMeta]:
        return [meta_of("new", Manifest(size=1))]


def carried_out(rewrite: ManifestRewrite | None) -> tuple[list[str], list[list[str]]]:
    """The manifests that are left, and the files that are written, batch by batch."""
    assert rewrite is not None
    batches: list[list[str]] = []
    left = rewrite.write(
        lambda meta: pa.table({"name": [f"{meta.file_name}{row}" for row in range(100)]}),
        lambda: Files(batches),
    )
    return [meta.file_name for meta in left], batches


def batches(rewrite: ManifestRewrite | None) -> list[list[str]]:
    return carried_out(rewrite)[1]


def left(rewrite: ManifestRewrite | None) -> list[str]:
    return carried_out(rewrite)[0]


def test_small_manifests_next_to_each_other_become_fewer_and_large_ones_stay() -> None:
    small = (Manifest(size=3), Manifest(size=4, live=(0, 1)))
    rewrite = plan(Manifest(size=30), *small, Manifest(size=30), *small, Manifest(size=30))
    assert left(rewrite) == ["a", "new", "d", "new", "g"]
    assert batches(rewrite) == [["b0", "c0", "c1"], ["e0", "f0", "f1"]]


def test_a_small_manifest_between_large_ones_keeps_its_place() -> None:
    assert plan(Manifest(size=30), Manifest(size=3), Manifest(size=30), Manifest(size=3)) is None


@pytest.mark.parametrize("sizes", [(), (3,), (30,), (30, 3), (30, 30, 3), (9, 9)], ids=str)
def test_nothing_is_done_where_nothing_is_gained(sizes: tuple[int, ...]) -> None:
    manifests = [Manifest(size=size) for size in sizes]
    assert plan(*manifests) is None
    assert not may_gain([meta_of("m", each) for each in manifests], target_size_bytes=TARGET)


def test_a_manifest_with_entries_that_are_gone_is_written_without_them() -> None:
    rewrite = plan(Manifest(size=30, live=(2, 5), gone=4), Manifest(size=30))
    assert left(rewrite) == ["new", "b"]
    assert batches(rewrite) == [["a2", "a5"]]
    assert rewrite is not None
    assert [each.why for each in rewrite.rewritten] == [
        "4 of its 6 entries are of files that are gone"
    ]


def test_of_a_table_that_became_empty_nothing_is_left() -> None:
    rewrite = plan(Manifest(size=3, live=(), gone=2), Manifest(size=30, live=(), gone=2))
    assert batches(rewrite) == []


def test_few_manifests_are_read_before_they_are_written() -> None:
    manifests = [Manifest(size=4, live=(0, 1)) for _ in range(4)]
    assert batches(plan(*manifests, batch_bytes=8)) == [
        ["a0", "a1", "b0"],
        ["b1", "c0", "c1", "d0"],
        ["d1"],
    ]


def test_files_are_sorted_by_partition_and_keep_their_order_within_it() -> None:
    first = Manifest(size=30, live=(0, 1, 2), days=(3, 1, 2))
    second = Manifest(size=30, live=(1, 0), days=(2, 1))
    rewrite = plan(first, second)
    assert left(rewrite) == ["new"]
    assert batches(rewrite) == [["a1", "b0", "a2", "b1", "a0"]]
    assert batches(plan(first, second, batch_bytes=30)) == [["a1", "b0"], ["a2", "b1"], ["a0"]]


def test_manifests_that_follow_each_other_are_sorted() -> None:
    days = ((4, 5), (1, 3), (3, 3), (3, 4))
    manifests = [Manifest(size=30, live=(0, 1), days=each) for each in days]
    assert plan(*manifests) is None
    rewrite = plan(*manifests, Manifest(size=30, live=(0, 1), days=(2, 2)))
    assert left(rewrite) == ["new"]
    assert sorted(batches(rewrite)[0]) == sorted(
        f"{name}{row}" for name in "abcde" for row in (0, 1)
    )


def test_small_manifests_that_follow_each_other_are_sorted_into_few() -> None:
    manifests = [Manifest(size=4, days=(day,)) for day in (2, 0, 1)]
    rewrite = plan(*manifests, Manifest(size=30, days=(3,)))
    assert left(rewrite) == ["new"]
    assert batches(rewrite) == [["b0", "c0", "a0", "d0"]]


manifests_of = st.builds(
    lambda size, days, gone: Manifest(
        size=size, live=tuple(range(len(days))), gone=gone, days=tuple(days)
    ),
    st.integers(1, 15),
    st.lists(st.integers(0, 5), min_size=1, max_size=5),
    st.integers(0, 2),
)


@given(st.lists(manifests_of, max_size=6), st.booleans(), st.integers(1, 40))
def test_every_live_file_is_kept_or_written_once(
    manifests: list[Manifest],
    is_sorted: bool,  # noqa: FBT001 - hypothesis gives it
    batch_bytes: int,
) -> None:
    unsorted = [Manifest(size=m.size, live=m.live, gone=m.gone) for m in manifests]
    rewrite = plan(*(manifests if is_sorted else unsorted), batch_bytes=batch_bytes)
    metas = [meta_of("m", each) for each in manifests]
    if rewrite is None:
        assert not any(each.gone for each in manifests)
        return
    assert is_sorted or may_gain(metas, target_size_bytes=TARGET)
    stay, written_batches = carried_out(rewrite)
    written = [name for batch in written_batches for name in batch]
    kept = [f"{m}{row}" for m in stay if m != "new" for row in manifests[ord(m) - 97].live]
    every = [f"{chr(97 + n)}{row}" for n, each in enumerate(manifests) for row in each.live]
    assert sorted(written + kept) == sorted(every)
    if is_sorted:
        days = [manifests[ord(name[0]) - 97].days[int(name[1:])] for name in written]
        assert days == sorted(days)
    else:
        assert written == sorted(written)
