"""How are files kept on Aliyun's OSS? By `x-oss-forbid-overwrite`, a header that decides commits.

The client is Aliyun's own. It holds connections, which two processes must not share, so each has
its own, also after a fork.

The surprising thing: OSS ignores the header in a bucket that keeps versions, or once did. So it is
tried out before the first commit (`conditions`).
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Final

import alibabacloud_oss_v2 as oss
import requests
from alibabacloud_oss_v2 import exceptions
from urllib3.exceptions import HTTPError

from lakebed.errors import InvalidArgumentError
from lakebed.storage.bucket import ObjectStatus, RequestError
from lakebed.storage.conditions import require_conditions
from lakebed.storage.http_failures import refusal, silence
from lakebed.storage.object_store import ObjectStoreFileIO
from lakebed.storage.store_options import SINGLE_WRITER, find_option, flag
from lakebed.storage.uri import Location

_ENDPOINT: Final = ("fs.oss.endpoint",)
_REGION: Final = ("fs.oss.region",)
_KEY_ID: Final = ("fs.oss.accessKeyId", "fs.oss.accesskeyid")
_KEY_SECRET: Final = ("fs.oss.accessKeySecret", "fs.oss.accesskeysecret")
_TOKEN: Final = ("fs.oss.securityToken", "fs.oss.securitytoken")
_OWN_DOMAIN: Final = ("fs.oss.cname.enabled",)

_REGION_OF_ENDPOINT: Final = re.compile(
    r"(?:https?://)?oss-([a-z0-9-]+?)(?:-internal)?\.aliyuncs\.com"
)
_RANGE: Final = re.compile(r"bytes [0-9]+-[0-9]+/([0-9]+)")
_MISSING: Final = "NoSuchKey"
_CONDITION: Final = "x-oss-forbid-overwrite"
_EXISTS: Final = "FileAlreadyExists"
_BEYOND: Final = 416


@dataclass(frozen=True, slots=True, kw_only=True)
class OssBucket:
    """Objects of a bucket (`bucket.Bucket`).

    Attributes:
        name: The bucket's.
        endpoint: The host of its region.
        region: Such as `cn-hangzhou`; requests are signed as of old where it is not known.
        key_id: Who asks; else OSS_ACCESS_KEY_ID says so.
        key_secret: And the proof; else OSS_ACCESS_KEY_SECRET says so.
        token: Of keys that expire; else OSS_SESSION_TOKEN says so.
        is_own_domain: Whether the endpoint is a domain of the bucket's own.
        single_writer: The user's word that one process writes at a time. Only then may the bucket
            be one that keeps versions.
    """

    name: str
    endpoint: str
    region: str | None = None
    key_id: str | None = None
    key_secret: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    is_own_domain: bool = False
    single_writer: bool = False

    def read(self, key: str, *, start: int, stop: int | None) -> bytes:
        """The bytes of a range that is not empty; fewer where the object ends, if it has any."""
        asked = (
            None if start == 0 and stop is None else f"{start}-{'' if stop is None else stop - 1}"
        )
        return self._get(key, asked)[1]

    def read_end(self, key: str, length: int) -> tuple[int, bytes]:
        """An object's size, and as many of its last bytes, up to `length`, as come with that."""
        return self._get(key, f"-{length}")

    def find(self, key: str) -> ObjectStatus | None:
        """The object of a key; None if there is none."""
        try:
            with _failures():
                found = self._client.head_object(oss.HeadObjectRequest(self.name, key))
        except RequestError as error:
            if error.is_missing:
                return None
            raise
        return _status(key, found.content_length, found.last_modified)

    def put(self, key: str, data: bytes) -> None:
        """Writes or replaces an object."""
        with _failures():
            self._client.put_object(oss.PutObjectRequest(self.name, key, body=data))

    def put_if_absent(self, key: str, data: bytes) -> None:
        """Writes an object, unless the key is taken. One request, never repeated."""
        if not self.single_writer:
            require_conditions(self, _CONDITION, beside=key, put_if_absent=self._put_if_absent)
        self._put_if_absent(key, data)

    def upload(self, key: str) -> "OssUpload":
        """Begins an object that is sent in parts."""
        return OssUpload(self._client, self.name, key)

    def list(self, prefix: str, *, is_deep: bool) -> Iterator[ObjectStatus]:
        """The objects whose keys begin with a prefix."""
        request = oss.ListObjectsV2Request(
            self.name, prefix=prefix, delimiter=None if is_deep else "/", max_keys=1000
        )
        with _failures():
            for page in self._client.list_objects_v2_paginator().iter_page(request):
                yield from (ObjectStatus(key=each.prefix) for each in page.common_prefixes or ())
                for each in page.contents or ():
                    yield _status(each.key, each.size, each.last_modified)

    def delete(self, key: str) -> bool:
        """Deletes an object; False when the store says it was missing."""
        # The store itself answers the same to both.
        if self.find(key) is None:
            return False
        with _failures():
            self._client.delete_object(oss.DeleteObjectRequest(self.name, key))
        return True

    def delete_all(self, keys: Sequence[str]) -> None:
        """Deletes objects, in as few requests as the store has; missing ones are fine."""
        objects = [oss.DeleteObject(key=key) for key in keys]
        request = oss.DeleteMultipleObjectsRequest(self.name, objects=objects, quiet=True)
        with _failures():
            self._client.delete_multiple_objects(request)

    def copy(self, source: str, target: str) -> None:
        """Makes an object of another's bytes, within the store."""
        with _failures():
            self._client.copier().copy(
                oss.CopyObjectRequest(self.name, target, source_bucket=self.name, source_key=source)
            )

    @property
    def _client(self) -> oss.Client:
        return _client_of(os.getpid(), self)

    def _get(self, key: str, asked: str | None) -> tuple[int, bytes]:
        """An object's size and a range of its bytes, none of them where it lies beyond the end."""
        request = oss.GetObjectRequest(
            self.name,
            key,
            range_header=None if asked is None else f"bytes={asked}",
            # Else a range beyond the end is answered with the whole object.
            range_behavior="standard",
        )
        try:
            with _failures():
                answer = self._client.get_object(request)
                data: bytes = answer.body.read()
        except RequestError as error:
            found = self.find(key) if _is_beyond(error) else None
            if found is None:
                raise
            return found.size_bytes, b""
        within = _RANGE.fullmatch(answer.content_range or "")
        return int(within[1]) if within else len(data), data

    def _put_if_absent(self, key: str, data: bytes) -> None:
        request = oss.PutObjectRequest(self.name, key, body=data, forbid_overwrite=True)
        with _failures():
            self._client.put_object(request, retry_max_attempts=1)


class OssUpload:
    """An upload in parts (`bucket.PartialUpload`)."""

    def __init__(self, client: oss.Client, bucket: str, key: str) -> None:
        self._client = client
        self._names = {"bucket": bucket, "key": key}
        with _failures():
            begun = self._client.initiate_multipart_upload(
                oss.InitiateMultipartUploadRequest(**self._names)
            )
        self._names["upload_id"] = begun.upload_id
        self._parts: list[oss.UploadPart] = []

    def add(self, part: bytes) -> None:
        """Sends the next part; all but the last are of `PART_BYTES`."""
        number = len(self._parts) + 1
        with _failures():
            sent = self._client.upload_part(
                oss.UploadPartRequest(**self._names, part_number=number, body=part)
            )
        self._parts.append(oss.UploadPart(part_number=number, etag=sent.etag))

    def finish(self, last: bytes) -> None:
        """Sends the last part, and makes the object, unless the key is taken."""
        self.add(last)
        request = oss.CompleteMultipartUploadRequest(
            **self._names,
            complete_multipart_upload=oss.CompleteMultipartUpload(parts=self._parts),
            forbid_overwrite=True,
        )
        with _failures():
            self._client.complete_multipart_upload(request, retry_max_attempts=1)

    def abandon(self) -> None:
        """Gives back what was sent."""
        with _failures():
            self._client.abort_multipart_upload(oss.AbortMultipartUploadRequest(**self._names))


def open_store(location: Location, options: Mapping[str, str]) -> ObjectStoreFileIO:
    """The store of a location (`openers`).

    Raises:
        InvalidArgumentError: No endpoint, or one of two keys alone.
    """
    endpoint = find_option(options, _ENDPOINT)
    if endpoint is None:
        raise InvalidArgumentError(
            f"{location.text} needs option {_ENDPOINT[0]}, such as oss-cn-hangzhou.aliyuncs.com"
        )
    key_id, key_secret = find_option(options, _KEY_ID), find_option(options, _KEY_SECRET)
    if (key_id is None) != (key_secret is None):
        raise InvalidArgumentError(f"give {_KEY_ID[0]} and {_KEY_SECRET[0]}, or neither")
    named = _REGION_OF_ENDPOINT.fullmatch(endpoint)
    return ObjectStoreFileIO(
        schemes=("oss",),
        authority=location.authority,
        bucket=OssBucket(
            name=location.authority,
            endpoint=endpoint,
            region=find_option(options, _REGION) or (named[1] if named else None),
            key_id=key_id,
            key_secret=key_secret,
            token=find_option(options, _TOKEN),
            is_own_domain=flag(options, _OWN_DOMAIN, default=False),
            single_writer=flag(options, [SINGLE_WRITER], default=False),
        ),
    )


@cache
def _client_of(process: int, bucket: OssBucket) -> oss.Client:
    """One client for each process and bucket; that of a parent process is left as it is."""
    del process
    with _failures():
        keys = (
            oss.credentials.EnvironmentVariableCredentialsProvider()
            if bucket.key_id is None
            else oss.credentials.StaticCredentialsProvider(
                bucket.key_id, bucket.key_secret, bucket.token
            )
        )
    return oss.Client(
        oss.config.Config(
            region=bucket.region or "",
            endpoint=bucket.endpoint,
            signature_version="v4" if bucket.region else "v1",
            credentials_provider=keys,
            use_cname=bucket.is_own_domain,
        )
    )


@contextmanager
def _failures() -> Iterator[None]:
    """Turns what Aliyun's client raises into a `RequestError`."""
    try:
        yield
    except requests.RequestException as error:
        raise silence(error) from error
    except exceptions.BaseError as error:
        raise _meaning(error) from _cause(error)


def _cause(error: Exception) -> Exception:
    """What the client wrapped, however often."""
    while isinstance(inner := getattr(error, "_error", None), Exception):
        error = inner
    return error


def _meaning(error: Exception) -> RequestError:
    cause = _cause(error)
    if isinstance(cause, exceptions.ServiceError):
        meant = refusal(cause.status_code, f"{cause.code}: {cause.message}")
        meant.is_present = cause.code == _EXISTS
        meant.is_missing = cause.code == _MISSING
        return meant
    if isinstance(cause, requests.RequestException | HTTPError):
        return silence(cause)
    if isinstance(cause, exceptions.CredentialsBaseError):
        return _without_keys()
    return RequestError(f"{type(cause).__name__}: {cause}")


def _without_keys() -> RequestError:
    return RequestError(
        f"nobody says who asks; set {_KEY_ID[0]} and {_KEY_SECRET[0]}, or OSS_ACCESS_KEY_ID and "
        "OSS_ACCESS_KEY_SECRET"
    )


def _is_beyond(error: RequestError) -> bool:
    cause = error.__cause__
    return isinstance(cause, exceptions.ServiceError) and cause.status_code == _BEYOND


def _status(key: str, size: int, modified: datetime) -> ObjectStatus:
    return ObjectStatus(
        key=key, size_bytes=size, modification_time_ms=int(modified.timestamp() * 1000)
    )
