from collections.abc import Callable

import pytest

from lakebed.errors import StorageError
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.memory import MemoryFileIO
from support.faulty_file_io import FaultMode, FaultyFileIO

MODES: list[FaultMode] = ["before", "after", "unknown"]


def write_a_file(file_io: FileIO) -> None:
    with file_io.open_output("/d/data-1") as stream:
        stream.write(b"x")


CHANGES: dict[str, Callable[[FileIO], object]] = {
    "write": lambda file_io: file_io.write("/d/LATEST", b"1"),
    "make_directory": lambda file_io: file_io.make_directory("/d/e"),
    "delete": lambda file_io: file_io.delete("/full/f"),
    "delete_directory": lambda file_io: file_io.delete_directory("/full"),
    "rename_directory": lambda file_io: file_io.rename_directory("/full", "/moved"),
}


def fresh_store() -> MemoryFileIO:
    inner = MemoryFileIO(clock=lambda: 0)
    inner.write("/full/f", b"x")
    return inner


def content(file_io: FileIO, path: str = "/") -> list[str]:
    found = []
    for status in file_io.list(path):
        found.append(status.path)
        if status.is_directory:
            found.extend(content(file_io, status.path))
    return sorted(found)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", CHANGES)
def test_a_change_fails_before_or_after_its_effect(method: str, mode: FaultMode) -> None:
    change = CHANGES[method]
    untouched, changed, inner = fresh_store(), fresh_store(), fresh_store()
    change(changed)
    assert content(changed) != content(untouched)
    file_io = FaultyFileIO(inner, 1, mode)
    with pytest.raises(StorageError, match=f"cannot {method}: fault injected"):
        change(file_io)
    assert content(inner) == content(changed if mode == "after" else untouched)
    assert file_io.calls == 1
    assert file_io.failed_call is not None
    assert file_io.failed_call.startswith(f"{method} /")


def test_put_if_absent_before_has_no_effect_and_raises() -> None:
    inner = MemoryFileIO()
    with pytest.raises(StorageError):
        FaultyFileIO(inner, 1, "before").put_if_absent("/f", b"x")
    assert not inner.exists("/f")


@pytest.mark.parametrize(("mode", "there"), [("after", True), ("unknown", False)])
def test_put_if_absent_is_unknown_with_and_without_effect(mode: FaultMode, *, there: bool) -> None:
    inner = MemoryFileIO()
    assert FaultyFileIO(inner, 1, mode).put_if_absent("/f", b"x") is PutResult.UNKNOWN
    assert inner.exists("/f") is there


@pytest.mark.parametrize(
    ("fail_at", "mode", "there"),
    [(1, "before", False), (1, "after", False), (2, "before", False), (2, "after", True)],
)
def test_open_output_fails_at_its_start_and_at_its_end(
    fail_at: int, mode: FaultMode, *, there: bool
) -> None:
    inner = MemoryFileIO()
    file_io = FaultyFileIO(inner, fail_at, mode)
    with pytest.raises(StorageError):
        write_a_file(file_io)
    assert inner.exists("/d/data-1") is there
    assert file_io.calls == fail_at


def test_only_the_nth_call_fails() -> None:
    file_io = FaultyFileIO(MemoryFileIO(), 2)
    file_io.write("/a", b"1")
    with pytest.raises(StorageError) as caught:
        file_io.write("/b", b"2")
    assert (caught.value.path, caught.value.retryable) == ("/b", False)
    file_io.write("/c", b"3")
    assert content(file_io) == ["/a", "/c"]
    assert file_io.calls == 3


def test_a_store_that_stays_down_fails_every_later_call_reads_included() -> None:
    inner = fresh_store()
    file_io = FaultyFileIO(inner, 1, stays_down=True, retryable=True)
    with pytest.raises(StorageError) as caught:
        file_io.write("/a", b"1")
    assert caught.value.retryable
    for change in (*CHANGES.values(), write_a_file):
        with pytest.raises(StorageError):
            change(file_io)
    with pytest.raises(StorageError):
        file_io.read("/full/f")
    assert content(inner) == content(fresh_store())


def test_a_store_that_goes_down_inside_an_open_output_drops_the_file() -> None:
    inner = fresh_store()
    file_io = FaultyFileIO(inner, 2, stays_down=True)

    def write() -> None:
        with file_io.open_output("/d/data-1") as stream:
            stream.write(b"x")
            with pytest.raises(StorageError):
                file_io.write("/a", b"1")

    with pytest.raises(StorageError):
        write()
    assert content(inner) == content(fresh_store())


def test_reads_count_only_when_asked() -> None:
    file_io = FaultyFileIO(fresh_store(), 1)
    assert file_io.read("/full/f") == b"x"
    assert file_io.calls == 0
    counting = FaultyFileIO(fresh_store(), 3, counts_reads=True)
    assert counting.exists("/full/f")
    assert counting.size("/full/f") == 1
    with pytest.raises(StorageError):
        counting.list("/full")


def test_zero_fails_nothing() -> None:
    file_io = FaultyFileIO(fresh_store(), 0)
    for change in CHANGES.values():
        if not file_io.exists("/full"):
            file_io.write("/full/f", b"x")
        change(file_io)
    assert not file_io.has_failed
