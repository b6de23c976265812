"""How does this process speak through obstore? Through one client a bucket, made when needed.

A bucket crosses processes as its settings alone; the client, which holds connections and threads,
stays where it is.

The surprising thing: the client's threads do not live on in a process that was forked, where every
call would wait for ever. So a child whose parent had a client is refused one.
"""

import os
import threading
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import Any, Final, TypeAlias

from obstore.store import AzureStore, S3Store

from lakebed.storage.bucket import RequestError

Client: TypeAlias = S3Store | AzureStore

_CLIENT_OPTIONS: Final = {
    "connect_timeout": "10s",
    "read_timeout": "60s",
    # A request may carry a whole data file.
    "timeout": "15min",
}
_RETRIES: Final = {"max_retries": 10, "retry_timeout": timedelta(minutes=3)}
_NO_RETRIES: Final = {"max_retries": 0}


class ClientKind(Enum):
    """Whose protocol is spoken."""

    S3 = S3Store
    AZURE = AzureStore


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """What a client is made of.

    Attributes:
        kind: Whose protocol.
        container: The bucket or container.
        values: Settings under obstore's names, secrets among them.
        allows_http: Whether requests may go unencrypted.
    """

    kind: ClientKind
    container: str
    values: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    allows_http: bool = False

    def connect(self, *, repeats: bool) -> Client:
        """A client; `repeats` says whether it sends requests again that failed."""
        # Each store takes a dictionary of a type of its own, which the settings were made for.
        make: Any = self.kind.value
        values = dict(self.values)
        client: Client = make(
            self.container,
            **_key_of_options(values),
            config=values,
            client_options=_CLIENT_OPTIONS | {"allow_http": self.allows_http},
            retry_config=_RETRIES if repeats else _NO_RETRIES,
        )
        return client


def _key_of_options(values: dict[str, str]) -> dict[str, object]:
    """Moves S3's key out of the settings, where a token of the environment would go with it."""
    if "access_key_id" not in values:
        return {}
    key = {
        "access_key_id": values.pop("access_key_id"),
        "secret_access_key": values.pop("secret_access_key"),
        "token": values.pop("session_token", None),
        "expires_at": None,
    }
    return {"credential_provider": lambda: key}


class _Clients:
    """The clients of this process."""

    def __init__(self) -> None:
        self._start(is_severed=False)

    def _start(self, *, is_severed: bool) -> None:
        self._lock = threading.Lock()
        self._made: dict[tuple[ClientSettings, bool], Client] = {}
        self._is_severed = is_severed

    def after_fork(self) -> None:
        self._start(is_severed=self._is_severed or bool(self._made))

    def of(self, settings: ClientSettings, *, repeats: bool) -> Client:
        if self._is_severed:
            raise RequestError(
                "this process was forked from one that had spoken to the store, and the client "
                "does not live on in a fork. Start processes by spawn or forkserver "
                "(multiprocessing.set_start_method), or before the first use of the store"
            )
        with self._lock:
            key = (settings, repeats)
            if key not in self._made:
                self._made[key] = settings.connect(repeats=repeats)
            return self._made[key]


_CLIENTS: Final = _Clients()
os.register_at_fork(after_in_child=_CLIENTS.after_fork)


def client_of(settings: ClientSettings, *, repeats: bool = True) -> Client:
    """The client of this process for a bucket.

    Args:
        settings: The bucket.
        repeats: Whether it sends requests again that failed.

    Raises:
        RequestError: This process was forked from one that had a client.
    """
    return _CLIENTS.of(settings, repeats=repeats)
