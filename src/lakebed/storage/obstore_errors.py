"""What do the errors of obstore mean?

It tells some apart by their class; the rest it describes in words, in which the answer's status and
code, or the way in which the transport failed, are looked up.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeVar

from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)

from lakebed.storage.bucket import RequestError

Answer = TypeVar("Answer")

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([^<]*)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]*)</Message>")
_TRANSPORT = re.compile(r"kind: (Connect|Request|Timeout|Interrupted|Unknown|Decode)\b")
_WORDS = re.compile(r"^ *(?:message: )?\"([^\"\n]+)\",?$", re.MULTILINE)

_TRANSPORTS: Final[Mapping[str, str]] = {
    "Connect": "no connection",
    "Request": "the connection broke",
    "Timeout": "no answer in time",
    "Interrupted": "the connection broke",
    "Unknown": "the connection failed",
    "Decode": "the answer cannot be read",
}
_UNSENT: Final = "Connect"
"""obstore calls a connection that broke after the request "Request", and repeats that as unsent."""
_GIVEN_UP: Final = frozenset({"Interrupted", "Unknown", "Decode"})
"""What obstore does not repeat, or of reads alone."""
_PAUSES_S: Final = (0.1, 0.4, 1.6)
"""Before each repetition."""

_CONTENTION: Final = frozenset({"ConditionalRequestConflict", "OperationAborted"})
"""Codes of a put that met another put or a delete, and may be repeated: no file is said to be."""
_CONFLICT: Final = "409"
_TAKEN: Final = frozenset({"", "BlobAlreadyExists"})
"""Codes of a conflict with an object of the same key; others are with a lease or the container."""
_DENIED: Final = frozenset({"401", "403"})
_PATIENCE: Final = frozenset({"408", "429"})
_BEYOND_THE_END: Final = re.compile(r"status code: 416|Wanted range starting at")


def is_beyond_the_end(error: BaseError) -> bool:
    """Whether a range was asked for that begins where the object has ended."""
    return _BEYOND_THE_END.search(str(error)) is not None


class BrokenConnectionError(RequestError):
    """A connection that broke in a way after which obstore repeats nothing."""


def ask(request: Callable[[], Answer]) -> Answer:
    """Sends a request that may be repeated; what breaks is sent again, as obstore itself does not.

    Raises:
        RequestError: It failed, or broke each time.
    """
    for pause in _PAUSES_S:
        try:
            with request_errors():
                return request()
        except BrokenConnectionError:
            time.sleep(pause)
    with request_errors():
        return request()


@contextmanager
def request_errors() -> Iterator[None]:
    """Turns what obstore raises into a `RequestError`."""
    try:
        yield
    except FileNotFoundError as error:
        place = "bucket" if _first(_CODE, str(error)) == "NoSuchBucket" else "object or its bucket"
        raise RequestError(f"the {place} does not exist", is_missing=True) from None
    except (BaseError, OSError) as error:
        # Its own text may repeat the request; so it is no cause.
        raise _meaning(error) from None


def _meaning(error: BaseError | OSError) -> RequestError:
    text = str(error)
    status, code = _first(_STATUS, text), _first(_CODE, text)
    if isinstance(error, PermissionDeniedError | UnauthenticatedError) or status in _DENIED:
        told = f" ({code})" if code else ""
        return RequestError(f"the store denies permission{told}; check the keys and the policy")
    if code in _CONTENTION:
        return RequestError("another change of the object was under way", is_retryable=True)
    is_refused = isinstance(error, AlreadyExistsError | PreconditionError)
    if is_refused and (status != _CONFLICT or code in _TAKEN):
        return RequestError("the object is there already", is_present=True)
    if status:
        told = ": ".join(part for part in (code, _first(_MESSAGE, text)) if part)
        is_fault = status.startswith("5")
        return RequestError(
            f"the store answered {status}{f', {told}' if told else ''}",
            is_doubtful=is_fault,
            is_retryable=is_fault or status in _PATIENCE,
        )
    if transport := _first(_TRANSPORT, text):
        words = dict.fromkeys((_TRANSPORTS[transport], *_WORDS.findall(text)))
        kind = BrokenConnectionError if transport in _GIVEN_UP else RequestError
        return kind(": ".join(words), is_doubtful=transport != _UNSENT, is_retryable=True)
    return RequestError(text.partition("\n")[0], is_doubtful=True)


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""
