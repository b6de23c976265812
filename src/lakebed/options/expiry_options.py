"""How long are snapshots, changelogs and the positions of consumers kept?

The options of expiry as typed values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from lakebed.errors import InvalidArgumentError
from lakebed.options.catalogue import TABLE_OPTIONS

_MOST, _LEAST = "snapshot.num-retained.max", "snapshot.num-retained.min"
_TIME, _LIMIT = "snapshot.time-retained", "snapshot.expire.limit"
_CHANGELOGS_MOST, _CHANGELOGS_LEAST = "changelog.num-retained.max", "changelog.num-retained.min"
_CHANGELOGS_TIME = "changelog.time-retained"
_CONSUMERS_TIME, _CHANGELOG_ONLY = "consumer.expiration-time", "consumer.changelog-only"
_KEYS = (
    _MOST,
    _LEAST,
    _TIME,
    _LIMIT,
    _CHANGELOGS_MOST,
    _CHANGELOGS_LEAST,
    _CHANGELOGS_TIME,
    _CONSUMERS_TIME,
    _CHANGELOG_ONLY,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryOptions:
    """Options of expiry.

    Attributes:
        retain_max: `snapshot.num-retained.max`.
        retain_min: `snapshot.num-retained.min`.
        time_retained: `snapshot.time-retained`.
        changelog_retain_max: `changelog.num-retained.max`; that of snapshots by default.
        changelog_retain_min: `changelog.num-retained.min`; that of snapshots by default.
        changelog_time_retained: `changelog.time-retained`; that of snapshots by default.
        limit: `snapshot.expire.limit`, of changelogs too.
        consumer_time: `consumer.expiration-time`; None where consumers never expire.
        consumers_keep_snapshots: Whether consumers keep snapshots beside changelogs: not where
            `consumer.changelog-only` = true and changelogs are kept for longer.
    """

    retain_max: int
    retain_min: int
    time_retained: timedelta
    changelog_retain_max: int
    changelog_retain_min: int
    changelog_time_retained: timedelta
    limit: int
    consumer_time: timedelta | None
    consumers_keep_snapshots: bool

    @property
    def keeps_changelogs(self) -> bool:
        """Whether changelogs are kept for longer than snapshots."""
        return (
            self.changelog_retain_max > self.retain_max
            or self.changelog_retain_min > self.retain_min
            or self.changelog_time_retained > self.time_retained
        )

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "ExpiryOptions":
        """The options that hold; old keys count too.

        Raises:
            InvalidArgumentError: A text is no value of its option, or they contradict each other.
        """
        held = TABLE_OPTIONS.held(options, _KEYS)
        for key, own in ((_CHANGELOGS_MOST, _MOST), (_CHANGELOGS_LEAST, _LEAST)):
            held[key] = held[own] if held[key] is None else held[key]
        if held[_CHANGELOGS_TIME] is None:
            held[_CHANGELOGS_TIME] = held[_TIME]
        for least, most in ((_LEAST, _MOST), (_CHANGELOGS_LEAST, _CHANGELOGS_MOST)):
            if held[least] < 1:
                raise InvalidArgumentError(
                    f"option {least!r} cannot be {held[least]}: it takes a whole number from 1 on."
                )
            if held[most] < held[least]:
                raise InvalidArgumentError(
                    f"option {most!r} cannot be {held[most]}: {least!r} is {held[least]}. Set both."
                )
        found = cls(
            retain_max=held[_MOST],
            retain_min=held[_LEAST],
            time_retained=held[_TIME],
            changelog_retain_max=held[_CHANGELOGS_MOST],
            changelog_retain_min=held[_CHANGELOGS_LEAST],
            changelog_time_retained=held[_CHANGELOGS_TIME],
            limit=held[_LIMIT],
            consumer_time=held[_CONSUMERS_TIME],
            consumers_keep_snapshots=True,
        )
        if held[_CHANGELOG_ONLY] and found.keeps_changelogs:
            return replace(found, consumers_keep_snapshots=False)
        return found
