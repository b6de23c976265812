"""How is work on many values spread over threads, and how does it run where there is only one?"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from lakebed.table.parts import TableParts

Found = TypeVar("Found")


class Spread(Protocol):
    """Calls a function for each of many values, perhaps in threads, in their order."""

    def __call__(self, work: Callable[[Any], Found], values: Iterable[Any], /) -> Iterable[Found]:
        """As `map`."""
        ...


@contextmanager
def threads(parts: TableParts) -> Iterator[Spread]:
    """As many as reading may use; one is the caller's own, in which calls come in one order."""
    count = parts.session.read_threads
    if count < 2:
        yield map
        return
    with ThreadPoolExecutor(count) as pool:
        yield pool.map
