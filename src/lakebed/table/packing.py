"""How sections become splits of about one size."""

from collections.abc import Sequence
from itertools import groupby

from lakebed.table.split import Split, SplitSection


def pack_splits(
    sections: Sequence[SplitSection],
    *,
    partition: tuple[object, ...],
    bucket: int,
    target_size: int,
    open_file_cost: int,
) -> list[Split]:
    """Packs sections in order; those that need a merge never share a split with those that do not.

    Args:
        sections: Sections of one bucket, in key order.
        partition: Values of the partition columns.
        bucket: The bucket.
        target_size: `source.split.target-size` in bytes; a larger section is a split by itself.
        open_file_cost: `source.split.open-file-cost`: what a file counts at least.
    """
    splits = []
    by_kind = sorted(sections, key=lambda section: section.needs_merge)
    for needs_merge, alike in groupby(by_kind, key=lambda section: section.needs_merge):
        for packed in _pack(list(alike), target_size=target_size, open_file_cost=open_file_cost):
            split = Split(
                partition=partition,
                bucket=bucket,
                sections=tuple(packed),
                is_raw=not needs_merge,
            )
            splits.append(split)
    return splits


def _pack(
    sections: Sequence[SplitSection], *, target_size: int, open_file_cost: int
) -> list[list[SplitSection]]:
    packs: list[list[SplitSection]] = []
    size = 0
    for section in sections:
        weight = max(sum(file.size_bytes for file in section.files), open_file_cost)
        if not packs or size + weight > target_size:
            packs.append([])
            size = 0
        packs[-1].append(section)
        size += weight
    return packs
