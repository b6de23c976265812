"""Does a store heed the condition of a put? Not each that speaks a protocol speaks all of it.

OSS, for one, ignores the condition in a bucket that keeps versions, or once did; some emulators and
gateways never heed it. There, two writers could both win one commit, and nobody would be told.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from lakebed.storage.bucket import Bucket, RequestError
from lakebed.storage.local import fresh_name
from lakebed.storage.store_options import SINGLE_WRITER

_HEEDFUL: Final[set[Bucket]] = set()
"""Stores that this process has seen to heed conditions."""


def require_conditions(
    bucket: Bucket, condition: str, *, beside: str, put_if_absent: Callable[[str, bytes], None]
) -> None:
    """Puts one object twice; the second put must be refused. Done once in a process.

    Args:
        bucket: The store.
        condition: How its protocol calls the condition.
        beside: A key in whose directory the object is put, and deleted.
        put_if_absent: The put, as it is before this is asked for.

    Raises:
        RequestError: Both puts were carried out, or one failed.
    """
    if bucket in _HEEDFUL:
        return
    probe = f"{beside.rpartition('/')[0]}/.lakebed-probe.{fresh_name()}.tmp".lstrip("/")
    heeds = False
    try:
        put_if_absent(probe, b"")
        put_if_absent(probe, b"")
    except RequestError as error:
        if not error.is_present:
            # Nothing was asked for the file itself. Cleaning finds a probe, by its name of a draft.
            raise RequestError(error.meaning, is_retryable=error.is_retryable) from error
        heeds = True
    with suppress(RequestError):
        bucket.delete_all([probe])
    if not heeds:
        raise RequestError(
            f"the store does not heed {condition}, so two writers could both win one commit. Keep "
            "the table on a store that does or, if never more than one process writes it, set "
            f"{SINGLE_WRITER}=true"
        )
    _HEEDFUL.add(bucket)
