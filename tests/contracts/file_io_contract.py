"""What every store must keep: a backend subclasses `FileIOContract` and gets each test.

class TestLocalFileIO(FileIOContract):
    @pytest.fixture
    def file_io(self) -> FileIO: ...
    @pytest.fixture
    def root(self) -> str: ...
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from lakebed.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    StorageError,
)
from lakebed.storage.file_io import FileIO, PutResult

AWKWARD_NAMES = ["a b%2Fc%3Dd%3Ae%25f", "p=zażółć🦆", "%7Bx%7D?y#z", "a:b", "..x", "~", "a\nb"]


def visible_names(file_io: FileIO, path: str) -> list[str]:
    """Names in a directory, less the drafts (`.x.tmp`) that no reader looks at."""
    return sorted(
        status.name
        for status in file_io.list(path)
        if not (status.name.startswith(".") and status.name.endswith(".tmp"))
    )


def reads_of(file_io: FileIO) -> list[Callable[[str], object]]:
    """Every call that reads a file."""
    return [
        file_io.read,
        file_io.size,
        file_io.open_input,
        lambda path: file_io.read_range(path, offset=0, length=1),
    ]


class FileIOContract:
    """The promises of `lakebed.storage.file_io`, one test each."""

    @pytest.fixture
    def file_io(self) -> FileIO:
        raise NotImplementedError("the backend's test class gives a fresh store")

    @pytest.fixture
    def root(self) -> str:
        raise NotImplementedError(
            "the backend's test class gives a directory, which may be missing"
        )

    # Put-if-absent: the commit.

    def test_put_if_absent_writes_once_and_keeps_the_first(
        self, file_io: FileIO, root: str
    ) -> None:
        path = f"{root}/deep/er/snapshot-1"
        assert file_io.put_if_absent(path, b"first") is PutResult.WRITTEN
        assert file_io.put_if_absent(path, b"second, longer") is PutResult.PRESENT
        assert file_io.read(path) == b"first"
        assert [status.name for status in file_io.list(f"{root}/deep/er")] == ["snapshot-1"]

    def test_put_if_absent_of_nothing_makes_an_empty_file(self, file_io: FileIO, root: str) -> None:
        assert file_io.put_if_absent(f"{root}/empty", b"") is PutResult.WRITTEN
        assert file_io.put_if_absent(f"{root}/empty", b"x") is PutResult.PRESENT
        assert file_io.read(f"{root}/empty") == b""

    def test_put_if_absent_after_delete_writes_again(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/f"
        file_io.put_if_absent(path, b"1")
        assert file_io.delete(path)
        assert file_io.put_if_absent(path, b"2") is PutResult.WRITTEN
        assert file_io.read(path) == b"2"

    def test_put_if_absent_has_one_winner_among_threads(self, file_io: FileIO, root: str) -> None:
        threads, rounds = 4, 50
        barrier = threading.Barrier(threads, timeout=30)

        def attempt(name: int) -> list[PutResult]:
            results = []
            for number in range(rounds):
                barrier.wait()
                data = f"{name}".encode() * 1000
                results.append(file_io.put_if_absent(f"{root}/r{number % 5}/{number}", data))
            return results

        with ThreadPoolExecutor(threads) as pool:
            results = list(pool.map(attempt, range(threads)))
        for number in range(rounds):
            winners = [
                name for name in range(threads) if results[name][number] is PutResult.WRITTEN
            ]
            assert len(winners) == 1
            assert [results[name][number] for name in range(threads)].count(PutResult.PRESENT) == 3
            content = file_io.read(f"{root}/r{number % 5}/{number}")
            assert content == f"{winners[0]}".encode() * 1000

    # Output streams: data files.

    def test_open_output_shows_the_file_only_when_closed(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/bucket-0/data-1"
        with file_io.open_output(path) as stream:
            stream.write(b"half")
            stream.flush()
            assert not file_io.exists(path)
            assert visible_names(file_io, f"{root}/bucket-0") == []
            with pytest.raises(NotFoundError):
                file_io.read(path)
            with pytest.raises(NotFoundError):
                file_io.open_input(path)
            stream.write(b" and half")
        assert file_io.read(path) == b"half and half"
        assert [status.name for status in file_io.list(f"{root}/bucket-0")] == ["data-1"]

    def test_open_output_leaves_nothing_when_the_writer_fails(
        self, file_io: FileIO, root: str
    ) -> None:
        path = f"{root}/d/data-1"

        def fail_midway() -> None:
            with file_io.open_output(path) as stream:
                stream.write(b"half")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail_midway()
        assert not file_io.exists(path)
        assert file_io.list(f"{root}/d") == []

    def test_open_output_accepts_a_stream_that_the_writer_closed(
        self, file_io: FileIO, root: str
    ) -> None:
        with file_io.open_output(f"{root}/f") as stream:
            stream.write(b"abc")
            stream.close()
        assert file_io.read(f"{root}/f") == b"abc"

    def test_open_output_refuses_a_taken_path_at_once(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/f"
        file_io.put_if_absent(path, b"first")
        with pytest.raises(AlreadyExistsError, match="already exists") as caught:
            file_io.open_output(path).__enter__()
        assert (caught.value.kind, caught.value.name) == ("file", path)
        assert file_io.read(path) == b"first"

    def test_open_output_refuses_a_path_taken_meanwhile(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/f"

        def write_slowly() -> None:
            with file_io.open_output(path) as stream:
                stream.write(b"late")
                file_io.put_if_absent(path, b"first")

        with pytest.raises(AlreadyExistsError):
            write_slowly()
        assert file_io.read(path) == b"first"
        assert [status.name for status in file_io.list(root)] == ["f"]

    # Overwrites: hints.

    def test_write_makes_and_replaces(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/snapshot/LATEST"
        file_io.write(path, b"100")
        file_io.write(path, b"7")
        assert file_io.read(path) == b"7"
        assert [status.name for status in file_io.list(f"{root}/snapshot")] == ["LATEST"]

    def test_write_is_never_seen_half(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/LATEST"
        contents = [b"a" * 200_000, b"b" * 100]
        file_io.write(path, contents[0])
        done = threading.Event()

        def replace() -> None:
            for number in range(100):
                file_io.write(path, contents[number % 2])
            done.set()

        with ThreadPoolExecutor(1) as pool:
            replacing = pool.submit(replace)
            while not done.is_set() and not replacing.done():
                assert file_io.read(path) in contents
            replacing.result()

    # Reads.

    def test_read_range_at_the_edges(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/f"
        file_io.put_if_absent(path, b"0123456789")
        ranges = {
            (0, 10): b"0123456789",
            (0, 0): b"",
            (3, 4): b"3456",
            (9, 1): b"9",
            (8, 100): b"89",
            (10, 1): b"",
            (11, 5): b"",
            (0, 2**40): b"0123456789",
            (2**40, 1): b"",
        }
        for (offset, length), expected in ranges.items():
            assert file_io.read_range(path, offset=offset, length=length) == expected

    @pytest.mark.parametrize(("offset", "length"), [(-1, 1), (0, -1)])
    def test_read_range_refuses_negative_numbers(
        self, file_io: FileIO, root: str, *, offset: int, length: int
    ) -> None:
        file_io.put_if_absent(f"{root}/f", b"0123456789")
        with pytest.raises(InvalidArgumentError):
            file_io.read_range(f"{root}/f", offset=offset, length=length)

    def test_open_input_seeks_and_knows_its_size(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/f"
        file_io.put_if_absent(path, b"0123456789")
        with file_io.open_input(path) as file:
            assert isinstance(file, pa.NativeFile)
            assert file.seekable()
            assert file.size() == 10
            file.seek(4)
            assert file.read(3) == b"456"
            file.seek(8)
            assert file.read(100) == b"89"
        assert file.closed

    def test_size_counts_bytes(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/f", "🦆".encode())
        assert file_io.size(f"{root}/f") == 4

    def test_reading_what_is_missing_is_not_found(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/d/f", b"x")
        for missing in (f"{root}/missing", f"{root}/d/missing", f"{root}/d/f/below-a-file"):
            for read in reads_of(file_io):
                with pytest.raises(NotFoundError) as caught:
                    read(missing)
                assert (caught.value.kind, caught.value.name) == ("file", missing)

    def test_reading_a_directory_is_an_error(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/d/f", b"x")
        for read in reads_of(file_io):
            with pytest.raises(StorageError, match="is a directory") as caught:
                read(f"{root}/d")
            assert caught.value.path == f"{root}/d"
            assert not caught.value.retryable

    # Existence and listing.

    def test_exists_knows_files_and_directories(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/d/f", b"x")
        assert file_io.exists(f"{root}/d/f")
        assert file_io.exists(f"{root}/d")
        assert not file_io.exists(f"{root}/d/g")
        assert not file_io.exists(f"{root}/d/f/below-a-file")

    def test_list_tells_files_from_directories(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/file", b"four")
        file_io.put_if_absent(f"{root}/directory/deeper/f", b"x")
        listing = {status.name: status for status in file_io.list(root)}
        assert sorted(listing) == ["directory", "file"]
        assert listing["file"].path == f"{root}/file"
        assert listing["file"].size_bytes == 4
        assert listing["file"].modification_time_ms > 1_600_000_000_000
        assert not listing["file"].is_directory
        assert listing["directory"].path == f"{root}/directory"
        assert listing["directory"].is_directory
        assert listing["directory"].size_bytes == 0

    def test_list_of_a_missing_directory_is_empty(self, file_io: FileIO, root: str) -> None:
        assert file_io.list(f"{root}/missing") == []

    def test_list_of_a_file_is_an_error(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/f", b"x")
        with pytest.raises(StorageError, match="a file, not a directory"):
            file_io.list(f"{root}/f")

    def test_a_slash_at_the_end_changes_nothing(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/d/f", b"x")
        assert [status.path for status in file_io.list(f"{root}/d/")] == [f"{root}/d/f"]
        assert file_io.exists(f"{root}/d/")

    @pytest.mark.parametrize("name", AWKWARD_NAMES)
    def test_names_are_taken_literally(self, file_io: FileIO, root: str, name: str) -> None:
        path = f"{root}/{name}/{name}"
        assert file_io.put_if_absent(path, b"x") is PutResult.WRITTEN
        assert [status.name for status in file_io.list(root)] == [name]
        [status] = file_io.list(f"{root}/{name}")
        assert status.path == path
        assert file_io.read(status.path) == b"x"
        assert file_io.put_if_absent(status.path, b"y") is PutResult.PRESENT
        assert file_io.delete(status.path)

    # Directories and deletion.

    def test_make_directory_makes_parents_and_may_be_repeated(
        self, file_io: FileIO, root: str
    ) -> None:
        for _ in range(2):
            file_io.make_directory(f"{root}/a/b")
        assert file_io.list(f"{root}/a/b") == []

    def test_delete_says_whether_the_file_was_there(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/f", b"x")
        assert file_io.delete(f"{root}/f")
        assert not file_io.delete(f"{root}/f")
        assert not file_io.delete(f"{root}/missing/f")
        file_io.put_if_absent(f"{root}/f2", b"x")
        assert not file_io.delete(f"{root}/f2/below-a-file")
        assert not file_io.exists(f"{root}/f")

    def test_delete_refuses_a_directory(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/d/f", b"x")
        with pytest.raises(StorageError):
            file_io.delete(f"{root}/d")
        assert file_io.read(f"{root}/d/f") == b"x"

    def test_delete_directory_takes_all_that_is_in_it(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/d/e/f", b"x")
        file_io.put_if_absent(f"{root}/d/g", b"x")
        file_io.put_if_absent(f"{root}/d2/f", b"x")
        for _ in range(2):
            file_io.delete_directory(f"{root}/d")
        assert [status.name for status in file_io.list(root)] == ["d2"]
        assert file_io.read(f"{root}/d2/f") == b"x"

    def test_delete_directory_refuses_a_file(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/f", b"x")
        with pytest.raises(StorageError):
            file_io.delete_directory(f"{root}/f")
        assert file_io.read(f"{root}/f") == b"x"

    def test_rename_directory_moves_all_that_is_in_it(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/a/x/f", b"x")
        file_io.rename_directory(f"{root}/a", f"{root}/new/b")
        assert file_io.read(f"{root}/new/b/x/f") == b"x"
        assert not file_io.exists(f"{root}/a")

    @pytest.mark.parametrize("target_is", ["full", "empty", "a file"])
    def test_rename_directory_refuses_a_taken_target(
        self, file_io: FileIO, root: str, target_is: str
    ) -> None:
        file_io.put_if_absent(f"{root}/a/f", b"x")
        match target_is:
            case "full":
                file_io.put_if_absent(f"{root}/b/g", b"y")
            case "empty":
                file_io.make_directory(f"{root}/b")
            case _:
                file_io.put_if_absent(f"{root}/b", b"y")
        with pytest.raises(AlreadyExistsError) as caught:
            file_io.rename_directory(f"{root}/a", f"{root}/b")
        assert caught.value.name == f"{root}/b"
        assert file_io.read(f"{root}/a/f") == b"x"

    def test_rename_directory_refuses_a_missing_source_a_file_and_itself(
        self, file_io: FileIO, root: str
    ) -> None:
        file_io.put_if_absent(f"{root}/d/f", b"x")
        with pytest.raises(NotFoundError) as caught:
            file_io.rename_directory(f"{root}/missing", f"{root}/b")
        assert (caught.value.kind, caught.value.name) == ("directory", f"{root}/missing")
        with pytest.raises(StorageError):
            file_io.rename_directory(f"{root}/d/f", f"{root}/b")
        with pytest.raises(StorageError):
            file_io.rename_directory(f"{root}/d", f"{root}/d/inside")
        assert file_io.read(f"{root}/d/f") == b"x"
        assert not file_io.exists(f"{root}/b")

    # Writing where it cannot be.

    def test_writing_onto_a_directory_is_an_error(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/d/f", b"x")
        for write in (file_io.put_if_absent, file_io.write):
            with pytest.raises(StorageError, match="is a directory"):
                write(f"{root}/d", b"y")
        with pytest.raises(AlreadyExistsError):
            file_io.open_output(f"{root}/d").__enter__()
        assert visible_names(file_io, root) == ["d"]
        assert len(file_io.list(root)) == 1

    def test_writing_below_a_file_is_an_error(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/f", b"x")
        for write in (file_io.put_if_absent, file_io.write):
            with pytest.raises(StorageError, match="file"):
                write(f"{root}/f/g", b"y")
        with pytest.raises(StorageError, match="file"):
            file_io.make_directory(f"{root}/f/g")
        assert file_io.read(f"{root}/f") == b"x"
