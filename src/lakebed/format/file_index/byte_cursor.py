"""How are big-endian numbers read one after the other, with an error where the bytes end?"""

from dataclasses import dataclass

from lakebed.errors import CorruptTableError, UnsupportedError


@dataclass(slots=True, kw_only=True)
class ByteCursor:
    """A place in some bytes, which moves on as values are read.

    Attributes:
        data: The bytes.
        path: The file, for messages.
        what: What is read, for messages.
        position: Of the next value.
    """

    data: bytes | memoryview
    path: str
    what: str
    position: int = 0

    def take(self, length: int) -> memoryview:
        """The next bytes, not copied.

        Raises:
            CorruptTableError: There are fewer.
        """
        end = self.position + length
        if length < 0 or end > len(self.data):
            raise CorruptTableError(
                self.path, f"{self.what} is cut off: {length} bytes at {self.position}"
            )
        found = memoryview(self.data)[self.position : end]
        self.position = end
        return found

    def byte(self) -> int:
        """An unsigned byte."""
        return self.take(1)[0]

    def flag(self) -> bool:
        """A boolean."""
        return self.byte() != 0

    def int32(self) -> int:
        """A signed 4-byte number."""
        return int.from_bytes(self.take(4), "big", signed=True)

    def int64(self) -> int:
        """A signed 8-byte number."""
        return int.from_bytes(self.take(8), "big", signed=True)

    def count(self) -> int:
        """A 4-byte number that cannot be negative.

        Raises:
            CorruptTableError: It is.
        """
        found = self.int32()
        if found < 0:
            raise CorruptTableError(self.path, f"{self.what} has a count of {found}")
        return found

    def version(self, supported: int) -> int:
        """A byte that says the version, from 1 to the one supported.

        Raises:
            UnsupportedError: It is newer.
            CorruptTableError: It is none.
        """
        return checked_version(self.byte(), supported, path=self.path, what=self.what)


def checked_version(found: int, supported: int, *, path: str, what: str) -> int:
    """A version from 1 to the one supported.

    Raises:
        UnsupportedError: It is newer.
        CorruptTableError: It is none.
    """
    if found < 1:
        raise CorruptTableError(path, f"{what} has version {found}")
    if found > supported:
        raise UnsupportedError(
            f"{path}: {what} has version {found}, Lakebed reads {supported}. Read the table "
            "without indexes ('file-index.read.enabled' = 'false') or with another release"
        )
    return found
