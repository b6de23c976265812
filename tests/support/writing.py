"""Writes that go on in a thread while something else is tried."""

import threading
from abc import ABC, abstractmethod
from typing import Self


class Writing(ABC):
    """Writes again and again, as long as the `with` block runs, whose end tells what went wrong."""

    def __init__(self) -> None:
        self._is_over = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._live)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._is_over.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    @abstractmethod
    def pause_seconds(self) -> float:
        """How long to wait before the next write."""

    @abstractmethod
    def write(self) -> None:
        """Writes once."""

    def _live(self) -> None:
        try:
            while not self._is_over.wait(self.pause_seconds()):
                self.write()
        except BaseException as failure:  # noqa: BLE001 - raised where the block ends
            self._failure = failure
