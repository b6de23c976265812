"""How long are partitions kept, and when are they marked as done?

The options of partitions as typed values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from lakebed.errors import InvalidArgumentError
from lakebed.options.catalogue import TABLE_OPTIONS

_TIME = "partition.expiration-time"
_BATCH_SIZE = "partition.expiration-batch-size"
_INTERVAL = "partition.expiration-check-interval"
_MAX_COUNT = "partition.expiration-max-num"
_STRATEGY = "partition.expiration-strategy"
_IS_STRICT = "partition.timestamp-format.strict"
_FORMATTER = "partition.timestamp-formatter"
_PATTERN = "partition.timestamp-pattern"
_MARKS_DONE = "partition.end-input-to-done"
_ACTIONS = "partition.mark-done-action"
_IN_EACH_BATCH = "end-input.check-partition-expire"
_KEYS = (
    _TIME,
    _BATCH_SIZE,
    _INTERVAL,
    _MAX_COUNT,
    _STRATEGY,
    _IS_STRICT,
    _FORMATTER,
    _PATTERN,
    _MARKS_DONE,
    _ACTIONS,
    _IN_EACH_BATCH,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionOptions:
    """Options of the life of partitions.

    Attributes:
        expiration_time: `partition.expiration-time`; None where none expires.
        check_interval: `partition.expiration-check-interval`; zero where each batch checks, as
            `end-input.check-partition-expire` = true asks for.
        expires_max: `partition.expiration-max-num`.
        batch_size: `partition.expiration-batch-size`; all that expire at a time by default.
        is_by_update: Whether `partition.expiration-strategy` is `update-time`: a partition's age is
            that of its youngest file, not that of the time which its values name.
        formatter: `partition.timestamp-formatter`.
        pattern: `partition.timestamp-pattern`.
        is_strict: `partition.timestamp-format.strict`.
        marks_done: `partition.end-input-to-done`.
        mark_done_actions: `partition.mark-done-action`.
    """

    expiration_time: timedelta | None
    check_interval: timedelta
    expires_max: int
    batch_size: int
    is_by_update: bool
    formatter: str | None
    pattern: str | None
    is_strict: bool
    marks_done: bool
    mark_done_actions: tuple[str, ...]

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "PartitionOptions":
        """The options that hold; old keys count too.

        Raises:
            InvalidArgumentError: A text is no value of its option.
        """
        held = TABLE_OPTIONS.held(options, _KEYS)
        for key in (_MAX_COUNT, _BATCH_SIZE):
            if held[key] is not None and held[key] < 1:
                raise InvalidArgumentError(
                    f"option {key!r} cannot be {held[key]}: it takes a whole number from 1 on."
                )
        return cls(
            expiration_time=held[_TIME],
            check_interval=timedelta() if held[_IN_EACH_BATCH] else held[_INTERVAL],
            expires_max=held[_MAX_COUNT],
            batch_size=held[_BATCH_SIZE] or held[_MAX_COUNT],
            is_by_update=held[_STRATEGY] == "update-time",
            formatter=held[_FORMATTER],
            pattern=held[_PATTERN],
            is_strict=held[_IS_STRICT],
            marks_done=held[_MARKS_DONE],
            mark_done_actions=tuple(each.strip() for each in held[_ACTIONS].split(",")),
        )
