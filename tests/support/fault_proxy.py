"""A server of HTTP between a client and a store that fails requests as networks and stores do.

It passes on what it is asked, with the host that it was asked for, so that signatures hold.
"""

import http.client
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

HOST = "127.0.0.1"
_AT_ONCE = struct.pack("ii", 1, 0)
_LENGTH = "content-length"
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", _LENGTH})


class Fault(Enum):
    """What happens to a request."""

    UNHEARD = "the connection breaks before the store hears of it"
    LOST_ANSWER = "the store carries it out, and the connection breaks"
    RESET = "the store carries it out, and the connection is reset"
    FAULT_AFTER = "the store carries it out, and answers 500"
    THROTTLED = "the store answers 503 and does nothing"
    TOO_MANY = "the store answers 429 and does nothing"


_UNTOLD = frozenset({Fault.UNHEARD, Fault.THROTTLED, Fault.TOO_MANY})
_STATUS = {Fault.FAULT_AFTER: 500, Fault.THROTTLED: 503, Fault.TOO_MANY: 429}


@dataclass
class FaultProxy:
    """Requests and their faults.

    Attributes:
        url: Where it listens.
        fails: The fault of a request, by its method and path; None lets it pass.
        seen: Methods and paths of all requests, faulty ones too.
    """

    url: str = ""
    fails: Callable[[str, str], Fault | None] = lambda _method, _path: None
    seen: list[tuple[str, str]] = field(default_factory=list)

    def fail_next(self, method: str, *faults: Fault | None) -> None:
        """The next requests of a method fail, one with each fault; None and later ones pass."""
        waiting = list(faults)
        self.fails = lambda asked, _path: waiting.pop(0) if asked == method and waiting else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: FaultProxy
    host: str
    port: int

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.proxy.seen.append((self.command, self.path))
        fault = self.proxy.fails(self.command, self.path)
        answer = None if fault in _UNTOLD else self._pass_on(body)
        if fault in _STATUS:
            self._answer(_STATUS[fault], [], b"")
        elif fault is None and answer is not None:
            self._answer(*answer)
        else:
            self.close_connection = True
            if fault is Fault.RESET:
                # To close without lingering is to reset.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self.connection.close()

    def _pass_on(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        connection = http.client.HTTPConnection(self.host, self.port)
        connection.putrequest(self.command, self.path, skip_host=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        passed_on = answer.status, answer.getheaders(), answer.read()
        connection.close()
        return passed_on

    def _answer(self, status: int, headers: list[tuple[str, str]], data: bytes) -> None:
        """Of a file's head the length goes on as it is; there are no bytes to count."""
        is_head = self.command == "HEAD"
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in _HOP_BY_HOP or (is_head and name.lower() == _LENGTH):
                self.send_header(name, value)
        if not is_head:
            self.send_header(_LENGTH, str(len(data)))
        self.end_headers()
        if not is_head:
            self.wfile.write(data)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815


@contextmanager
def fault_proxy(target: str) -> Iterator[FaultProxy]:
    """Passes on to a server, such as `http://127.0.0.1:7070`, while the block runs."""
    parts = urlsplit(target)
    proxy = FaultProxy()
    place = {"proxy": proxy, "host": parts.hostname, "port": parts.port}
    server = ThreadingHTTPServer((HOST, 0), type("Handler", (_Handler,), place))
    server.daemon_threads = True
    proxy.url = f"http://{HOST}:{server.server_address[1]}{parts.path}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
