"""How are objects read and written on S3 and its kin and on Azure? Through obstore.

The surprising thing: obstore joins the parts of a long object without a condition. So whether the
key is still free is asked just before; names of data files are their writer's own, which nobody
else takes.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import obstore
from obstore.exceptions import BaseError

from lakebed.storage.bucket import PART_BYTES, ObjectStatus, RequestError
from lakebed.storage.conditions import require_conditions
from lakebed.storage.obstore_client import Client, ClientKind, ClientSettings, client_of
from lakebed.storage.obstore_errors import ask, is_beyond_the_end, request_errors

if TYPE_CHECKING:
    from obstore import GetOptions, ObjectMeta, WritableFile

_LISTED_AT_ONCE: Final = 1000
_PARTS_UNDER_WAY: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ObstoreBucket:
    """A bucket or container (`bucket.Bucket`).

    Attributes:
        settings: What its client is made of.
        single_writer: The user's word that one process writes at a time. Only then may the store
            be one that does not heed conditions.
    """

    settings: ClientSettings
    single_writer: bool = False

    def read(self, key: str, *, start: int, stop: int | None) -> bytes:
        """The bytes of a range that is not empty; fewer where the object ends, if it has any."""

        def request() -> bytes:
            try:
                if stop is not None:
                    return bytes(obstore.get_range(self._client(), key, start=start, end=stop))
                options: GetOptions = {"range": {"offset": start}} if start else {}
                return bytes(obstore.get(self._client(), key, options=options).bytes())
            except BaseError as error:
                if not is_beyond_the_end(error):
                    raise
                return b""

        return ask(request)

    def read_end(self, key: str, length: int) -> tuple[int, bytes]:
        """An object's size, and as many of its last bytes, up to `length`, as come with that."""
        # Azure knows no range that is counted from the end.
        is_counted = self.settings.kind is not ClientKind.AZURE
        options: GetOptions = {"range": {"suffix": length} if is_counted else (0, length)}

        def request() -> tuple[int, bytes]:
            try:
                found = obstore.get(self._client(), key, options=options)
                size, data = found.meta["size"], bytes(found.bytes())
            except BaseError as error:
                if not is_beyond_the_end(error):
                    raise
                return 0, b""
            return size, data if is_counted or len(data) == size else b""

        return ask(request)

    def find(self, key: str) -> ObjectStatus | None:
        """The object of a key; None if there is none."""

        def request() -> ObjectStatus | None:
            with suppress(FileNotFoundError):
                return _status(obstore.head(self._client(), key))
            return None

        return ask(request)

    def put(self, key: str, data: bytes) -> None:
        """Writes or replaces an object."""
        ask(lambda: obstore.put(self._client(), key, data, use_multipart=False))

    def put_if_absent(self, key: str, data: bytes) -> None:
        """Writes an object, unless the key is taken. One request, never repeated."""
        if not self.single_writer:
            require_conditions(self, "If-None-Match", beside=key, put_if_absent=self._put_if_absent)
        self._put_if_absent(key, data)

    def upload(self, key: str) -> "ObstoreUpload":
        """Begins an object that is sent in parts."""
        return ObstoreUpload(self, key)

    def list(self, prefix: str, *, is_deep: bool) -> Iterator[ObjectStatus]:
        """The objects whose keys begin with a prefix; unless deep, prefixes beside them."""
        directory = prefix.removesuffix("/")
        with request_errors():
            if is_deep:
                chunks = obstore.list(self._client(), directory, chunk_size=_LISTED_AT_ONCE)
                for chunk in chunks:
                    yield from (_status(each, prefix) for each in chunk)
                return
            found = ask(lambda: obstore.list_with_delimiter(self._client(), directory))
            yield from (ObjectStatus(key=f"{each}/") for each in found["common_prefixes"])
            yield from (_status(each, prefix) for each in found["objects"])

    def delete(self, key: str) -> bool:
        """Deletes an object; False when it was missing just before."""
        is_there = self.find(key) is not None
        if is_there:
            self.delete_all([key])
        return is_there

    def delete_all(self, keys: Sequence[str]) -> None:
        """Deletes objects, in as few requests as the store has; missing ones are fine."""

        def request() -> None:
            try:
                obstore.delete(self._client(), keys)
            except FileNotFoundError:
                # Azure names one that is gone already, and may leave the rest undone.
                for key in keys:
                    with suppress(FileNotFoundError):
                        obstore.delete(self._client(), key)

        ask(request)

    def copy(self, source: str, target: str) -> None:
        """Makes an object of another's bytes, within the store."""
        ask(lambda: obstore.copy(self._client(), source, target))

    def _client(self) -> Client:
        return client_of(self.settings)

    def _put_if_absent(self, key: str, data: bytes) -> None:
        with request_errors():
            obstore.put(client_of(self.settings, repeats=False), key, data, mode="create")


class ObstoreUpload:
    """An object that is sent in parts, a few at a time (`bucket.PartialUpload`)."""

    def __init__(self, bucket: ObstoreBucket, key: str) -> None:
        self._bucket = bucket
        self._key = key
        with request_errors():
            self._writer: WritableFile = obstore.open_writer(
                client_of(bucket.settings),
                key,
                buffer_size=PART_BYTES,
                max_concurrency=_PARTS_UNDER_WAY,
            )

    def add(self, part: bytes) -> None:
        """Sends the next part; all but the last are of `PART_BYTES`."""
        with request_errors():
            self._writer.write(part)

    def finish(self, last: bytes) -> None:
        """Sends the last part, and makes the object, unless the key is taken."""
        self.add(last)
        if self._bucket.find(self._key) is not None:
            raise RequestError("the object is there already", is_present=True)
        with request_errors():
            self._writer.close()

    def abandon(self) -> None:
        """Gives back what was sent."""
        with request_errors():
            self._writer.__exit__(RequestError, None, None)


def _status(found: "ObjectMeta", prefix: str = "") -> ObjectStatus:
    # A directory that other clients keep by an object named `prefix/` comes without its slash.
    key = prefix if f"{found['path']}/" == prefix else found["path"]
    return ObjectStatus(
        key=key,
        size_bytes=found["size"],
        modification_time_ms=int(found["last_modified"].timestamp() * 1000),
    )
