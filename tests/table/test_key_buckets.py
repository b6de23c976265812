"""Dynamic buckets, key by key: what the assignment in columns must come to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import InvalidTableError
from lakebed.options.table_options import TableOptions
from lakebed.table.writing.bucket_room import BucketGrowth, BucketRoom, Share, assigners_of
from lakebed.table.writing.key_buckets import KeyBuckets

KEYS = st.integers(-6, 6) | st.integers(-(2**31), 2**31 - 1)
BATCHES = st.lists(st.lists(KEYS, max_size=30), max_size=8)


class OneByOne:
    """The rule in plain Python: a known key where it is, a new one where there is room."""

    def __init__(self, growth: BucketGrowth, partition_hash: int) -> None:
        self.growth, self.partition_hash = growth, partition_hash
        self.bucket_of: dict[int, int] = {}
        self.counts: dict[int, int] = {}

    def assign(self, key: int) -> int:
        if key not in self.bucket_of:
            bucket = self.free_bucket(self.owner(key))
            self.bucket_of[key] = bucket
            self.counts[bucket] = self.counts.get(bucket, 0) + 1
        return self.bucket_of[key]

    def owner(self, key: int) -> int:
        count = self.growth.assigners
        return (abs(self.partition_hash) % count + abs(key) % count) % count

    def free_bucket(self, owner: int) -> int:
        for bucket in sorted(self.counts):
            is_own = bucket % self.growth.assigners == owner
            if is_own and self.counts[bucket] < self.growth.target_rows:
                return bucket
        return next(b for b in range(owner, 32767, self.growth.assigners) if b not in self.counts)


def growth(target: int, *, limit: int = 32767, assigners: int = 1) -> BucketGrowth:
    return BucketGrowth(
        target_rows=target, bucket_limit=limit, is_bounded=limit < 32767, assigners=assigners
    )


def hashes(keys: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(keys, np.int32)


@given(
    batches=BATCHES,
    target=st.integers(1, 7),
    assigners=st.integers(1, 3),
    partition_hash=st.integers(-(2**31), 2**31 - 1),
    reopens=st.booleans(),
)
def test_batches_come_to_the_same_buckets_as_key_by_key(
    *,
    batches: list[list[int]],
    target: int,
    assigners: int,
    partition_hash: int,
    reopens: bool,
) -> None:
    rule = growth(target, assigners=assigners)
    model = OneByOne(rule, partition_hash)
    stored: dict[int, list[int]] = {}
    keys = KeyBuckets([], rule, partition_hash=partition_hash)
    for batch in batches:
        before = dict(model.counts)
        assert keys.assign(hashes(batch)).tolist() == [model.assign(key) for key in batch]
        if reopens:
            added = {bucket: hashed.tolist() for bucket, hashed in keys.added()}
            assert set(added) == {b for b, n in model.counts.items() if before.get(b) != n}
            stored = {b: stored.get(b, []) + added.get(b, []) for b in {*stored, *added}}
            kept = [(bucket, hashes(held)) for bucket, held in stored.items()]
            keys = KeyBuckets(kept, rule, partition_hash=partition_hash)
    if not reopens:
        stored = {bucket: hashed.tolist() for bucket, hashed in keys.added()}
    told = {key: bucket for bucket, held in stored.items() for key in held}
    assert told == model.bucket_of
    assert sum(map(len, stored.values())) == len(told)


@given(
    batches=BATCHES,
    settings=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=8, max_size=8),
    partition_hash=st.integers(-(2**31), 2**31 - 1),
)
def test_tasks_that_know_their_share_only_give_each_key_one_bucket_and_each_bucket_one_task(
    *, batches: list[list[int]], settings: list[tuple[int, int]], partition_hash: int
) -> None:
    told: dict[int, int] = {}
    stored: dict[int, list[int]] = {}
    for batch, (assigners, wanted) in zip(batches, settings, strict=False):
        rule, tasks = growth(3, assigners=assigners), min(wanted, assigners)
        owners = assigners_of(hashes(batch), partition_hash, assigners)
        touched: list[int] = []
        files = [(bucket, hashes(held)) for bucket, held in stored.items()]
        for number in range(tasks):
            share = Share(number, tasks)
            mine = hashes(batch)[share.has(owners)]
            keys = KeyBuckets(files, rule, partition_hash=partition_hash, share=share)
            for key, bucket in zip(mine.tolist(), keys.assign(mine).tolist(), strict=True):
                assert told.setdefault(key, bucket) == bucket
            for bucket, added in keys.added():
                touched.append(bucket)
                stored[bucket] = stored.get(bucket, []) + added.tolist()
        assert len(touched) == len(set(touched))
    assert {key: bucket for bucket, held in stored.items() for key in held} == told
    assert sum(map(len, stored.values())) == len(told)


def test_a_key_of_another_task_is_not_given_a_bucket() -> None:
    keys = KeyBuckets([], growth(3, assigners=4), partition_hash=0, share=Share(1, 2))
    assert keys.assign(hashes([1, 3])).tolist() == [1, 3]
    with pytest.raises(RuntimeError, match="keys of another task"):
        keys.assign(hashes([1, 2]))


@pytest.mark.parametrize("assigners", [1, 2, 4])
def test_full_buckets_take_more_keys_when_there_may_be_no_more_buckets(assigners: int) -> None:
    keys = KeyBuckets([], growth(10, limit=8, assigners=assigners), partition_hash=0)
    chance = np.random.default_rng(5)
    many = chance.integers(-(2**31), 2**31, 10_000).astype(np.int32)
    buckets = keys.assign(many)
    assert set(buckets.tolist()) == set(range(8))
    assert np.bincount(buckets).min() > 1_000
    assert (keys.assign(many) == buckets).all()
    assert sum(len(held) for _, held in keys.added()) == len(np.unique(many))


def test_more_buckets_than_the_format_knows_are_refused() -> None:
    keys = KeyBuckets([], growth(1), partition_hash=0)
    keys.assign(np.arange(32_767, dtype=np.int32))
    with pytest.raises(InvalidTableError, match="more than 32767 buckets of 1 keys; raise"):
        keys.assign(hashes([-1]))


def test_of_a_hash_in_two_buckets_the_first_counts() -> None:
    keys = KeyBuckets([(4, hashes([7])), (2, hashes([7, 8]))], growth(2), partition_hash=0)
    assert keys.assign(hashes([7, 8, 9])).tolist() == [2, 2, 4]


def test_keys_that_leave_make_room() -> None:
    room = BucketRoom(growth(2))
    none = np.zeros(4, np.int32)
    assert room.place(hashes([1, 2, 3, 4]), none).tolist() == [0, 0, 1, 1]
    room.leave(hashes([0, 1, 1]))
    assert room.place(hashes([5, 6, 7, 8]), none).tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("given_options", "assigners", "limit"),
    [
        ({}, 1, 32767),
        ({"initial-buckets": "4"}, 4, 32767),
        ({"assigner-parallelism": "3"}, 3, 32767),
        ({"initial-buckets": "4", "assigner-parallelism": "3"}, 3, 32767),
        ({"initial-buckets": "2", "assigner-parallelism": "3"}, 2, 32767),
        ({"initial-buckets": "8", "max-buckets": "5"}, 5, 5),
        ({"max-buckets": "1"}, 1, 1),
        ({"assigner-parallelism": "9", "max-buckets": "5"}, 5, 5),
        ({"max-buckets": "40000"}, 1, 32767),
    ],
)
def test_initial_buckets_and_assigners_split_keys_into_classes(
    given_options: dict[str, str], assigners: int, limit: int
) -> None:
    texts = {f"dynamic-bucket.{key}": text for key, text in given_options.items()}
    rule = BucketGrowth.of(TableOptions.parse(texts, has_primary_key=True))
    assert (rule.assigners, rule.bucket_limit) == (assigners, limit)
    keys = KeyBuckets([], rule, partition_hash=-7)
    buckets = set(keys.assign(np.arange(-50, 50, dtype=np.int32)).tolist())
    assert buckets == set(range(assigners))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("target-row-num", "0"),
        ("initial-buckets", "0"),
        ("assigner-parallelism", "-1"),
        ("max-buckets", "0"),
        ("max-buckets", "-2"),
    ],
)
def test_options_of_buckets_out_of_their_range_are_refused(key: str, text: str) -> None:
    options = TableOptions.parse({f"dynamic-bucket.{key}": text}, has_primary_key=True)
    with pytest.raises(InvalidTableError, match=f"dynamic-bucket.{key}' is {text}"):
        BucketGrowth.of(options)


def test_the_assigner_of_a_key_is_what_other_engines_compute() -> None:
    # abs(partition % n) and abs(key % n) with remainders of the sign of the number, added.
    keys = hashes([0, 1, -1, 7, -7, 2**31 - 1, -(2**31)])
    assert assigners_of(keys, -5, 4).tolist() == [1, 2, 2, 0, 0, 0, 1]
