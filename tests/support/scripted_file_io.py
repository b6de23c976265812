"""A store that does what a test says just before and just after a snapshot is put."""

from collections.abc import Callable

from lakebed.storage.file_io import FileIO, PutResult
from support.faulty_file_io import FaultyFileIO

Put = Callable[[Callable[[], PutResult]], PutResult]


class ScriptedFileIO(FaultyFileIO):
    """Gives each put of a snapshot file to the next part of a script, until the script ends.

    Attributes:
        puts: How many snapshot files were put.
    """

    def __init__(self, inner: FileIO, script: list[Put]) -> None:
        """Wraps `inner`; a part of the script is called with what really puts the file."""
        super().__init__(inner, 0)
        self.puts = 0
        self._script = list(script)

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        def put() -> PutResult:
            return self._inner.put_if_absent(path, data)

        if "/snapshot-" not in path:
            return put()
        self.puts += 1
        return self._script.pop(0)(put) if self._script else put()


class PausingFileIO(FaultyFileIO):
    """Lets others act once, when a file has been read that was not there before.

    Attributes:
        has_paused: Whether it has happened.
    """

    def __init__(self, inner: FileIO, path: str, act: Callable[[], object]) -> None:
        """Wraps `inner`; `act` is what happens once `path` has been read."""
        super().__init__(inner, 0)
        self.has_paused = False
        self._path = path
        self._act = act

    def read(self, path: str) -> bytes:
        data = self._inner.read(path)
        if path == self._path and not self.has_paused:
            self.has_paused = True
            self._act()
        return data


def meanwhile(act: Callable[[], object]) -> Put:
    """Lets another writer act first."""

    def play(put: Callable[[], PutResult]) -> PutResult:
        act()
        return put()

    return play


def afterwards(act: Callable[[], object], answer: PutResult | None = None) -> Put:
    """Puts, then lets another writer act; answers what the store said, or `answer`."""

    def play(put: Callable[[], PutResult]) -> PutResult:
        said = put()
        act()
        return answer or said

    return play


def no_answer(*, has_effect: bool) -> Put:
    """The store does not say what came of the put."""

    def play(put: Callable[[], PutResult]) -> PutResult:
        if has_effect:
            put()
        return PutResult.UNKNOWN

    return play


def failing(error: Exception) -> Put:
    """The store fails, without effect."""

    def play(_: Callable[[], PutResult]) -> PutResult:
        raise error

    return play
