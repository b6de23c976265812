"""How a driver answers: one JSON request a line on stdin, one JSON answer a line on stdout.

A driver runs in the interpreter of what it drives, so this module needs nothing but pyarrow. An
answer is `{"value": …}` or `{"error": …}`; rows travel in Arrow IPC files whose paths stand in
requests. Whatever else a library prints goes to stderr.
"""

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Self

import pyarrow as pa

Answer = dict[str, object] | None


def serve(operations: dict[str, Callable[..., Answer]]) -> None:
    """Answers until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, object]
        try:
            answer = {"value": operations[request.pop("operation")](**request)}
        except Exception:  # noqa: BLE001 - the process that asked decides what an error means
            answer = {"error": traceback.format_exc()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def load_rows(path: str) -> pa.Table:
    """The rows of an Arrow file."""
    with pa.memory_map(path) as source:
        return pa.ipc.open_file(source).read_all()


def save_rows(rows: pa.Table, path: str | None) -> None:
    """Writes rows to an Arrow file, if one was asked for."""
    if path is not None:
        with pa.OSFile(path, "wb") as file, pa.ipc.new_file(file, rows.schema) as sink:
            sink.write_table(rows)


class Stopwatch:
    """Measures the seconds of a `with` block."""

    seconds = 0.0

    def __enter__(self) -> Self:
        """Starts."""
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops."""
        self.seconds = time.perf_counter() - self._started
