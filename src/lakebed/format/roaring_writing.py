"""How are sets of rows written as Roaring bitmaps, many at once?

The bytes are the portable form of the Roaring specification, in which a bitmap has one container
for each 65,536 numbers of which it has some:

    | cookie, which containers are runs | key, cardinality - 1 ... | offset ... | container ... |

A container is an array of up to 4,096 numbers, else 65,536 bits, or runs where these take fewer
bytes. At equal size the array stays, as the format's own writers have it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lakebed.format.scatter import Bytes, Positions, places_of, put_numbers

__all__ = ["bitmap_bytes", "bitmaps_bytes"]

_COOKIE_WITH_RUNS = 12347
_COOKIE = 12346
_ARRAY_CARDINALITY_MAX = 4096
_BITSET_BYTES = 8192
_OFFSETS_CONTAINERS_MIN = 4
_BATCH_ROWS = 1 << 20

Flags = npt.NDArray[np.bool_]


def bitmap_bytes(rows: Positions) -> bytes:
    """The bitmap of some rows, given in ascending order."""
    return bitmaps_bytes(rows, np.array([0, len(rows)]))[0].tobytes()


def bitmaps_bytes(rows: Positions, starts: Positions) -> tuple[Bytes, Positions]:
    """Bitmaps of several sets of rows, one after the other.

    Args:
        rows: The rows, ascending in each set.
        starts: Where each set begins in `rows`, and where the last one ends.

    Returns:
        The bytes, and where each bitmap begins in them and the last one ends.
    """
    parts: list[Bytes] = []
    sizes: list[Positions] = []
    begin = 0
    while begin < len(starts) - 1:
        limit = int(np.searchsorted(starts, starts[begin] + _BATCH_ROWS, side="right")) - 1
        end = min(max(limit, begin + 1), len(starts) - 1)
        batch = starts[begin : end + 1]
        data, places = _batch_bytes(rows[batch[0] : batch[-1]], batch - batch[0])
        parts.append(data)
        sizes.append(np.diff(places))
        begin = end
    none = np.empty(0, dtype=np.uint8)
    return np.concatenate([none, *parts]), places_of(np.concatenate([none, *sizes]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Containers:
    """The containers of some bitmaps.

    Attributes:
        keys: The high 16 bits of the numbers of each.
        starts: Where the numbers of each begin, and of the last one end.
        low: The low 16 bits of all numbers.
        run_starts: Where each run begins in the numbers, and the last one ends.
        first_runs: The first run of each container, and the end of the last one's.
        has_runs: Whether a container is written as runs.
        bitmaps: The first container of each bitmap, and the end of the last one's.
    """

    keys: Positions
    starts: Positions
    low: Positions
    run_starts: Positions
    first_runs: Positions
    has_runs: Flags
    bitmaps: Positions

    @property
    def cardinalities(self) -> Positions:
        """How many numbers each has."""
        return np.diff(self.starts)

    @property
    def sizes(self) -> Positions:
        """How many bytes each takes."""
        runs = np.diff(self.first_runs)
        return np.where(self.has_runs, 2 + 4 * runs, _plain_sizes(self.cardinalities))


def _plain_sizes(cardinalities: Positions) -> Positions:
    is_array = cardinalities <= _ARRAY_CARDINALITY_MAX
    return np.where(is_array, 2 * cardinalities, _BITSET_BYTES)


def _containers(rows: Positions, starts: Positions) -> _Containers:
    count = len(rows)
    high, low = rows >> 16, rows & 0xFFFF
    is_first = np.zeros(count, dtype=np.bool_)
    is_first[starts[:-1][np.diff(starts) > 0]] = True
    is_first[1:] |= high[1:] != high[:-1]
    is_run = is_first.copy()
    is_run[1:] |= low[1:] != low[:-1] + 1
    begins = np.flatnonzero(is_first)
    run_begins = np.flatnonzero(is_run)
    container_starts = np.append(begins, count)
    first_runs = np.searchsorted(run_begins, container_starts)
    run_sizes = 2 + 4 * np.diff(first_runs)
    return _Containers(
        keys=high[begins],
        starts=container_starts,
        low=low,
        run_starts=np.append(run_begins, count),
        first_runs=first_runs,
        has_runs=run_sizes < _plain_sizes(np.diff(container_starts)),
        bitmaps=np.searchsorted(begins, starts),
    )


def _batch_bytes(rows: Positions, starts: Positions) -> tuple[Bytes, Positions]:
    found = _containers(rows, starts)
    counts = np.diff(found.bitmaps)
    runs_before = places_of(found.has_runs)[found.bitmaps]
    with_runs = runs_before[1:] > runs_before[:-1]
    has_offsets = ~with_runs | (counts >= _OFFSETS_CONTAINERS_MIN)
    pairs = np.where(with_runs, 4 + (counts + 7) // 8, 8)
    heads = pairs + 4 * counts + np.where(has_offsets, 4 * counts, 0)
    body_places = places_of(found.sizes)
    places = places_of(heads + np.diff(body_places[found.bitmaps]))
    target = np.zeros(places[-1], dtype=np.uint8)

    bitmap_places = places[:-1]
    cookies = np.where(with_runs, _COOKIE_WITH_RUNS | ((counts - 1) << 16), _COOKIE)
    _put(target, bitmap_places, cookies, width=4)
    _put(target, bitmap_places[~with_runs] + 4, counts[~with_runs], width=4)

    owners = np.repeat(np.arange(len(counts)), counts)
    ordinals = np.arange(len(owners)) - found.bitmaps[owners]
    runs = np.flatnonzero(found.has_runs)
    # Two containers may share a byte of flags, so the bits are added up.
    flag_places = bitmap_places[owners[runs]] + 4 + ordinals[runs] // 8
    np.add.at(target, flag_places, (1 << (ordinals[runs] % 8)).astype(np.uint8))
    pair_places = bitmap_places[owners] + pairs[owners] + 4 * ordinals
    _put(target, pair_places, found.keys, width=2)
    _put(target, pair_places + 2, found.cardinalities - 1, width=2)
    within = heads[owners] + body_places[:-1] - body_places[found.bitmaps[owners]]
    offset_places = pair_places + 4 * counts[owners]
    listed = has_offsets[owners]
    _put(target, offset_places[listed], within[listed], width=4)
    _put_containers(target, bitmap_places[owners] + within, found)
    return target, places


def _put_containers(target: Bytes, places: Positions, found: _Containers) -> None:
    cardinalities = found.cardinalities
    is_bitset = ~found.has_runs & (cardinalities > _ARRAY_CARDINALITY_MAX)
    is_array = ~found.has_runs & ~is_bitset
    in_array = np.repeat(is_array, cardinalities)
    shifts = np.repeat(places - 2 * found.starts[:-1], cardinalities)
    value_places = shifts + 2 * np.arange(len(found.low))
    _put(target, value_places[in_array], found.low[in_array], width=2)

    run_counts = np.diff(found.first_runs)
    _put(target, places[found.has_runs], run_counts[found.has_runs], width=2)
    in_runs = np.repeat(found.has_runs, run_counts)
    run_shifts = np.repeat(places + 2 - 4 * found.first_runs[:-1], run_counts)
    run_places = (run_shifts + 4 * np.arange(len(run_shifts)))[in_runs]
    _put(target, run_places, found.low[found.run_starts[:-1]][in_runs], width=2)
    _put(target, run_places + 2, np.diff(found.run_starts)[in_runs] - 1, width=2)

    for container in np.flatnonzero(is_bitset).tolist():
        bits = np.zeros(8 * _BITSET_BYTES, dtype=np.bool_)
        bits[found.low[found.starts[container] : found.starts[container + 1]]] = True
        place = places[container]
        target[place : place + _BITSET_BYTES] = np.packbits(bits, bitorder="little")


def _put(target: Bytes, places: Positions, numbers: Positions, *, width: int) -> None:
    put_numbers(target, places, numbers, width=width, big_endian=False)
