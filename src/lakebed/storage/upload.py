"""How does a file grow on an object store and show itself only when it is whole?

What fits one part is held, for its owner to put on the condition that the path is free. A longer
file goes up in parts, which the store joins at the end; so no more than a part is held here.
"""

import io
from collections.abc import Callable
from contextlib import suppress

import pyarrow as pa

from lakebed.storage.bucket import PART_BYTES, PartialUpload, RequestError


class Upload(io.RawIOBase):
    """A file to be written front to back; closing it neither publishes nor abandons it.

    Args:
        begin: Begins an object that is sent in parts.
    """

    def __init__(self, begin: Callable[[], PartialUpload]) -> None:
        super().__init__()
        self._begin = begin
        self._held = bytearray()
        self._parts: PartialUpload | None = None
        self._position = 0

    @property
    def content(self) -> bytes | None:
        """The whole file, if it fits one part; None of a longer one."""
        return bytes(self._held) if self._parts is None else None

    def writable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """Bytes written so far."""
        return self._position

    def write(self, data: pa.Buffer) -> int:  # type: ignore[override]
        """Takes all of `data`, whose memory may change afterwards."""
        self._position += len(data)
        self._held += memoryview(data)
        while len(self._held) > PART_BYTES:
            if self._parts is None:
                self._parts = self._begin()
            self._parts.add(bytes(self._held[:PART_BYTES]))
            del self._held[:PART_BYTES]
        return len(data)

    def join(self) -> None:
        """Makes the file of its parts."""
        if self._parts is not None:
            self._parts.finish(bytes(self._held))

    def abandon(self) -> None:
        """Gives the parts back, as far as the store lets it; nobody ever sees them."""
        if self._parts is not None:
            # The error that ended the upload is the one to hear of.
            with suppress(RequestError):
                self._parts.abandon()
