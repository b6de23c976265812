"""How long partitions, changelogs and the positions of consumers are kept, on request."""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime, timedelta

from lakebed.errors import InvalidArgumentError
from lakebed.options.acceptance import check_creatable, normalize
from lakebed.options.expiry_options import ExpiryOptions
from lakebed.options.partition_options import PartitionOptions
from lakebed.options.values import OptionValue
from lakebed.table.expiry.changelogs import expire_changelogs
from lakebed.table.expiry.policy import Retention
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.partition_choice import Partitions, named_partitions
from lakebed.table.partition_life.done import mark_done, paths_of_specs
from lakebed.table.partition_life.expiry import expire_partitions
from lakebed.table.parts import TableParts
from lakebed.table.reading.time_travel import epoch_ms


class Lifetime(ABC):
    """The life of what the table whose parts are given keeps."""

    __slots__ = ()

    @abstractmethod
    def parts(self, scan_options: Mapping[str, str] | None = None) -> TableParts:
        """The parts of the table, with options laid over its own."""

    def expire_changelogs(
        self,
        *,
        retain_max: int | None = None,
        retain_min: int | None = None,
        older_than: int | str | datetime | None = None,
        max_deletes: int | None = None,
        delete_all: bool = False,
    ) -> int:
        """Deletes old changelogs of snapshots that expired, with their files.

        Where an argument is not given, the option of the table holds, by which changelogs also
        expire after each commit. Snapshots count among those that are kept.

        Args:
            retain_max: The most changelogs to keep, however young (`changelog.num-retained.max`).
            retain_min: The fewest to keep, however old (`changelog.num-retained.min`).
            older_than: Keeps those of commits at that time or later, told as `timestamp` of `scan`
                (the time less `changelog.time-retained`).
            max_deletes: How many expire at a time (`snapshot.expire.limit`).
            delete_all: Whether all go, whatever the others say.

        Returns:
            How many changelogs expired.

        Raises:
            CorruptTableError: Something that may keep files cannot be read; nothing was deleted.
            InvalidArgumentError: A number or a time that cannot be.
        """
        parts = self.parts()
        zone = parts.session.time_zone
        retention = Retention.of_changelogs(
            ExpiryOptions.parse(parts.texts),
            parts.session.effects.clock(),
            retain_max=retain_max,
            retain_min=retain_min,
            older_than_ms=(
                None if older_than is None else epoch_ms(older_than, zone, name="older_than")
            ),
            max_deletes=max_deletes,
        )
        return expire_changelogs(parts, None if delete_all else retention)

    def expire_partitions(
        self,
        expiration_time: timedelta | str | None = None,
        timestamp_formatter: str | None = None,
        timestamp_pattern: str | None = None,
        *,
        expire_strategy: str | None = None,
        max_expires: int | None = None,
        options: Mapping[str, OptionValue] | None = None,
    ) -> list[dict[str, str]]:
        """Deletes the rows of partitions that are past their time.

        Where an argument is not given, the option of the table holds.

        Args:
            expiration_time: How long a partition is kept (`partition.expiration-time`): a
                timedelta, or a text such as `7 d`.
            timestamp_formatter: How a partition's values are read as a time, such as `yyyyMMdd`
                (`partition.timestamp-formatter`); dates and times as in SQL by default.
            timestamp_pattern: The text that is read so, such as `$dt $hour:00:00`
                (`partition.timestamp-pattern`); the first value by default.
            expire_strategy: `values-time`, or `update-time`: a partition's age is that of its
                youngest file (`partition.expiration-strategy`).
            max_expires: How many expire at most (`partition.expiration-max-num`).
            options: Other options of the table for this call.

        Returns:
            The values of each partition that expired, as text.

        Raises:
            CommitConflictError: Every try to commit lost; what expired before is gone.
            InvalidArgumentError: The table has no partitions, nothing says how long they are kept,
                or an argument that cannot be.
            UnsupportedError: The table is one that Lakebed does not write.
        """
        if isinstance(expiration_time, timedelta):
            expiration_time = f"{expiration_time // timedelta(milliseconds=1)} ms"
        given: dict[str, OptionValue | None] = {
            **(options or {}),
            "partition.expiration-time": expiration_time,
            "partition.timestamp-formatter": timestamp_formatter,
            "partition.timestamp-pattern": timestamp_pattern,
            "partition.expiration-strategy": expire_strategy,
            "partition.expiration-max-num": max_expires,
        }
        laid = normalize({key: value for key, value in given.items() if value is not None})
        check_creatable(laid)
        parts = self.parts(laid)
        return expire_partitions(parts, PartitionOptions.parse(parts.texts))

    def mark_partition_done(self, partitions: Partitions) -> None:
        """Marks partitions as done: a file `_SUCCESS` in the directory of each says since when.

        Args:
            partitions: Values of columns of one partition or several, or the procedure's text for
                them: `dt=2026-01-01,hh=8;dt=2026-01-02`. Of several columns, the first ones or all.

        Raises:
            CorruptTableError: An earlier mark cannot be read.
            InvalidArgumentError: No partition is named, or a name is no partition column.
            UnsupportedError: `partition.mark-done-action` asks for something else; nothing is
                marked.
        """
        parts = self.parts()
        mark_done(parts, paths_of_specs(parts, named_partitions(parts, partitions)))

    def reset_consumer(self, consumerId: str, nextSnapshotId: int | None = None) -> None:  # noqa: N803
        """Moves the position of a consumer, or deletes the consumer.

        Args:
            consumerId: Its name.
            nextSnapshotId: The snapshot that it reads next; by default the consumer is deleted.

        Raises:
            InvalidArgumentError: No consumer can have this name.
            NotFoundError: There is no such snapshot.
        """
        parts = self.parts()
        if nextSnapshotId is not None:
            parts.snapshots.load(nextSnapshotId)
        Consumers(parts.file_io, parts.paths).reset(consumerId, nextSnapshotId)

    def clear_consumers(
        self,
        includingConsumers: str | None = None,  # noqa: N803
        excludingConsumers: str | None = None,  # noqa: N803
    ) -> None:
        """Deletes consumers, so that they keep snapshots no longer.

        Args:
            includingConsumers: A regular expression for their whole names; all by default.
            excludingConsumers: One for those that stay.

        Raises:
            InvalidArgumentError: A text is no regular expression.
        """
        including = _pattern(includingConsumers, "includingConsumers")
        excluding = _pattern(excludingConsumers, "excludingConsumers")
        parts = self.parts()
        Consumers(parts.file_io, parts.paths).clear(
            lambda name: (
                (including is None or including.fullmatch(name) is not None)
                and (excluding is None or excluding.fullmatch(name) is None)
            )
        )


def _pattern(text: str | None, name: str) -> re.Pattern[str] | None:
    if text is None or not text.strip():
        return None
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidArgumentError(f"{name}: {text!r} is no regular expression: {error}") from error
