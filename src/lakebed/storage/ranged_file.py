"""How is a file of an object store read by a decoder that asks for many small ranges?

Decoders begin at the end, where the footer is, and go on to the columns. The end is fetched with
the size, in one request; other ranges through one window, which grows while a file is read from
front to back, so that requests are few and no more is held than the window.
"""

import io
from collections.abc import Callable
from typing import Final

TAIL_BYTES: Final = 128 << 10
_FIRST_AHEAD: Final = 64 << 10
_MOST_AHEAD: Final = 4 << 20


class RangedFile(io.RawIOBase):
    """A seekable file over a function that fetches ranges.

    Args:
        size: Bytes in the file.
        tail: Its last bytes, however many are known.
        fetch: The bytes of a range, from an offset and a length, which lie within the file.
    """

    def __init__(self, size: int, tail: bytes, fetch: Callable[[int, int], bytes]) -> None:
        super().__init__()
        self._size = size
        self._fetch = fetch
        self._tail = (size - len(tail), tail)
        self._window = (0, b"")
        self._ahead = _FIRST_AHEAD
        self._position = 0

    def readable(self) -> bool:
        """True."""
        return True

    def seekable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Moves; fetches nothing."""
        origins = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}
        self._position = max(origins[whence] + offset, 0)
        return self._position

    def read(self, size: int = -1) -> bytes:
        """The next bytes; fewer only at the end of the file."""
        start = min(self._position, self._size)
        stop = self._size if size < 0 else min(start + size, self._size)
        if start >= stop:
            return b""
        self._position = stop
        for held in (self._tail, self._window):
            if held[0] <= start and stop <= held[0] + len(held[1]):
                return held[1][start - held[0] : stop - held[0]]
        return self._read_ahead(start, stop)

    def _read_ahead(self, start: int, stop: int) -> bytes:
        offset, held = self._window
        end = offset + len(held)
        known = held[start - offset :] if held and offset <= start <= end else b""
        self._ahead = min(2 * self._ahead, _MOST_AHEAD) if known or start == end else _FIRST_AHEAD
        first = start + len(known)
        last = min(max(stop, first + self._ahead), self._size)
        fetched = known + self._fetch(first, last - first)
        self._window = (start, fetched)
        return fetched[: stop - start]
