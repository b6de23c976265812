from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.data_file_meta import EMPTY_STATS
from lakebed.format.manifest import ManifestFileMeta
from lakebed.table.metadata.manifest_merge import MergePolicy

POLICY = MergePolicy(target_size_bytes=8, count_min=3, full_size_bytes=100)


def manifest(size: int, *, name: str = "m", deletes: int = 0) -> ManifestFileMeta:
    return ManifestFileMeta(
        file_name=name,
        file_size=size,
        num_added_files=1,
        num_deleted_files=deletes,
        partition_stats=EMPTY_STATS,
        schema_id=0,
    )


def picked(*sizes: int, policy: MergePolicy = POLICY) -> list[list[int]]:
    """Sizes of the groups of plain manifests."""
    found = policy.pick([manifest(size, name=str(i)) for i, size in enumerate(sizes)])
    return [[meta.file_size for meta in group] for group in found]


def test_no_manifest_makes_no_group() -> None:
    assert picked() == []


def test_small_manifests_are_merged_once_they_reach_the_target_together() -> None:
    assert picked(3, 3, 2, 1) == [[3, 3, 2], [1]]
    assert picked(4, 4, 4, 4) == [[4, 4], [4, 4]]


def test_a_large_manifest_alone_stays_and_one_behind_small_ones_takes_them_along() -> None:
    assert picked(8, 20) == [[8], [20]]
    assert picked(1, 20, 1) == [[1, 20], [1]]


def test_the_rest_is_merged_only_when_there_are_many() -> None:
    assert picked(2, 2) == [[2], [2]]
    assert picked(2, 2, 2) == [[2, 2, 2]]
    assert picked(8, 2, 2, 2) == [[8], [2, 2, 2]]
    assert picked(8, 2, 2) == [[8], [2], [2]]


def test_at_the_full_threshold_all_small_ones_are_merged_at_once() -> None:
    policy = MergePolicy(target_size_bytes=8, count_min=30, full_size_bytes=15)
    assert picked(5, 9, 5, 5, policy=policy) == [[9], [5, 5, 5]]
    assert picked(5, 9, 5, 4, policy=policy) == [[5, 9], [5, 4]]


def test_a_full_merge_with_deletes_takes_every_manifest_so_that_they_meet_their_adds() -> None:
    large, with_deletes = manifest(90, name="a"), manifest(95, name="b", deletes=1)
    small = manifest(5, name="c")
    assert POLICY.pick([large, with_deletes, small]) == [[large, with_deletes, small]]
    alone = manifest(110, name="d", deletes=1)
    assert POLICY.pick([alone, large]) == [[alone], [large]]


def test_one_manifest_is_never_merged_with_itself() -> None:
    assert POLICY.pick([manifest(1000, deletes=5)]) == [[manifest(1000, deletes=5)]]


metas = st.builds(manifest, st.integers(1, 12), name=st.uuids().map(str), deletes=st.integers(0, 1))
policies = st.builds(
    MergePolicy,
    target_size_bytes=st.integers(1, 12),
    count_min=st.integers(1, 5),
    full_size_bytes=st.integers(1, 60),
)


@given(st.lists(metas, max_size=12), policies)
def test_every_manifest_is_in_one_group(
    manifests: list[ManifestFileMeta], policy: MergePolicy
) -> None:
    groups = policy.pick(manifests)
    assert all(groups)
    names = [meta.file_name for group in groups for meta in group]
    assert sorted(names) == sorted(meta.file_name for meta in manifests)


@given(st.lists(metas, max_size=12), policies)
def test_what_stays_apart_is_too_little_to_be_merged(
    manifests: list[ManifestFileMeta], policy: MergePolicy
) -> None:
    """So the number of manifests is bounded by the data and `merge-min-count`, whatever comes."""
    small = [
        group[0]
        for group in policy.pick(manifests)
        if len(group) == 1 and group[0].file_size < policy.target_size_bytes
    ]
    assert len(small) < max(policy.count_min, 2)
    assert sum(meta.file_size for meta in small) < policy.target_size_bytes
