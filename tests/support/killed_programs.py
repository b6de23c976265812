"""Programs with streams, each in a process group of its own, that are killed at any moment.

Such a program is a module of `support` that takes a directory, keeps the checkpoints of its queries
in `checkpoints` there, and says `started` on a line once they run.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tools.brief_java import VARIABLE
from tools.provenance import ROOT
from tools.spark_classes import options_with_classes

_START_SECONDS = 240
_LOOK_SECONDS = 0.1
_DRAIN_SECONDS = 480


@dataclass(slots=True)
class Outcome:
    """What came of it.

    Attributes:
        counts: How much was tried.
        violations: A sentence for each thing that is not what it must be.
    """

    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class StreamProgram:
    """A program that is started, killed and started again.

    Attributes:
        module: Its name.
        directory: Where it keeps checkpoints, and where `log.txt` gets what it says.
        arguments: What it is told besides the directory.
    """

    module: str
    directory: Path
    arguments: tuple[str, ...] = ()

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """A process whose streams run."""
        command = [
            *(sys.executable, "-m", self.module, str(self.directory)),
            *(*self.arguments, *arguments),
        ]
        paths = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT)]
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join(paths),
            "SPARK_LOCAL_IP": "127.0.0.1",
            VARIABLE: options_with_classes(),
        }
        with self._log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        deadline = threading.Timer(_START_SECONDS, process.kill)
        deadline.start()
        first = process.stdout.readline() if process.stdout is not None else ""
        deadline.cancel()
        if first.strip() != "started":
            raise RuntimeError(f"the streams did not start: {first}{self._tail()}")
        return process

    def await_progress(self, process: "subprocess.Popen[str]", *, since: int) -> None:
        """Waits until more micro-batches are done than so many.

        The streams take longer to start than micro-batches to run; one shall have ended.
        """
        deadline = time.monotonic() + _START_SECONDS
        while len(self.done()) <= since and time.monotonic() < deadline:
            if process.poll() is not None:
                raise RuntimeError(f"the streams ended by themselves: {self._tail()}")
            time.sleep(_LOOK_SECONDS)

    @contextmanager
    def running(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """A process whose streams run; it and all that it started die when the block ends."""
        process = self.start(*arguments)
        try:
            yield process
        finally:
            kill(process)

    def drain(self) -> list[str]:
        """Has the streams take what is there and end; what went wrong."""
        process = self.start("--drain")
        try:
            process.communicate(timeout=_DRAIN_SECONDS)
        except subprocess.TimeoutExpired:
            kill(process)
            raise
        if process.returncode:
            return [f"the streams ended with status {process.returncode}: {self._tail()}"]
        return []

    def done(self) -> list[Path]:
        """What says that micro-batches were done."""
        lines = (self.directory / "checkpoints").glob("*/commits/*")
        return [path for path in lines if path.name.isdecimal()]

    def lose_last_lines(self) -> int:
        """Takes away what says that the last micro-batch of each query was done; how many."""
        last: dict[Path, Path] = {}
        for line in sorted(self.done(), key=lambda path: int(path.name)):
            last[line.parent] = line
        for line in last.values():
            line.unlink()
            line.with_name(f".{line.name}.crc").unlink(missing_ok=True)
        return len(last)

    @property
    def _log(self) -> Path:
        return self.directory / "log.txt"

    def _tail(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-3000:]


def kill(process: "subprocess.Popen[str]") -> None:
    """Ends a process and all that it started, without a word."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
