"""S3, as Versity's gateway keeps it in a directory: it checks signatures and preconditions.

A directory within is a bucket. What S3 says of a file beside its bytes is kept as attributes of the
file, which the file system must have: kept apart (`--sidecar`), they are there a moment before the
file is, and who was told that a name is taken finds nothing under it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tools.services.go_programs import go_program
from tools.services.servers import HOST, free_port, serving

ACCESS_KEY: Final = "lakebed-tests"
SECRET_KEY: Final = "lakebed-tests-secret"

_PACKAGE: Final = "github.com/versity/versitygw/cmd/versitygw"
_VERSION: Final = "v1.8.0"


@contextmanager
def s3(directory: Path, *, buckets: tuple[str, ...]) -> Iterator[str]:
    """The endpoint, such as `http://127.0.0.1:7070`, while the block runs.

    Args:
        directory: Where it keeps its files and its log.
        buckets: Made if they are not there.
    """
    for name in buckets:
        (directory / "buckets" / name).mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = [
        *(str(program()), "--port", f"{HOST}:{port}", "--quiet"),
        *("posix", str(directory / "buckets")),
    ]
    environment = {
        **os.environ,
        "ROOT_ACCESS_KEY": ACCESS_KEY,
        "ROOT_SECRET_KEY": SECRET_KEY,
    }
    with serving(command, port=port, log=directory / "s3.log", environment=environment):
        yield f"http://{HOST}:{port}"


def s3_options(endpoint: str) -> dict[str, str]:
    """A catalog's options for it."""
    return {
        "s3.endpoint": endpoint,
        "s3.access-key": ACCESS_KEY,
        "s3.secret-key": SECRET_KEY,
        "s3.path.style.access": "true",
    }


def program() -> Path:
    """The server, built on first use."""
    return go_program(_PACKAGE, version=_VERSION)
