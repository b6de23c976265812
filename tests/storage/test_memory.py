import copy
import pickle

import pytest

from contracts.file_io_contract import FileIOContract
from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.storage.file_io import FileIO
from lakebed.storage.memory import MemoryFileIO


class TestMemoryFileIO(FileIOContract):
    @pytest.fixture
    def file_io(self) -> FileIO:
        return MemoryFileIO()

    @pytest.fixture
    def root(self) -> str:
        return "memory:/warehouse/db.db"


class TestMemoryFileIOWithPlainPaths(TestMemoryFileIO):
    @pytest.fixture
    def root(self) -> str:
        return "/warehouse/db.db"


def test_both_spellings_mean_one_file() -> None:
    file_io = MemoryFileIO()
    file_io.write("memory:/a/f", b"x")
    assert file_io.read("/a/f") == b"x"
    assert file_io.read("memory:///a//f") == b"x"


def test_stores_are_apart() -> None:
    MemoryFileIO().write("/f", b"x")
    assert not MemoryFileIO().exists("/f")


def test_modification_times_come_from_the_clock() -> None:
    file_io = MemoryFileIO(clock=lambda: 1234)
    file_io.write("/d/f", b"x")
    assert file_io.list("/d")[0].modification_time_ms == 1234


def test_it_has_no_path_for_the_operating_system() -> None:
    assert MemoryFileIO().local_path("memory:/f") is None


def test_a_path_on_disk_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="not in memory"):
        MemoryFileIO().read("file:/f")


def test_deleting_the_root_empties_the_store() -> None:
    file_io = MemoryFileIO()
    file_io.write("/d/f", b"x")
    file_io.delete_directory("memory:/")
    assert file_io.list("memory:/") == []


@pytest.mark.parametrize("copies", [pickle.dumps, copy.deepcopy])
def test_it_refuses_to_be_copied_to_another_process(copies: object) -> None:
    assert callable(copies)
    with pytest.raises(UnsupportedError, match="belongs to its process"):
        copies(MemoryFileIO())
