"""What a process leaves behind that dies, or whose disk fails, at any step of a write."""

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

import pytest

from lakebed.errors import StorageError
from lakebed.storage.disk import Disk
from lakebed.storage.file_io import PutResult
from lakebed.storage.local import LocalFileIO

DATA = b"whole " * 1000

Mode = Literal["before", "after", "killed before", "killed after"]
MODES: list[Mode] = ["before", "after", "killed before", "killed after"]

Answer = TypeVar("Answer")


class Killed(BaseException):
    """Stands for SIGKILL: whatever still runs has no effect."""


class Fault:
    """Decides which step fails, and remembers the steps."""

    def __init__(self, fail_at: int, mode: Mode) -> None:
        self.fail_at = fail_at
        self.mode = mode
        self.steps: list[str] = []
        self.is_dead = False

    @property
    def was_reached(self) -> bool:
        return len(self.steps) >= self.fail_at

    def step(self, name: str, call: Callable[[], Answer]) -> Answer:
        if self.is_dead:
            raise Killed
        self.steps.append(name)
        if len(self.steps) != self.fail_at:
            return call()
        if self.mode.endswith("after"):
            call()
        if self.mode.startswith("killed"):
            self.is_dead = True
            raise Killed
        raise OSError(errno.EIO, f"injected at {name}")


class FaultyDisk(Disk):
    """A disk of which one step fails."""

    __slots__ = ("fault",)
    fault: Fault

    def __init__(self, fault: Fault) -> None:
        object.__setattr__(self, "fault", fault)

    def create(self, path: str) -> int:
        return self.fault.step("create", lambda: Disk().create(path))

    def write(self, descriptor: int, data: bytes) -> None:
        half = len(data) // 2
        self.fault.step("write half", lambda: Disk().write(descriptor, data[:half]))
        self.fault.step("write the rest", lambda: Disk().write(descriptor, data[half:]))

    def sync(self, descriptor: int) -> None:
        self.fault.step("sync", lambda: Disk().sync(descriptor))

    def close(self, descriptor: int) -> None:
        # The descriptors of a dead process are closed for it.
        Disk().close(descriptor)
        self.fault.step("close", lambda: None)

    def link(self, source: str, target: str) -> None:
        self.fault.step("link", lambda: Disk().link(source, target))

    def replace(self, source: str, target: str) -> None:
        self.fault.step("replace", lambda: Disk().replace(source, target))

    def unlink(self, path: str) -> None:
        self.fault.step("unlink", lambda: Disk().unlink(path))

    def make_directory(self, path: str) -> None:
        self.fault.step("make_directory", lambda: Disk().make_directory(path))

    def sync_directory(self, path: str) -> None:
        self.fault.step("sync_directory", lambda: Disk().sync_directory(path))


def attempt(call: Callable[[], object]) -> object:
    """The answer of a call, or the error, where dying is one."""
    try:
        return call()
    except (StorageError, Killed) as error:
        return error


def assert_only_drafts_beside(target: Path) -> None:
    names = [path.name for path in target.parent.glob("*") if path != target]
    assert all(name.startswith(f".{target.name}.") and name.endswith(".tmp") for name in names)


def is_whole(target: Path, content: bytes = DATA) -> bool:
    """Whether it is there; a part of it is a failed test."""
    if not target.exists():
        return False
    assert target.read_bytes() == content
    return True


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("single_writer", [False, True])
def test_put_if_absent_is_whole_or_absent_at_every_step(
    tmp_path: Path, mode: Mode, *, single_writer: bool
) -> None:
    class NoLinks(FaultyDisk):
        __slots__ = ()

        def link(self, source: str, target: str) -> None:
            raise OSError(errno.EPERM, "no hard links", source, None, target)

    steps: list[str] = []
    for fail_at in range(1, 100):
        target = tmp_path / str(fail_at) / "snapshot" / "snapshot-1"
        fault = Fault(fail_at, mode)
        disk = NoLinks(fault) if single_writer else FaultyDisk(fault)
        file_io = LocalFileIO(disk=disk, single_writer=single_writer)
        answer = attempt(lambda: file_io.put_if_absent(str(target), DATA))  # noqa: B023 - called at once
        steps = fault.steps
        there = is_whole(target)
        assert_only_drafts_beside(target)
        if not fault.was_reached:
            assert answer is PutResult.WRITTEN
            break
        if mode.startswith("killed"):
            assert isinstance(answer, Killed) or steps[-1] == "unlink"
        elif isinstance(answer, StorageError):
            assert not there, f"an error said nothing was written, yet {steps} wrote"
        elif answer is PutResult.WRITTEN:
            assert there
        else:
            assert answer is PutResult.UNKNOWN
        # The next process finds the truth.
        expected = PutResult.PRESENT if there else PutResult.WRITTEN
        assert LocalFileIO().put_if_absent(str(target), DATA) is expected
        assert is_whole(target)
    else:
        pytest.fail("it never ends")
    assert ("replace" if single_writer else "link") in steps
    assert {"make_directory", "create", "write half", "sync", "close", "sync_directory"} <= {*steps}


@pytest.mark.parametrize("mode", MODES)
def test_write_shows_the_old_or_the_new_at_every_step(tmp_path: Path, mode: Mode) -> None:
    for fail_at in range(1, 100):
        target = tmp_path / str(fail_at) / "LATEST"
        LocalFileIO().write(str(target), b"41")
        fault = Fault(fail_at, mode)
        attempt(lambda: LocalFileIO(disk=FaultyDisk(fault)).write(str(target), b"42"))  # noqa: B023 - called at once
        assert target.read_bytes() in {b"41", b"42"}
        assert_only_drafts_beside(target)
        if not fault.was_reached:
            assert target.read_bytes() == b"42"
            assert "replace" in fault.steps
            return
    pytest.fail("it never ends")


@pytest.mark.parametrize("mode", MODES)
def test_open_output_is_whole_or_absent_at_every_step(tmp_path: Path, mode: Mode) -> None:
    def write(file_io: LocalFileIO, target: Path) -> None:
        with file_io.open_output(str(target)) as stream:
            stream.write(DATA[:100])
            stream.write(DATA[100:])

    for fail_at in range(1, 100):
        target = tmp_path / str(fail_at) / "bucket-0" / "data-1"
        fault = Fault(fail_at, mode)
        answer = attempt(lambda: write(LocalFileIO(disk=FaultyDisk(fault)), target))  # noqa: B023 - called at once
        there = is_whole(target)
        assert_only_drafts_beside(target)
        assert answer is not None or there
        if not fault.was_reached:
            assert answer is None
            assert "link" in fault.steps
            return
    pytest.fail("it never ends")


PUTS_FOREVER = """
import sys
from lakebed.storage.local import LocalFileIO
file_io = LocalFileIO()
for number in range(1_000_000):
    if number == 1:
        print("ready", flush=True)
    file_io.put_if_absent(f"{sys.argv[1]}/snapshot-{number}", b"%d|" % number * 20_000)
"""


def test_a_process_killed_while_it_commits_leaves_whole_files_and_drafts(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", PUTS_FOREVER, str(tmp_path / str(number))],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for number in range(6)
    ]
    for number, child in enumerate(children):
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            time.sleep(0.013 * number)
            child.send_signal(signal.SIGKILL)
    for number in range(len(children)):
        directory = tmp_path / str(number)
        names = [path.name for path in directory.iterdir()]
        committed = {name for name in names if not name.startswith(".")}
        assert len(committed) >= 1
        assert committed == {f"snapshot-{index}" for index in range(len(committed))}
        for name in committed:
            index = int(name.removeprefix("snapshot-"))
            assert (directory / name).read_bytes() == b"%d|" % index * 20_000
        drafts = [name for name in names if name.startswith(".")]
        assert len(drafts) <= 1
        assert all(name.endswith(".tmp") for name in drafts)
