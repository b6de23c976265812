"""How is the end of a file changed that a library writes?

Parquet and ORC files end with a footer, and some types a library cannot write though it can write
their bytes. So what it writes when it closes a file is held back, and a changed footer goes out.
"""

import io
from collections.abc import Callable

import pyarrow as pa

__all__ = ["HeldSink"]


class HeldSink(io.RawIOBase):
    """Passes bytes on, but for those of a file's end, which go out changed."""

    def __init__(self, sink: pa.NativeFile) -> None:
        """Passes bytes to `sink`, which whoever opened it closes."""
        self._sink = sink
        self._held: list[bytes] | None = None
        self._position = 0

    def end(self, close: Callable[[], object], change: Callable[[bytes], bytes]) -> None:
        """Lets a library write the end of a file, and passes on what becomes of it.

        Args:
            close: Closes the library's writer.
            change: From the end that it wrote to the end of the file.
        """
        self._held = []
        close()
        self._sink.write(change(b"".join(self._held)))

    def writable(self) -> bool:
        """True."""
        return True

    def tell(self) -> int:
        """Bytes written so far, held ones among them."""
        return self._position

    def write(self, data: bytes) -> int:  # type: ignore[override]  # Arrow gives bytes
        """Passes on or keeps bytes."""
        self._position += len(data)
        if self._held is None:
            self._sink.write(data)
        else:
            self._held.append(bytes(data))
        return len(data)
