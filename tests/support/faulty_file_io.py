"""A store that fails at the n-th call, to prove what a crash or a fault leaves behind.

Run an operation for `fail_at` = 1, 2, ... until `has_failed` stays False: then each step of it has
been failed once. `./dev test` tries each fourth, others with each commit; the pipeline tries all.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

import pyarrow as pa

from lakebed.errors import StorageError
from lakebed.storage.file_io import FileIO, FileStatus, PutResult
from tools.pipeline import EVERY_CALL
from tools.provenance import read_commit, seed_of

FaultMode = Literal["before", "after", "unknown"]

_SAMPLED = 4
_CALLS_MAX = 500

Answer = TypeVar("Answer")


def calls_to_fail() -> range:
    """Values for `fail_at`: every call, or some that the commit chooses."""
    if os.environ.get(EVERY_CALL):
        return range(1, _CALLS_MAX)
    return range(1 + seed_of(read_commit()) % _SAMPLED, _CALLS_MAX, _SAMPLED)


class FaultyFileIO:
    """Wraps a store and fails one call.

    Modes:

    * `before`: the call has no effect and raises `StorageError`;
    * `after`: the call has its effect, then raises; `put_if_absent` returns `PutResult.UNKNOWN`;
    * `unknown`: the call has no effect, and `put_if_absent` returns `PutResult.UNKNOWN` all the
      same; every other call raises.

    An `open_output` counts twice: when it opens and when it gives the file its name.

    Attributes:
        failed_call: Method and path of the call that failed; None as long as none did.
    """

    def __init__(
        self,
        inner: FileIO,
        fail_at: int,
        mode: FaultMode = "before",
        *,
        counts_reads: bool = False,
        stays_down: bool = False,
        retryable: bool = False,
    ) -> None:
        """Wraps `inner`.

        Args:
            inner: The store that has the effects.
            fail_at: Which counted call fails, from 1; 0 fails none.
            mode: How it fails.
            counts_reads: Counts all calls; by default the ones that change the store.
            stays_down: Every call after the failed one fails too, as for a process that died.
            retryable: The attribute of the errors raised.
        """
        self.failed_call: str | None = None
        self._inner = inner
        self._fail_at = fail_at
        self._mode = mode
        self._counts_reads = counts_reads
        self._stays_down = stays_down
        self._retryable = retryable
        self._calls = 0
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """How many counted calls there were, the failed one included."""
        return self._calls

    @property
    def has_failed(self) -> bool:
        """Whether the call to fail was reached."""
        return self.failed_call is not None

    def read(self, path: str) -> bytes:
        return self._read("read", path, lambda: self._inner.read(path))

    def read_range(self, path: str, *, offset: int, length: int) -> bytes:
        return self._read(
            "read_range", path, lambda: self._inner.read_range(path, offset=offset, length=length)
        )

    def open_input(self, path: str) -> pa.NativeFile:
        return self._read("open_input", path, lambda: self._inner.open_input(path))

    @contextmanager
    def open_output(self, path: str) -> Iterator[pa.NativeFile]:
        self._change("open_output", path, lambda: None)
        failure: StorageError | None = None
        with self._inner.open_output(path) as stream:
            yield stream
            self._refuse_if_down("open_output (close)", path)
            if self._is_due("open_output (close)", path):
                failure = self._failure("open_output (close)", path)
                if self._mode != "after":
                    # Raised inside, so that the inner store drops the file.
                    raise failure
        if failure is not None:
            raise failure

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        self._refuse_if_down("put_if_absent", path)
        if not self._is_due("put_if_absent", path):
            return self._inner.put_if_absent(path, data)
        match self._mode:
            case "before":
                raise self._failure("put_if_absent", path)
            case "after":
                self._inner.put_if_absent(path, data)
                return PutResult.UNKNOWN
            case "unknown":
                return PutResult.UNKNOWN

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
        """The inner store's: what goes by it goes past the faults."""
        return self._inner.local_path(path)

    def _read(self, method: str, path: str, call: Callable[[], Answer]) -> Answer:
        self._refuse_if_down(method, path)
        if self._counts_reads and self._is_due(method, path):
            raise self._failure(method, path)
        return call()

    def _change(self, method: str, path: str, call: Callable[[], Answer]) -> Answer:
        self._refuse_if_down(method, path)
        if not self._is_due(method, path):
            return call()
        if self._mode == "after":
            call()
        raise self._failure(method, path)

    def _is_due(self, method: str, path: str) -> bool:
        with self._lock:
            self._calls += 1
            if self._calls != self._fail_at:
                return False
            self.failed_call = f"{method} {path}"
            return True

    def _refuse_if_down(self, method: str, path: str) -> None:
        if self._stays_down and self.has_failed:
            raise self._failure(method, path)

    def _failure(self, method: str, path: str) -> StorageError:
        return StorageError(
            path, f"cannot {method}: fault injected by the test", retryable=self._retryable
        )
