"""Stores in which somebody else comes in between two calls."""

from collections.abc import Callable

from lakebed.storage.file_io import FileStatus, PutResult
from support.faulty_file_io import FaultyFileIO
from support.table_builder import BuiltTable


class Meeting(FaultyFileIO):
    """A store in which somebody else comes in once, before a call is done."""

    def __init__(self, built: BuiltTable, method: str, path_end: str) -> None:
        super().__init__(built.file_io, 0)
        self.at = (method, path_end)
        self.other: Callable[[], object] = lambda: None

    def _meet(self, method: str, path: str) -> None:
        if self.at[0] == method and path.endswith(self.at[1]):
            self.at = ("", "")
            self.other()

    def read(self, path: str) -> bytes:
        self._meet("read", path)
        return super().read(path)

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        self._meet("put_if_absent", path)
        return super().put_if_absent(path, data)

    def write(self, path: str, data: bytes) -> None:
        self._meet("write", path)
        super().write(path, data)

    def delete(self, path: str) -> bool:
        self._meet("delete", path)
        return super().delete(path)

    def list(self, path: str) -> list[FileStatus]:
        self._meet("list", path)
        return super().list(path)


class MeetingAtCall(Meeting):
    """A store in which somebody else comes in before the n-th call, if it may be met there.

    Attributes:
        has_met: Whether somebody came.
        is_over: Whether the n-th call was reached.
    """

    def __init__(
        self, built: BuiltTable, number: int, *, is_open: Callable[[str, str], bool]
    ) -> None:
        """Wraps the store of a table.

        Args:
            built: The table.
            number: Which call, from 1.
            is_open: Whether somebody may come in before a call of this method and path.
        """
        super().__init__(built, "", "")
        self._is_open = is_open
        self.has_met = False
        self.is_over = False
        self._left = number

    def _meet(self, method: str, path: str) -> None:
        self._left -= 1
        self.is_over = self._left <= 0
        if self._left == 0 and self._is_open(method, path):
            self.has_met = True
            self.other()
