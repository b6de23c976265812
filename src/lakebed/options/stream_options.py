"""How does a stream read a table? Its options as typed values."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from lakebed.errors import InvalidArgumentError
from lakebed.options.catalogue import TABLE_OPTIONS

_CONSUMER, _IGNORES = "consumer-id", "consumer.ignore-progress"
_INTERVAL, _DELAY = "continuous.discovery-interval", "streaming.read.snapshot.delay"
_WATERMARK = "scan.bounded.watermark"
_OVERWRITES, _APPENDED = "streaming-read-overwrite", "streaming-read-append-overwrite"
_BYTES, _FILES = "read.stream.maxBytesPerTrigger", "read.stream.maxFilesPerTrigger"
_ROWS, _LEAST = "read.stream.maxRowsPerTrigger", "read.stream.minRowsPerTrigger"
_WAIT = "read.stream.maxTriggerDelayMs"
_LIMITS = (_BYTES, _FILES, _ROWS, _LEAST, _WAIT)
BY_START = (*_LIMITS, _DELAY)
"""The options that end a micro-batch sooner, which needs to know where it begins."""
_KEYS = (_CONSUMER, _IGNORES, _INTERVAL, _DELAY, _WATERMARK, _OVERWRITES, _APPENDED, *_LIMITS)


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """Options of a stream.

    Attributes:
        consumer_id: `consumer-id`; None where no position is kept in the table.
        ignores_progress: `consumer.ignore-progress`.
        interval: `continuous.discovery-interval`; None where nobody gave it.
        delay: `streaming.read.snapshot.delay`; None for no delay.
        bounded_watermark: `scan.bounded.watermark`; None for a stream without an end.
        reads_overwrites: `streaming-read-overwrite`, or of a table without a primary key
            `streaming-read-append-overwrite`.
        max_bytes: `read.stream.maxBytesPerTrigger`; None for any number.
        max_files: `read.stream.maxFilesPerTrigger`; None for any number.
        max_rows: `read.stream.maxRowsPerTrigger`; None for any number.
        min_rows: `read.stream.minRowsPerTrigger`; None for not waiting.
        max_wait_ms: `read.stream.maxTriggerDelayMs`; None without `min_rows`.
    """

    consumer_id: str | None
    ignores_progress: bool
    interval: timedelta | None
    delay: timedelta | None
    bounded_watermark: int | None
    reads_overwrites: bool
    max_bytes: int | None
    max_files: int | None
    max_rows: int | None
    min_rows: int | None
    max_wait_ms: int | None

    @classmethod
    def parse(cls, texts: Mapping[str, str], *, has_primary_key: bool) -> "StreamOptions":
        """The options that hold.

        Args:
            texts: Options of the table, those of the stream laid over them.
            has_primary_key: Whether the table has one.

        Raises:
            InvalidArgumentError: A text that is no value of its option, a limit below 1, or one of
                `read.stream.minRowsPerTrigger` and `read.stream.maxTriggerDelayMs` alone.
        """
        values = TABLE_OPTIONS.held(texts, _KEYS)
        for key in _LIMITS:
            if values[key] is not None and values[key] < 1:
                raise InvalidArgumentError(f"option {key!r} is {values[key]}; give 1 or more")
        if (values[_LEAST] is None) is not (values[_WAIT] is None):
            raise InvalidArgumentError(f"options {_LEAST!r} and {_WAIT!r} need each other")
        is_paced = _INTERVAL in TABLE_OPTIONS.with_current_keys(texts)
        return cls(
            consumer_id=values[_CONSUMER],
            ignores_progress=values[_IGNORES],
            interval=values[_INTERVAL] if is_paced else None,
            delay=values[_DELAY],
            bounded_watermark=values[_WATERMARK],
            reads_overwrites=values[_OVERWRITES if has_primary_key else _APPENDED],
            max_bytes=values[_BYTES],
            max_files=values[_FILES],
            max_rows=values[_ROWS],
            min_rows=values[_LEAST],
            max_wait_ms=values[_WAIT],
        )

    @property
    def limits(self) -> tuple[str, ...]:
        """The keys of those options that limit a micro-batch, of which some are given."""
        held = (self.max_bytes, self.max_files, self.max_rows, self.min_rows, self.max_wait_ms)
        return tuple(key for key, value in zip(_LIMITS, held, strict=True) if value is not None)
