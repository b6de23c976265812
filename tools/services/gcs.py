"""Google Cloud Storage, as fake-gcs-server keeps it in memory: its JSON API honours preconditions.

The emulator `gcp-storage-emulator` does not, so it proves nothing about commits.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.services.go_programs import go_program
from tools.services.servers import HOST, free_port, serving

_PACKAGE = "github.com/fsouza/fake-gcs-server"
_VERSION = "v1.56.1"


@contextmanager
def google_cloud_storage(log: Path) -> Iterator[str]:
    """The endpoint, such as `http://127.0.0.1:4443`, while the block runs; without buckets."""
    port = free_port()
    endpoint = f"http://{HOST}:{port}"
    command = [
        *(str(program()), "-backend", "memory"),
        *("-scheme", "http", "-host", HOST, "-port", str(port)),
        *("-external-url", endpoint, "-public-host", f"{HOST}:{port}", "-log-level", "warn"),
    ]
    with serving(command, port=port, log=log):
        yield endpoint


def program() -> Path:
    """The server, built on first use."""
    return go_program(_PACKAGE, version=_VERSION)
