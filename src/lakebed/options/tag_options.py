"""Which tags are made by themselves, and how long are tags kept?

The options of tags as typed values.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from lakebed.errors import InvalidArgumentError
from lakebed.options.catalogue import TABLE_OPTIONS

_CREATION = "tag.automatic-creation"
_COMPLETES = "tag.automatic-completion"
_BATCH_NAME = "tag.batch.customized-name"
_SUCCESS_FILE = "tag.create-success-file"
_DELAY = "tag.creation-delay"
_PERIOD, _DURATION = "tag.creation-period", "tag.creation-period-duration"
_FORMATTER = "tag.period-formatter"
_TIME_RETAINED = "tag.default-time-retained"
_MOST = "tag.num-retained-max"
_EXPIRES = "tag.time-expire-enabled"
_PROCESS_ZONE, _WATERMARK_ZONE = "sink.process-time-zone", "sink.watermark-time-zone"
_KEYS = (
    _CREATION,
    _COMPLETES,
    _BATCH_NAME,
    _SUCCESS_FILE,
    _DELAY,
    _PERIOD,
    _DURATION,
    _FORMATTER,
    _TIME_RETAINED,
    _MOST,
    _EXPIRES,
    _PROCESS_ZONE,
    _WATERMARK_ZONE,
)
_PERIODS = {
    "daily": timedelta(days=1),
    "hourly": timedelta(hours=1),
    "two-hours": timedelta(hours=2),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TagOptions:
    """Options of tags.

    Attributes:
        creation: `tag.automatic-creation`: `none`, `process-time`, `watermark` or `batch`.
        completes: `tag.automatic-completion`.
        batch_name: `tag.batch.customized-name`.
        success_file: `tag.create-success-file`.
        delay: `tag.creation-delay`.
        period: `tag.creation-period-duration`, else the duration of `tag.creation-period`.
        period_name: `tag.creation-period`; None where the duration is given.
        formatter: `tag.period-formatter`.
        time_retained: `tag.default-time-retained`; None for ever.
        retained_max: `tag.num-retained-max`; None for all.
        expires: `tag.time-expire-enabled`.
        process_zone: `sink.process-time-zone`; None for the session's.
        watermark_zone: `sink.watermark-time-zone`.
    """

    creation: str
    completes: bool
    batch_name: str | None
    success_file: bool
    delay: timedelta
    period: timedelta
    period_name: str | None
    formatter: str
    time_retained: timedelta | None
    retained_max: int | None
    expires: bool
    process_zone: str | None
    watermark_zone: str

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "TagOptions":
        """The options that hold; old keys count too.

        Raises:
            InvalidArgumentError: A text is no value of its option, or they contradict each other.
        """
        held = TABLE_OPTIONS.held(options, _KEYS)
        name = held[_PERIOD] if held[_DURATION] is None else None
        period = held[_DURATION] if name is None else _PERIODS[name]
        if not period:
            raise InvalidArgumentError(f"option {_DURATION!r} cannot be 0: no tag would ever end")
        if held[_DELAY] >= period:
            raise InvalidArgumentError(
                f"option {_DELAY!r} cannot be {held[_DELAY]}: tags are made each {period}, and the "
                "delay is shorter than that"
            )
        if held[_MOST] is not None and held[_MOST] < 1:
            raise InvalidArgumentError(
                f"option {_MOST!r} cannot be {held[_MOST]}: it takes a whole number from 1 on."
            )
        return cls(
            creation=held[_CREATION],
            completes=held[_COMPLETES],
            batch_name=held[_BATCH_NAME],
            success_file=held[_SUCCESS_FILE],
            delay=held[_DELAY],
            period=period,
            period_name=name,
            formatter=held[_FORMATTER],
            time_retained=held[_TIME_RETAINED],
            retained_max=held[_MOST],
            expires=held[_EXPIRES],
            process_zone=held[_PROCESS_ZONE],
            watermark_zone=held[_WATERMARK_ZONE],
        )
