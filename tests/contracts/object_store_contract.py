"""What every store of objects without directories must keep, beside what every store must.

A backend subclasses `ObjectStoreContract` and gives `file_io` and `root`.
"""

import multiprocessing
import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import pyarrow as pa
import pytest

from contracts.file_io_contract import AWKWARD_NAMES, FileIOContract
from lakebed.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    StorageError,
)
from lakebed.storage.bucket import PART_BYTES
from lakebed.storage.file_io import FileIO, PutResult

LONG = bytes(range(256)) * (5 * PART_BYTES // 512)
"""Two and a half parts."""


class _Told(Protocol):
    def send(self, obj: str, /) -> None: ...


class ObjectStoreContract(FileIOContract):
    """The promises of `lakebed.storage.object_store`, and where they differ from a disk's."""

    # Names.

    @pytest.mark.parametrize("name", [name for name in AWKWARD_NAMES if "\n" not in name])
    def test_names_are_taken_literally(self, file_io: FileIO, root: str, name: str) -> None:
        super().test_names_are_taken_literally(file_io, root, name)

    @pytest.mark.parametrize("name", ["a\nb", "a\x7f", ".", ".."])
    def test_names_that_the_store_cannot_hold_are_refused(
        self, file_io: FileIO, root: str, name: str
    ) -> None:
        for call in (file_io.read, file_io.list, file_io.exists, file_io.delete):
            with pytest.raises(InvalidArgumentError, match="no object can be named so"):
                call(f"{root}/{name}/f")

    def test_paths_of_another_bucket_are_refused(self, file_io: FileIO, root: str) -> None:
        scheme = root.partition(":")[0]
        for path in ("/plain/f", "file:/plain/f", f"{scheme}://other/f"):
            with pytest.raises(InvalidArgumentError, match=f"not in {scheme}"):
                file_io.read(path)

    # A file and a directory may have one name: nothing of either is lost.

    def test_writing_onto_a_directory_is_an_error(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/d/f", b"x")
        for write in (file_io.put_if_absent, file_io.write):
            with suppress(StorageError):
                write(f"{root}/d", b"y")
        assert file_io.read(f"{root}/d/f") == b"x"
        assert [status.name for status in file_io.list(f"{root}/d")] == ["f"]

    def test_writing_below_a_file_is_an_error(self, file_io: FileIO, root: str) -> None:
        file_io.put_if_absent(f"{root}/f", b"x")
        for write in (file_io.put_if_absent, file_io.write):
            with suppress(StorageError):
                write(f"{root}/f/g", b"y")
        assert file_io.read(f"{root}/f") == b"x"

    def test_an_empty_directory_is_there_until_it_is_deleted(
        self, file_io: FileIO, root: str
    ) -> None:
        file_io.make_directory(f"{root}/db.db")
        assert file_io.exists(f"{root}/db.db")
        [status] = file_io.list(root)
        assert (status.name, status.is_directory) == ("db.db", True)
        assert file_io.list(f"{root}/db.db") == []
        file_io.delete_directory(f"{root}/db.db")
        assert not file_io.exists(f"{root}/db.db")
        assert file_io.list(root) == []

    # Files of more than one part.

    def test_a_long_file_shows_itself_only_when_closed(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/bucket-0/data-1"
        with file_io.open_output(path) as stream:
            stream.write(LONG)
            assert not file_io.exists(path)
            assert file_io.list(f"{root}/bucket-0") == []
            stream.write(b"end")
        assert file_io.read(path) == LONG + b"end"
        assert file_io.size(path) == len(LONG) + 3

    def test_a_long_file_leaves_nothing_when_its_writer_fails(
        self, file_io: FileIO, root: str
    ) -> None:
        def fail() -> None:
            with file_io.open_output(f"{root}/d/data-1") as stream:
                stream.write(LONG)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert not file_io.exists(f"{root}/d/data-1")
        assert file_io.list(f"{root}/d") == []

    def test_a_long_file_refuses_a_path_taken_meanwhile(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/f"

        def write_slowly() -> None:
            with file_io.open_output(path) as stream:
                stream.write(LONG)
                file_io.put_if_absent(path, b"first")

        with pytest.raises(AlreadyExistsError):
            write_slowly()
        assert file_io.read(path) == b"first"

    def test_a_long_file_is_read_by_ranges(self, file_io: FileIO, root: str) -> None:
        path = f"{root}/f"
        with file_io.open_output(path) as stream:
            stream.write(LONG)
        with file_io.open_input(path) as file:
            assert isinstance(file, pa.NativeFile)
            assert file.size() == len(LONG)
            for start, length in ((len(LONG) - 9, 9), (3, 5), (8, 1 << 20), (1 << 20, 7), (2, 2)):
                file.seek(start)
                assert file.read(length) == LONG[start : start + length]
            file.seek(0)
            assert file.read() == LONG

    # Directories of many files.

    def test_directories_of_more_files_than_a_listing_holds(
        self, file_io: FileIO, root: str
    ) -> None:
        names = sorted(f"f{number}" for number in range(1050))
        for name in names:
            file_io.write(f"{root}/many/{name}", b"x")
        assert sorted(status.name for status in file_io.list(f"{root}/many")) == names
        file_io.rename_directory(f"{root}/many", f"{root}/moved")
        assert file_io.list(f"{root}/many") == []
        assert sorted(status.name for status in file_io.list(f"{root}/moved")) == names
        file_io.delete_directory(f"{root}/moved")
        assert file_io.list(root) == []

    # Processes.

    def test_a_store_goes_to_another_process(self, file_io: FileIO, root: str) -> None:
        file_io.write(f"{root}/f", b"x")
        sent = pickle.loads(pickle.dumps(file_io))
        assert sent == file_io
        assert sent.put_if_absent(f"{root}/f", b"y") is PutResult.PRESENT
        assert self.told_by_a_process("spawn", sent.read, f"{root}/f") == "b'x'"

    def told_by_a_process(self, start_method: str, call: Callable[[str], object], path: str) -> str:
        """What a call answers in a child, or how it fails; `hangs` if it does not end."""
        context = multiprocessing.get_context(start_method)
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=tell, args=(call, path, sender), daemon=True)  # type: ignore[attr-defined]
        child.start()
        answer: str = receiver.recv() if receiver.poll(30) else "hangs"
        child.kill()
        child.join()
        return answer


def tell(call: Callable[[str], object], path: str, told: _Told) -> None:
    """Runs in a child."""
    try:
        told.send(repr(call(path)))
    except (StorageError, NotFoundError) as error:
        told.send(str(error))
