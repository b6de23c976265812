"""What is asked of the client of a store that keeps objects by their keys?

`object_store` makes a `FileIO` of it. A bucket is settings alone, which cross processes; each
process makes its client from them when it needs one.

The surprising thing: a request that fails may have been carried out. `RequestError.is_doubtful`
says so, and a bucket never repeats a conditional request by itself, for the repetition would meet
the success of the first one and hear that the key is taken.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


class RequestError(Exception):
    """A request that failed.

    Attributes:
        meaning: One phrase, without the secrets that requests carry.
        is_missing: Whether the store says that there is no such object.
        is_present: Whether the store refuses to replace an object.
        is_doubtful: Whether the request may have been carried out.
        is_retryable: Whether the same request may succeed later.
    """

    def __init__(
        self,
        meaning: str,
        *,
        is_missing: bool = False,
        is_present: bool = False,
        is_doubtful: bool = False,
        is_retryable: bool = False,
    ) -> None:
        self.meaning = meaning
        self.is_missing = is_missing
        self.is_present = is_present
        self.is_doubtful = is_doubtful
        self.is_retryable = is_retryable
        super().__init__(meaning)


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStatus:
    """One object, or the prefix that many have in common.

    Attributes:
        key: The whole key; that of a prefix ends with a slash.
        size_bytes: Size; 0 for a prefix.
        modification_time_ms: Epoch milliseconds; 0 for a prefix.
    """

    key: str
    size_bytes: int = 0
    modification_time_ms: int = 0


class PartialUpload(Protocol):
    """An object that is sent in parts and there is none of before it is finished."""

    def add(self, part: bytes) -> None:
        """Sends the next part; all but the last are of `PART_BYTES`."""
        ...

    def finish(self, last: bytes) -> None:
        """Sends the last part, and makes the object, unless the key is taken."""
        ...

    def abandon(self) -> None:
        """Gives back what was sent."""
        ...


PART_BYTES = 8 << 20


class Bucket(Protocol):
    """Objects by key. Every method raises `RequestError`; values are picklable and hashable."""

    def read(self, key: str, *, start: int, stop: int | None) -> bytes:
        """The bytes of a range that is not empty; fewer where the object ends, if it has any."""
        ...

    def read_end(self, key: str, length: int) -> tuple[int, bytes]:
        """An object's size, and as many of its last bytes, up to `length`, as come with that."""
        ...

    def find(self, key: str) -> ObjectStatus | None:
        """The object of a key; None if there is none."""
        ...

    def put(self, key: str, data: bytes) -> None:
        """Writes or replaces an object."""
        ...

    def put_if_absent(self, key: str, data: bytes) -> None:
        """Writes an object, unless the key is taken. One request, never repeated."""
        ...

    def upload(self, key: str) -> PartialUpload:
        """Begins an object that is sent in parts."""
        ...

    def list(self, prefix: str, *, is_deep: bool) -> Iterator[ObjectStatus]:
        """The objects whose keys begin with a prefix.

        Args:
            prefix: Empty, or with a slash at its end.
            is_deep: Whether also those with further slashes, in whose stead prefixes come else.
        """
        ...

    def delete(self, key: str) -> bool:
        """Deletes an object; False when the store says it was missing."""
        ...

    def delete_all(self, keys: Sequence[str]) -> None:
        """Deletes objects, in as few requests as the store has; missing ones are fine."""
        ...

    def copy(self, source: str, target: str) -> None:
        """Makes an object of another's bytes, within the store."""
        ...
