"""How is a decoder shown a file with another end than it has?

Parquet and ORC keep their schema in a footer. A decoder that is given another footer over the same
pages decodes them as other types, which is how values are had that it would change or refuse.
"""

import io

import pyarrow as pa

__all__ = ["open_patched"]


def open_patched(source: pa.NativeFile, start: int, end: bytes) -> pa.PythonFile:
    """The file up to an offset, and then other bytes. The caller keeps `source` open."""
    return pa.PythonFile(_PatchedFile(source, start, end), mode="r")


class _PatchedFile(io.RawIOBase):
    def __init__(self, source: pa.NativeFile, start: int, end: bytes) -> None:
        self._source = source
        self._start = start
        self._end = end
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origins = {
            io.SEEK_SET: 0,
            io.SEEK_CUR: self._position,
            io.SEEK_END: self._start + len(self._end),
        }
        self._position = origins[whence] + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        whole = self._start + len(self._end)
        start = self._position
        stop = whole if size < 0 else min(start + size, whole)
        self._position = max(start, stop)
        head = b""
        if start < self._start:
            self._source.seek(start)
            head = self._source.read(min(stop, self._start) - start)
        return head + self._end[max(start - self._start, 0) : max(stop - self._start, 0)]
