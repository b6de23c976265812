"""How sections become splits of about one size."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from lakebed.table.planning.split import Split, SplitSection

Numbers = npt.NDArray[np.int64]


def pack_sections(
    sizes: Numbers, breaks: npt.NDArray[np.bool_], *, target_size: int, open_file_cost: int
) -> Numbers:
    """The first section of each split, when sections are packed in order.

    Args:
        sizes: Bytes of each section.
        breaks: Which sections may not share a split with the one before.
        target_size: `source.split.target-size` in bytes; a larger section is a split by itself.
        open_file_cost: `source.split.open-file-cost`: what a section counts at least.
    """
    count = len(sizes)
    sums = np.concatenate([[0], np.cumsum(np.maximum(sizes, open_file_cost))])
    places = np.arange(count)
    # Where the next split would begin if one began here: as late as the size and a break allow.
    by_size = np.searchsorted(sums, sums[:-1] + target_size, side="right") - 1
    walls = np.append(np.flatnonzero(breaks), count)
    by_break = walls[np.searchsorted(walls[:-1], places, side="right")]
    following = np.minimum(np.maximum(by_size, places + 1), by_break)
    starts = []
    place = 0
    while place < count:
        starts.append(place)
        place = int(following[place])
    return np.array(starts, np.int64)


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
        open_file_cost: `source.split.open-file-cost`: what a section counts at least.
    """
    by_kind = sorted(sections, key=lambda section: section.needs_merge)
    merging = np.array([section.needs_merge for section in by_kind], np.bool_)
    starts = pack_sections(
        np.array([sum(file.size_bytes for file in s.files) for s in by_kind], np.int64),
        np.diff(merging, prepend=merging[:1]),
        target_size=target_size,
        open_file_cost=open_file_cost,
    )
    return [
        Split(
            partition=partition,
            bucket=bucket,
            sections=tuple(by_kind[first:last]),
            is_raw=not by_kind[first].needs_merge,
        )
        for first, last in pairwise([*starts.tolist(), len(by_kind)])
    ]


def limit_splits(splits: Sequence[Split], limit: int) -> list[Split]:
    """Splits that surely hold `limit` rows, where raw ones alone do; else all.

    For scans without a condition, whose reader gives every row of a raw split that no deletion
    vector marks.
    """
    chosen: list[Split] = []
    rows = 0
    for split in splits:
        known = _known_row_count(split)
        if known is None:
            continue
        chosen.append(split)
        rows += known
        if rows >= limit:
            return chosen
    return list(splits)


def _known_row_count(split: Split) -> int | None:
    """Rows that come out of a split; None where only reading tells."""
    if not split.is_raw:
        return None
    rows = 0
    for file in split.files:
        vector = file.deletion_vector
        if vector is not None and vector.cardinality is None:
            return None
        rows += file.row_count - (vector.cardinality or 0 if vector is not None else 0)
    return rows
