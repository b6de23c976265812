"""Has a process of its own damage files, and tells when it dies or hangs, over which file."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TESTS = Path(__file__).resolve().parent.parent
_SECONDS_A_TRIAL = 30.0
"""Beyond what an honest read takes on the busiest machine: it takes hundredths of a second."""
_SECONDS_TO_START = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What the trials of a seed found.

    Attributes:
        counts: Trials, and how their reads ended.
        violations: What must not be, a line each.
    """

    counts: Mapping[str, int]
    violations: tuple[str, ...]


class Inspector:
    """Keeps one process for many seeds, and a new one after each that died."""

    def __init__(self, *, module: str = "fuzz.child", seconds: float = _SECONDS_A_TRIAL) -> None:
        """Starts nothing yet.

        Args:
            module: What the process runs.
            seconds: How long a trial may take.
        """
        self._module = module
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._collector: threading.Thread | None = None
        self._answers: queue.Queue[str | None] = queue.Queue()

    def inspect(self, seed: int) -> Findings:
        """The findings of a seed's trials, or the trial over which the process died or hung."""
        process = self._process or self._start()
        assert process.stdin is not None
        process.stdin.write(f"{seed}\n")
        process.stdin.flush()
        last, seconds = "no trial yet", _SECONDS_TO_START
        while True:
            try:
                line = self._answers.get(timeout=seconds)
            except queue.Empty:
                self.close()
                return _one_violation(f"hangs: {last} takes more than {seconds:.0f} s")
            if line is None:
                status = process.wait()
                self.close()
                return _one_violation(f"dies: {last} ends the process with {status}")
            answer: dict[str, Any] = json.loads(line)
            if "trial" not in answer:
                return Findings(counts=answer["counts"], violations=tuple(answer["violations"]))
            last, seconds = answer["trial"], self._seconds

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._process is None or self._collector is None:
            return
        with self._process as process:
            process.kill()
            self._collector.join()
        self._process = None

    def _start(self) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(_TESTS.parent / "src"), str(_TESTS))),
            # Threads reserve memory, and there is little to share out.
            "POLARS_MAX_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            # A panic says what it is; the trace of it goes by.
            "RUST_BACKTRACE": "0",
        }
        self._process = process = subprocess.Popen(
            [sys.executable, "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        answers: queue.Queue[str | None] = queue.Queue()
        self._answers = answers
        self._collector = threading.Thread(target=_collect, args=(process, answers), daemon=True)
        self._collector.start()
        return process


def _collect(process: subprocess.Popen[str], answers: queue.Queue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        answers.put(line)
    answers.put(None)


def _one_violation(what: str) -> Findings:
    return Findings(counts={}, violations=(what,))
