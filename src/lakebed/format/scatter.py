"""How do many numbers and texts of different lengths get into one buffer at once?

Each has a place of its own; a place is the position of its first byte. All are put there together,
byte by byte, so the work is a few steps over columns whatever the number of values.
"""

import numpy as np
import numpy.typing as npt

__all__ = ["Bytes", "Positions", "places_of", "put_numbers", "put_texts"]

Bytes = npt.NDArray[np.uint8]
Positions = npt.NDArray[np.int64]

_BATCH_BYTES = 1 << 18


def places_of(sizes: npt.NDArray[np.integer | np.bool_]) -> Positions:
    """Where each of some parts begins that follow one another, and where the last one ends."""
    places = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=places[1:])
    return places


def put_numbers(
    target: Bytes,
    places: Positions,
    numbers: npt.NDArray[np.integer],
    *,
    width: int,
    big_endian: bool = True,
) -> None:
    """Puts whole numbers of some bytes each."""
    for byte in range(width):
        shift = 8 * (width - 1 - byte if big_endian else byte)
        target[places + byte] = (numbers >> shift) & 0xFF


def put_texts(target: Bytes, places: Positions, texts: Bytes, *, starts: Positions) -> None:
    """Puts texts.

    Args:
        target: The buffer.
        places: Where each text goes.
        texts: The texts, one after the other.
        starts: Where each of them begins in `texts`, and where the last one ends.
    """
    begin = 0
    while begin < len(places):
        # Some texts at a time: eight bytes are needed for every byte that is put.
        fitting = int(np.searchsorted(starts, starts[begin] + _BATCH_BYTES, side="right")) - 1
        end = max(fitting, begin + 1)
        bounds = starts[begin : end + 1]
        shifts = np.repeat(places[begin:end] - bounds[:-1], np.diff(bounds))
        target[shifts + np.arange(bounds[0], bounds[-1])] = texts[bounds[0] : bounds[-1]]
        begin = end
