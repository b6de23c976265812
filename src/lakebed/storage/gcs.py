"""How are files kept on Google Cloud Storage? By its JSON API, whose conditions decide commits.

Each object has a generation, a number other than 0; `ifGenerationMatch=0` asks that there be none.
The client is Google's own. It holds connections, which two processes must not share, so each has
its own, also after a fork.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Final

import requests
from google.api_core.exceptions import (
    GoogleAPICallError,
    RequestRangeNotSatisfiable,
    RetryError,
)
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError, TransportError
from google.cloud import storage
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse
from google.oauth2.service_account import Credentials

from lakebed.errors import InvalidArgumentError
from lakebed.storage.bucket import PART_BYTES, ObjectStatus, RequestError
from lakebed.storage.conditions import require_conditions
from lakebed.storage.http_failures import refusal, silence
from lakebed.storage.object_store import ObjectStoreFileIO
from lakebed.storage.store_options import SINGLE_WRITER, find_option, flag
from lakebed.storage.uri import Location

_BYTES: Final = "application/octet-stream"
_CONDITION: Final = "ifGenerationMatch"
_ABSENT: Final = 0
_FIELDS: Final = "items(name,size,updated),prefixes,nextPageToken"
_DELETED_AT_ONCE: Final = 8
_REQUEST_SECONDS: Final = (10, 60)
"""To connect, and between two bytes of an answer."""

_KEYFILE: Final = (
    "fs.gs.auth.service.account.json.keyfile",
    "gs.auth.service.account.json.keyfile",
    "google.cloud.auth.service.account.json.keyfile",
)
_AUTH_TYPE: Final = ("fs.gs.auth.type", "gs.auth.type")
_ENDPOINT: Final = ("fs.gs.storage.root.url", "gs.storage.root.url")

_DEFAULT: Final = "APPLICATION_DEFAULT"
_BY_KEYFILE: Final = "SERVICE_ACCOUNT_JSON_KEYFILE"
_ANONYMOUS: Final = "UNAUTHENTICATED"
_SCOPE: Final = "https://www.googleapis.com/auth/devstorage.read_write"


@dataclass(frozen=True, slots=True, kw_only=True)
class GcsBucket:
    """Objects of a bucket (`bucket.Bucket`).

    Attributes:
        name: The bucket's.
        keyfile: The file with a service account's key; else GOOGLE_APPLICATION_CREDENTIALS and the
            machine say who asks.
        is_anonymous: Whether nobody says who asks.
        endpoint: Where the store is; else STORAGE_EMULATOR_HOST says so, or it is Google's.
        single_writer: The user's word that one process writes at a time. Only then may the store
            be an emulator that does not heed conditions.
    """

    name: str
    keyfile: str | None = None
    is_anonymous: bool = False
    endpoint: str | None = None
    single_writer: bool = False

    def read(self, key: str, *, start: int, stop: int | None) -> bytes:
        """The bytes of a range that is not empty; fewer where the object ends, if it has any."""
        is_whole = start == 0 and stop is None
        try:
            with _failures():
                data: bytes = self._blob(key).download_as_bytes(
                    start=None if is_whole else start,
                    end=None if stop is None else stop - 1,
                    raw_download=True,
                    # The store knows the checksum of a whole object alone.
                    checksum="auto" if is_whole else None,
                    timeout=_REQUEST_SECONDS,
                )
        except RequestError as error:
            if isinstance(error.__cause__, RequestRangeNotSatisfiable):
                return b""
            raise
        return data

    def read_end(self, key: str, _length: int) -> tuple[int, bytes]:
        """An object's size, with which no bytes come."""
        found = self.find(key)
        if found is None:
            raise RequestError("there is no such object", is_missing=True)
        return found.size_bytes, b""

    def find(self, key: str) -> ObjectStatus | None:
        """The object of a key; None if there is none."""
        with _failures():
            found = self._bucket.get_blob(key, timeout=_REQUEST_SECONDS)
        return None if found is None else _status(found)

    def put(self, key: str, data: bytes) -> None:
        """Writes or replaces an object."""
        with _failures():
            self._blob(key).upload_from_string(data, _BYTES, timeout=_REQUEST_SECONDS)

    def put_if_absent(self, key: str, data: bytes) -> None:
        """Writes an object, unless the key is taken. One request, never repeated."""
        if not self.single_writer:
            require_conditions(self, _CONDITION, beside=key, put_if_absent=self._put_if_absent)
        self._put_if_absent(key, data)

    def upload(self, key: str) -> "GcsUpload":
        """Begins an object that is sent in parts."""
        return GcsUpload(self._blob(key))

    def list(self, prefix: str, *, is_deep: bool) -> Iterator[ObjectStatus]:
        """The objects whose keys begin with a prefix."""
        pages = self._bucket.client.list_blobs(
            self._bucket,
            prefix=prefix,
            delimiter=None if is_deep else "/",
            fields=_FIELDS,
            timeout=_REQUEST_SECONDS,
        )
        with _failures():
            for page in pages.pages:
                yield from (ObjectStatus(key=each) for each in page.prefixes)
                yield from map(_status, page)

    def delete(self, key: str) -> bool:
        """Deletes an object; False when the store says it was missing."""
        try:
            with _failures():
                self._blob(key).delete(timeout=_REQUEST_SECONDS)
        except RequestError as error:
            if error.is_missing:
                return False
            raise
        return True

    def delete_all(self, keys: Sequence[str]) -> None:
        """Deletes objects, some at a time, for the store has no request for many."""
        with ThreadPoolExecutor(_DELETED_AT_ONCE) as pool:
            for _ in pool.map(self.delete, keys):
                pass

    def copy(self, source: str, target: str) -> None:
        """Makes an object of another's bytes, within the store."""
        copied, token = self._blob(target), None
        with _failures():
            while True:
                token, _, _ = copied.rewrite(
                    self._blob(source), token=token, timeout=_REQUEST_SECONDS
                )
                if token is None:
                    return

    def _put_if_absent(self, key: str, data: bytes) -> None:
        with _failures():
            self._blob(key).upload_from_string(
                data, _BYTES, if_generation_match=_ABSENT, timeout=_REQUEST_SECONDS, retry=None
            )

    @property
    def _bucket(self) -> storage.Bucket:
        with _failures():
            return _client_of(os.getpid(), self).bucket(self.name)

    def _blob(self, key: str) -> storage.Blob:
        return self._bucket.blob(key)


class GcsUpload:
    """An upload that can be resumed (`bucket.PartialUpload`)."""

    def __init__(self, blob: storage.Blob) -> None:
        self._writer = blob.open(
            "wb",
            chunk_size=PART_BYTES,
            content_type=_BYTES,
            ignore_flush=True,
            if_generation_match=_ABSENT,
            timeout=_REQUEST_SECONDS,
        )

    def add(self, part: bytes) -> None:
        """Sends the next part; all but the last are of `PART_BYTES`."""
        with _failures():
            self._writer.write(part)

    def finish(self, last: bytes) -> None:
        """Sends the last part, and makes the object, unless the key is taken."""
        with _failures():
            self._writer.write(last)
            self._writer.close()

    def abandon(self) -> None:
        """Gives back what was sent."""
        with _failures():
            self._writer.terminate()


def open_store(location: Location, options: Mapping[str, str]) -> ObjectStoreFileIO:
    """The store of a location (`openers`).

    Raises:
        InvalidArgumentError: Options that contradict each other.
    """
    keyfile = find_option(options, _KEYFILE)
    auth_type = (find_option(options, _AUTH_TYPE) or _DEFAULT).upper()
    has_key = keyfile is not None
    if (auth_type == _BY_KEYFILE and not has_key) or (auth_type == _ANONYMOUS and has_key):
        raise InvalidArgumentError(f"{_AUTH_TYPE[0]}={auth_type} contradicts {_KEYFILE[0]}")
    return ObjectStoreFileIO(
        schemes=("gs",),
        authority=location.authority,
        bucket=GcsBucket(
            name=location.authority,
            keyfile=keyfile,
            is_anonymous=auth_type == _ANONYMOUS,
            endpoint=find_option(options, _ENDPOINT),
            single_writer=flag(options, [SINGLE_WRITER], default=False),
        ),
    )


@cache
def _client_of(process: int, bucket: GcsBucket) -> storage.Client:
    """One client for each process and bucket; that of a parent process is left as it is."""
    del process
    credentials = None
    if bucket.keyfile is not None:
        try:
            credentials = Credentials.from_service_account_file(  # type: ignore[no-untyped-call]
                bucket.keyfile, scopes=[_SCOPE]
            )
        except (OSError, ValueError) as error:
            raise InvalidArgumentError(
                f"{_KEYFILE[0]}: {bucket.keyfile} holds no key of a service account: {error}"
            ) from error
    elif bucket.is_anonymous:
        credentials = AnonymousCredentials()  # type: ignore[no-untyped-call]
    return storage.Client(
        # Nothing that is asked here is a project's affair.
        project=None,
        credentials=credentials,
        client_options={"api_endpoint": bucket.endpoint} if bucket.endpoint else None,
    )


@contextmanager
def _failures() -> Iterator[None]:
    """Turns what Google's client raises into a `RequestError`."""
    try:
        yield
    except GoogleAPICallError as error:
        raise refusal(int(error.code or 0), error.message) from error
    except InvalidResponse as error:
        raise refusal(error.response.status_code, str(error)) from error
    except RetryError as error:
        # The last of several attempts says why.
        with _failures():
            raise error.cause from error
    except requests.RequestException as error:
        raise silence(error) from error
    except TransportError as error:
        raise RequestError("Google does not say who asks", is_retryable=True) from error
    except GoogleAuthError as error:
        raise RequestError(f"Google does not know who asks: {error}") from error
    except DataCorruption as error:
        raise RequestError("the bytes do not fit their checksum", is_retryable=True) from error


def _status(blob: storage.Blob) -> ObjectStatus:
    return ObjectStatus(
        key=blob.name,
        size_bytes=blob.size,
        modification_time_ms=int(blob.updated.timestamp() * 1000),
    )
