"""Where does a writer put what its memory has no room for? In a directory of the local disk.

`TMPDIR` says which disk. The directory is the writer's own, made when the first file is.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakebed.errors import StorageError


class Scratch:
    """A directory that is gone when it is closed.

    Args:
        purpose: A word in its name.
    """

    def __init__(self, purpose: str) -> None:
        self._prefix = f"lakebed-{purpose}-"
        self._directory: Path | None = None

    def path(self, name: str) -> str:
        """The path of a file in it."""
        if self._directory is None:
            self._directory = Path(tempfile.mkdtemp(prefix=self._prefix))
        return str(self._directory / name)

    def close(self) -> None:
        """Deletes what is in it."""
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
            self._directory = None

    @contextmanager
    def writing(self, problem: str, *, advice: str) -> Iterator[None]:
        """The block writes to the disk.

        Args:
            problem: What cannot be, if the disk fails.
            advice: What to do, besides taking a larger disk.

        Raises:
            StorageError: The disk is full, or cannot be written.
        """
        try:
            yield
        except OSError as error:
            raise StorageError(
                tempfile.gettempdir(),
                f"{problem}: {error}. Set TMPDIR to a larger disk, or {advice}",
            ) from error
