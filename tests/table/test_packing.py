"""Sections become splits: by size, by kind, and only as many as a limit needs."""

import pickle
import random

import numpy as np

from lakebed.format.deletion_vector import DeletionVectorRef
from lakebed.table.planning.packing import limit_splits, pack_sections, pack_splits
from lakebed.table.planning.split import Split, SplitFile, SplitSection


def file(name: str, *, size: int = 1, rows: int = 10, deletes: int | None = 0) -> SplitFile:
    return SplitFile(
        path=name,
        size_bytes=size,
        row_count=rows,
        schema_id=0,
        ordinal=0,
        level=5,
        min_sequence_number=0,
        max_sequence_number=0,
        delete_row_count=deletes,
    )


def split(*files: SplitFile, is_raw: bool = True) -> Split:
    sections = tuple(SplitSection(((each,),)) for each in files)
    return Split(partition=(), bucket=0, sections=sections, is_raw=is_raw)


def packed_one_by_one(sizes: list[int], breaks: list[bool], *, target: int, cost: int) -> list[int]:
    starts: list[int] = []
    size = 0
    for index, each in enumerate(sizes):
        weight = max(each, cost)
        if not starts or breaks[index] or size + weight > target:
            starts.append(index)
            size = 0
        size += weight
    return starts


def test_packing_at_once_is_packing_one_by_one() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        count, target, cost = chance.randrange(30), chance.randrange(1, 40), chance.randrange(8)
        sizes = [chance.randrange(20) for _ in range(count)]
        breaks = [chance.random() < 0.2 for _ in range(count)]
        starts = pack_sections(
            np.array(sizes, np.int64),
            np.array(breaks, np.bool_),
            target_size=target,
            open_file_cost=cost,
        )
        assert starts.tolist() == packed_one_by_one(sizes, breaks, target=target, cost=cost), seed


def test_sections_that_need_a_merge_are_packed_apart() -> None:
    sections = [SplitSection(((file(name, deletes=1 if name in "bd" else 0),),)) for name in "abcd"]
    splits = pack_splits(sections, partition=(), bucket=0, target_size=99, open_file_cost=1)
    assert [(each.is_raw, each.file_paths) for each in splits] == [
        (True, ["a", "c"]),
        (False, ["b", "d"]),
    ]
    assert pack_splits([], partition=(), bucket=0, target_size=9, open_file_cost=1) == []


def test_a_limit_takes_raw_splits_until_they_hold_enough_rows() -> None:
    splits = [split(file("m"), is_raw=False), split(file("a")), split(file("b")), split(file("c"))]
    assert limit_splits(splits, 10) == splits[1:2]
    assert limit_splits(splits, 11) == splits[1:3]
    assert limit_splits(splits, 31) == splits, "the raw ones are too few"


def test_a_limit_counts_no_row_that_a_deletion_vector_marks() -> None:
    def marked(cardinality: int | None) -> Split:
        ref = DeletionVectorRef(path="dv", offset=1, length=2, cardinality=cardinality)
        whole = file("d")
        parts = {name: getattr(whole, name) for name in SplitFile.__dataclass_fields__}
        return split(SplitFile(**{**parts, "deletion_vector": ref}))

    full = split(file("a"))
    assert limit_splits([marked(4), full], 7) == [marked(4), full]
    assert limit_splits([marked(4), full], 6) == [marked(4)]
    assert limit_splits([marked(None), full], 5) == [full], "nobody knows how many it marks"


def test_a_split_survives_pickling() -> None:
    one = split(file("a"), file("b"))
    assert pickle.loads(pickle.dumps(one)) == one
