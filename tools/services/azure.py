"""Azure's Blob storage, as Microsoft's own emulator Azurite keeps it in a directory."""

import base64
import hashlib
import hmac
import http.client
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tools.peers.environments import exclusive
from tools.services.servers import CACHE, HOST, free_port, serving

ACCOUNT: Final = "devstoreaccount1"
KEY: Final = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
"""The key of every emulator, which Microsoft publishes."""

_VERSION: Final = "3.35.0"
"""The last that runs on Node 20."""
_API: Final = "2021-12-02"


@contextmanager
def azure(directory: Path, *, containers: tuple[str, ...]) -> Iterator[str]:
    """The endpoint, such as `http://127.0.0.1:10000/devstoreaccount1`, while the block runs.

    Args:
        directory: Where it keeps its files and its log.
        containers: Made anew.
    """
    port = free_port()
    command = [
        *("node", str(program()), "--blobHost", HOST, "--blobPort", str(port)),
        *("--location", str(directory / "blobs"), "--silent", "--skipApiVersionCheck"),
        "--disableTelemetry",
    ]
    with serving(command, port=port, log=directory / "azure.log"):
        for name in containers:
            _make_container(port, name)
        yield f"http://{HOST}:{port}/{ACCOUNT}"


def azure_options(endpoint: str) -> dict[str, str]:
    """A catalog's options for it."""
    return {"azure.endpoint": endpoint, "fs.azure.account.key": KEY}


def program() -> Path:
    """The server, fetched on first use."""
    directory = CACHE / "npm" / f"azurite-{_VERSION}"
    script = directory / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    with exclusive(CACHE / "azurite.lock"):
        if not script.exists():
            print(f"services: fetching azurite {_VERSION}", file=sys.stderr, flush=True)
            directory.mkdir(parents=True, exist_ok=True)
            command = ["npm", "install", "--silent", "--no-audit", "--no-fund"]
            command += ["--prefix", str(directory), f"azurite@{_VERSION}"]
            subprocess.run(command, check=True, stdout=sys.stderr)
    return script


def _make_container(port: int, name: str) -> None:
    """One request, signed as Azure's REST API asks: clients of objects make no containers."""
    date = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
    signed = (
        "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:{_API}\n"
        f"/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    )
    digest = hmac.digest(base64.b64decode(KEY), signed.encode(), hashlib.sha256)
    signature = base64.b64encode(digest).decode()
    connection = http.client.HTTPConnection(HOST, port, timeout=30)
    connection.request(
        "PUT",
        f"/{ACCOUNT}/{name}?restype=container",
        headers={
            "x-ms-date": date,
            "x-ms-version": _API,
            "Content-Length": "0",
            "Authorization": f"SharedKey {ACCOUNT}:{signature}",
        },
    )
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.status != http.client.CREATED:
        raise RuntimeError(f"container {name}: {answer.status} {text}")
