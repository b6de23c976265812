"""What does a failed request over HTTP mean, for clients that send it by `requests`?"""

from typing import Final

import requests
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from lakebed.storage.bucket import RequestError

_MISSING: Final = 404
_UNFULFILLED: Final = 412
_DENIED: Final = frozenset({401, 403})
_PATIENCE: Final = frozenset({408, 429})
_FAULT: Final = 500


def refusal(status: int, said: str) -> RequestError:
    """What an answer with an error's status means.

    Args:
        status: Of HTTP; 0 where it is not known.
        said: The store's own words.
    """
    is_fault = status >= _FAULT or status == 0
    meaning = f"the store answered {status}, {said}"
    if status in _DENIED:
        meaning = f"the store denies permission; check the keys and the policy ({said})"
    return RequestError(
        meaning,
        is_missing=status == _MISSING,
        is_present=status == _UNFULFILLED,
        is_doubtful=is_fault,
        is_retryable=is_fault or status in _PATIENCE,
    )


def silence(error: Exception) -> RequestError:
    """What it means that there was no answer; `error` is of requests, or of urllib3 beneath it."""
    cause = error.args[0] if error.args else None
    is_unsent = any(
        isinstance(each, NewConnectionError | ConnectTimeoutError)
        for each in (error, cause, getattr(cause, "reason", None))
    )
    if is_unsent:
        meaning = "no connection"
    elif isinstance(error, requests.Timeout):
        meaning = "no answer in time"
    else:
        meaning = "the connection broke"
    return RequestError(meaning, is_doubtful=not is_unsent, is_retryable=True)
