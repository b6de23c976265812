"""Servers written in Go: built once from their sources, with the Go of the machine."""

import os
import subprocess
import sys
from pathlib import Path

from tools.peers.environments import exclusive
from tools.services.servers import CACHE


def go_program(package: str, *, version: str) -> Path:
    """The program of a package, built if it is not there in this version.

    Args:
        package: Its path, as `go install` takes it.
        version: A tag, such as `v1.2.3`.
    """
    name = package.rsplit("/", 1)[-1]
    directory = CACHE / "go" / f"{name}-{version}"
    program = directory / name
    with exclusive(CACHE / f"{name}.lock"):
        if not program.exists():
            print(f"services: building {name} {version}", file=sys.stderr, flush=True)
            subprocess.run(
                ["go", "install", f"{package}@{version}"],
                check=True,
                env={**os.environ, "GOBIN": str(directory), "GOFLAGS": "-p=2"},
            )
    return program
