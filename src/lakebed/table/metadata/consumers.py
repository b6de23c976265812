"""How far have consumers read (format.md 3)?

A consumer is a name under which a stream keeps its position. What it has yet to read does not
expire, so a stream only moves its position ahead; who resets it may move it anywhere.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lakebed.errors import CorruptTableError, InvalidArgumentError, NotFoundError
from lakebed.format.json_text import format_json, parse_json_object
from lakebed.format.paths import TablePaths, consumer_id_of
from lakebed.storage.file_io import FileIO, FileStatus

_POSITION = "nextSnapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerState:
    """How far a consumer is.

    Attributes:
        next_snapshot: The snapshot that it reads next.
        time_millis: When that was kept, in epoch milliseconds.
    """

    next_snapshot: int
    time_millis: int


@dataclass(frozen=True, slots=True)
class Consumers:
    """The consumers of one table or branch."""

    file_io: FileIO
    paths: TablePaths

    def next_snapshots(self) -> dict[str, int]:
        """The snapshot that each consumer reads next, in order of their names.

        Raises:
            CorruptTableError: A consumer's file cannot be read.
        """
        return {each: state.next_snapshot for each, state in self.states().items()}

    def states(self) -> dict[str, ConsumerState]:
        """What is kept of each consumer, in order of their names.

        Raises:
            CorruptTableError: A consumer's file cannot be read.
        """
        positions = {
            each: (self.find(each), status.modification_time_ms) for each, status in self._listed()
        }
        return {
            each: ConsumerState(next_snapshot=position, time_millis=time_millis)
            for each, (position, time_millis) in positions.items()
            # One may be reset meanwhile.
            if position is not None
        }

    def find(self, consumer_id: str) -> int | None:
        """The snapshot that a consumer reads next; None where there is no such consumer.

        Raises:
            CorruptTableError: Its file cannot be read.
        """
        path = self.paths.consumer(consumer_id)
        try:
            data = self.file_io.read(path)
        except NotFoundError:
            return None
        position = parse_json_object(data, path).get(_POSITION)
        if not isinstance(position, int):
            raise CorruptTableError(path, f"{_POSITION} is {position!r}, not a snapshot id")
        return position

    def record(self, consumer_id: str, next_snapshot: int) -> None:
        """Moves a consumer's position ahead, never back; the consumer is made where it is new.

        Args:
            consumer_id: Its name.
            next_snapshot: The snapshot that it reads next.

        Raises:
            CorruptTableError: Its file cannot be read.
            InvalidArgumentError: No consumer can have this name.
        """
        known = self.find(_checked(consumer_id))
        if known is None or known < next_snapshot:
            self.reset(consumer_id, next_snapshot)

    def reset(self, consumer_id: str, next_snapshot: int | None) -> None:
        """Moves a consumer's position anywhere, or deletes the consumer.

        Args:
            consumer_id: Its name.
            next_snapshot: The snapshot that it reads next; None deletes it.

        Raises:
            InvalidArgumentError: No consumer can have this name.
        """
        path = self.paths.consumer(_checked(consumer_id))
        if next_snapshot is None:
            self.file_io.delete(path)
        else:
            self.file_io.write(path, format_json({_POSITION: next_snapshot}).encode())

    def clear(self, chosen: Callable[[str], bool]) -> None:
        """Deletes the consumers whose names are chosen."""
        for consumer_id, status in self._listed():
            if chosen(consumer_id):
                self.file_io.delete(status.path)

    def expire(self, before_ms: int) -> None:
        """Deletes the consumers whose positions were last kept before a time."""
        for _, status in self._listed():
            if status.modification_time_ms < before_ms:
                self.file_io.delete(status.path)

    def _listed(self) -> Iterator[tuple[str, FileStatus]]:
        statuses = self.file_io.list(self.paths.consumer_directory)
        for status in sorted(statuses, key=lambda each: each.name):
            consumer_id = consumer_id_of(status.name)
            if consumer_id is not None:
                yield consumer_id, status


def _checked(consumer_id: str) -> str:
    if not consumer_id.strip() or "/" in consumer_id:
        raise InvalidArgumentError(f"{consumer_id!r} cannot name a consumer")
    return consumer_id
