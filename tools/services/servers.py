"""A server that tests talk to: a process of its own on this machine, started, awaited and ended."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.peers.environments import ROOT

CACHE = ROOT / ".cache" / "services"
"""Where programs of servers are kept once they are fetched or built."""

HOST = "127.0.0.1"
_LASTING_PORTS = range(20_000, 32_000)  # below those that systems give to connections
_START_SECONDS = 60.0
_END_SECONDS = 10.0
_GLANCE_SECONDS = 0.05


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def lasting_port(*, beside: int | None = None) -> int:
    """A port that nothing listens on, and that no outgoing connection of this machine is given.

    A server that is stopped and started again finds it free: of the others, a client that tries to
    connect meanwhile may be given the very one that it asks for, and talk to itself.

    Args:
        beside: A port that is taken by now, though nothing listens on it yet.
    """
    first = _LASTING_PORTS.start + os.getpid() % 1000 * 10 if beside is None else beside + 1
    for port in range(first, _LASTING_PORTS.stop):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise LookupError(f"no free port in {_LASTING_PORTS}")


@contextmanager
def serving(
    command: Sequence[str], *, port: int, log: Path, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """A process listens on a port while the block runs.

    Args:
        command: Starts it.
        port: What it was told to listen on.
        log: Where its output goes.
        environment: Its whole environment; this process's by default.

    Yields:
        `host:port`, once it accepts connections.

    Raises:
        RuntimeError: It ended, or did not listen in time; with the end of its output.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=None if environment is None else dict(environment),
        )
    try:
        _wait(process, port=port, log=log)
        yield f"{HOST}:{port}"
    finally:
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], *, port: int, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not _listens(port):
        if process.poll() is not None or time.monotonic() > deadline:
            last = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{process.args!r} does not listen on port {port}:\n{last}")
        time.sleep(_GLANCE_SECONDS)


def _listens(port: int) -> bool:
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False
