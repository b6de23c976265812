"""A store as one process sees it: others run at every call, and any call may fail as a seed says.

    before     no effect, and `StorageError`
    after      the effect, and `StorageError`; of a put-if-absent `PutResult.UNKNOWN`
    unknown    of a put-if-absent alone: no effect, and `PutResult.UNKNOWN` all the same
    death      with or without the effect; this and every later call raises `Died`

A store that fails may go on failing for some calls. What decides commits fails more often than
other calls.

What a call did is told to a `Witness` before any other process runs.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import pyarrow as pa

from lakebed.errors import StorageError
from lakebed.storage.file_io import FileStatus, PutResult
from lakebed.storage.memory import MemoryFileIO
from simulation.scheduler import Scheduler
from support.store_listing import list_files

_PAUSES_MS = (50, 2_000)
_PUTS_FAIL_MORE = 8
_OUTAGES = 0.2
_OUTAGE_CALLS = (5, 15)

Answer = TypeVar("Answer")


class Died(BaseException):
    """The process is dead; its actor goes on as another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How probable it is that a call does not go well.

    Attributes:
        error: It fails.
        death: Its process dies.
        pause: Its process stands still before.
    """

    error: float = 0.0
    death: float = 0.0
    pause: float = 0.0


@dataclass(slots=True, eq=False)
class Process:
    """What runs the operations of an actor, until it dies.

    Attributes:
        actor: Name of the actor.
        scheduler: Gives turns.
        chance: Draws faults and names.
        rates: How often what fails.
        faults: How many calls failed.
        outage: How many of the next calls fail.
        is_dead: Whether it died.
        seen: What it last read of each snapshot's file.
    """

    actor: str
    scheduler: Scheduler
    chance: random.Random
    rates: Rates
    faults: int = 0
    outage: int = 0
    is_dead: bool = False
    seen: dict[str, bytes] = field(default_factory=dict)

    def take_turn(self, *, sleeps_ms: int = 0) -> None:
        """Lets others run; a dead process has nothing to do any more."""
        if self.is_dead:
            raise Died
        if self.chance.random() < self.rates.pause:
            sleeps_ms += self.chance.randint(*_PAUSES_MS)
        self.scheduler.take_turn(self.actor, sleeps_ms=sleeps_ms)

    def drawn_fault(self, *kinds: str) -> str:
        """What goes wrong with a call, one of some kinds; the empty text for nothing."""
        drawn = self.chance.random() / (_PUTS_FAIL_MORE if "unknown" in kinds else 1)
        if drawn < self.rates.death:
            return self.chance.choice(["death", "death after"])
        if not self.outage and drawn < self.rates.death + self.rates.error:
            is_long = self.chance.random() < _OUTAGES
            self.outage = self.chance.randint(*_OUTAGE_CALLS) if is_long else 1
        if not self.outage:
            return ""
        self.outage -= 1
        self.faults += 1
        return self.chance.choice(kinds)


class Witness(Protocol):
    """Is told what happens to files."""

    def saw_put(self, path: str, process: Process) -> None:
        """A file is there, new or anew."""
        ...

    def saw_delete(self, path: str, process: Process) -> None:
        """A file is gone."""
        ...


class SimFileIO:
    """The store of one process."""

    def __init__(self, inner: MemoryFileIO, process: Process, witness: Witness) -> None:
        """A view of `inner`, which all processes share."""
        self._inner = inner
        self._process = process
        self._witness = witness

    def read(self, path: str) -> bytes:
        data = self._read("read", path, lambda: self._inner.read(path))
        if "/snapshot/" in path:
            self._process.seen[path] = data
        return data

    def read_range(self, path: str, *, offset: int, length: int) -> bytes:
        return self._read(
            "read_range", path, lambda: self._inner.read_range(path, offset=offset, length=length)
        )

    def open_input(self, path: str) -> pa.NativeFile:
        return self._read("open_input", path, lambda: self._inner.open_input(path))

    @contextmanager
    def open_output(self, path: str) -> Iterator[pa.NativeFile]:
        self._raise(self._begin("open_output", path, "before"), "open_output", path)
        with self._inner.open_output(path) as stream:
            yield stream
            fault = self._begin("close", path, "before", "after")
            if not fault.endswith("after"):
                # Raised inside, so that the inner store drops the file.
                self._raise(fault, "close", path)
        self._witness.saw_put(path, self._process)
        self._raise(fault, "close", path)

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        fault = self._begin("put_if_absent", path, "before", "after", "unknown")
        if fault == "unknown":
            return PutResult.UNKNOWN
        if fault in {"before", "death"}:
            self._raise(fault, "put_if_absent", path)
        result = self._inner.put_if_absent(path, data)
        if result is PutResult.WRITTEN:
            self._witness.saw_put(path, self._process)
        if fault == "after":
            return PutResult.UNKNOWN
        self._raise(fault, "put_if_absent", path)
        return result

    def put_over(self, path: str, data: bytes) -> PutResult:
        """What a store does that replaces files: no `FileIO` does so."""
        self._inner.write(path, data)
        self._witness.saw_put(path, self._process)
        return PutResult.WRITTEN

    def write(self, path: str, data: bytes) -> None:
        self._change("write", path, lambda: self._inner.write(path, data))

    def size(self, path: str) -> int:
        return self._read("size", path, lambda: self._inner.size(path))

    def exists(self, path: str) -> bool:
        return self._read("exists", path, lambda: self._inner.exists(path))

    def list(self, path: str) -> list[FileStatus]:
        return self._read("list", path, lambda: self._inner.list(path))

    def make_directory(self, path: str) -> None:
        self._change("make_directory", path, lambda: self._inner.make_directory(path))

    def delete(self, path: str) -> bool:
        return self._change("delete", path, lambda: self._inner.delete(path))

    def delete_directory(self, path: str) -> None:
        self._change("delete_directory", path, lambda: self._inner.delete_directory(path))

    def rename_directory(self, source: str, target: str) -> None:
        self._change(
            "rename_directory", source, lambda: self._inner.rename_directory(source, target)
        )

    def local_path(self, path: str) -> str | None:
        return self._inner.local_path(path)

    def _read(self, method: str, path: str, call: Callable[[], Answer]) -> Answer:
        self._raise(self._begin(method, path, "before"), method, path)
        return call()

    def _change(self, method: str, path: str, call: Callable[[], Answer]) -> Answer:
        fault = self._begin(method, path, "before", "after")
        if not fault.endswith("after"):
            self._raise(fault, method, path)
        gone = self._files_below(path) if method == "delete_directory" else [path]
        answer = call()
        for each in gone if method.startswith("delete") and answer is not False else ():
            self._witness.saw_delete(each, self._process)
        if method == "write":
            self._witness.saw_put(path, self._process)
        self._raise(fault, method, path)
        return answer

    def _begin(self, method: str, path: str, *kinds: str) -> str:
        self._process.take_turn()
        fault = self._process.drawn_fault(*kinds)
        told = f" [{fault}]" if fault else ""
        self._process.scheduler.tell(f"{self._process.actor:10} {method} {path}{told}")
        return fault

    def _raise(self, fault: str, method: str, path: str) -> None:
        if fault.startswith("death"):
            self._process.is_dead = True
            raise Died
        if fault:
            raise StorageError(path, f"cannot {method}: the simulation has it fail {fault}")

    def _files_below(self, path: str) -> Sequence[str]:
        return tuple(list_files(self._inner, path))
