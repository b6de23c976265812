"""One thing under comparison as a live process: asked an operation, it answers with JSON.

Staying alive between requests keeps imports, thread pools and caches warm, so that a benchmark
measures the operation alone, and a test pays for the start once.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from tools.peers.environments import ROOT, peer_python

DRIVERS = Path(__file__).parent / "drivers"


class PeerError(Exception):
    """The driven library raised; the text is its traceback."""


class JsonProcess:
    """A process that answers: one JSON request a line in, one JSON answer a line out.

    Attributes:
        name: Names it in errors.
    """

    def __init__(
        self, name: str, command: Sequence[str], *, environment: Mapping[str, str]
    ) -> None:
        """Starts it, with `environment` over this process's own and in UTC."""
        self.name = name
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "TZ": "UTC", **environment},
        )

    def __enter__(self) -> Self:
        """The process itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""
        self.close()

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate()

    def ask(self, operation: str, **arguments: object) -> dict[str, Any]:
        """Carries out one operation.

        Raises:
            PeerError: The library refused, or its process died.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"operation": operation, **arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise PeerError(f"{self.name} died: exit code {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(f"{self.name}: {answer['error']}")
        value: dict[str, Any] = answer["value"] or {}
        return value


class PeerProcess(JsonProcess):
    """A driver's process; `name` is ``"lakebed"``, ``"pypaimon"`` or ``"pypaimon-rust"``."""

    def __init__(self, name: str) -> None:
        """Starts it."""
        python = Path(sys.executable) if name == "lakebed" else peer_python(name)
        path = str(ROOT / "src") if name == "lakebed" else ""
        driver = DRIVERS / f"drive_{name.replace('-', '_')}.py"
        super().__init__(name, [str(python), str(driver)], environment={"PYTHONPATH": path})

    def create(
        self,
        table: Path,
        schema: pa.Schema,
        *,
        primary_key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        options: Mapping[str, str],
    ) -> None:
        """Creates a table; the schema goes over as an empty Arrow file."""
        path = write_ipc(schema.empty_table(), table.with_suffix(".schema.arrow"))
        self.ask(
            "create",
            table=str(table),
            schema=str(path),
            primary_key=list(primary_key),
            partition_by=list(partition_by),
            options=dict(options),
        )


def write_ipc(table: pa.Table, path: Path) -> Path:
    """Writes rows where a driver can map them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as sink:
        sink.write_table(table)
    return path


def read_ipc(path: Path) -> pa.Table:
    """Reads rows that a driver wrote."""
    with pa.memory_map(str(path)) as file:
        return pa.ipc.open_file(file).read_all()
