"""What does a scan say it reads?

It may say so with the arguments of `Table.scan` or with the format's own options. The table may say
it too, with options of its own; a scan that says anything of it takes the place of all of that.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo

from lakebed.errors import InvalidArgumentError
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import ChangelogProducer, IncrementMode, ScanMode
from lakebed.options.values import parse_boolean, parse_integer, parse_long, parse_member
from lakebed.table.reading.scan_point import (
    AutoTagIncrement,
    CreationPoint,
    Increment,
    Newest,
    NewestChanges,
    NewestCompacted,
    Point,
    ScanPoint,
    SnapshotPoint,
    TagPoint,
    TimeIncrement,
    TimePoint,
    VersionPoint,
    WatermarkPoint,
)

_MODE = "scan.mode"
_BETWEEN = "incremental-between"
_BETWEEN_TIMES = "incremental-between-timestamp"
_TO_AUTO_TAG = "incremental-to-auto-tag"
_MADE_OF = "incremental-between-scan-mode"
_TAG_TO_SNAPSHOT = "incremental-between-tag-to-snapshot"

_KEYS_OF_ARGUMENTS = {
    "snapshot_id": "scan.snapshot-id",
    "tag": "scan.tag-name",
    "timestamp": "scan.timestamp-millis",
    "watermark": "scan.watermark",
    "incremental": _BETWEEN,
}
_KEYS_OF_MODES = {
    ScanMode.FROM_TIMESTAMP: ("scan.timestamp-millis", "scan.timestamp"),
    ScanMode.FROM_SNAPSHOT: ("scan.snapshot-id", "scan.tag-name", "scan.watermark", "scan.version"),
    ScanMode.FROM_SNAPSHOT_FULL: ("scan.snapshot-id",),
    ScanMode.FROM_CREATION_TIMESTAMP: ("scan.creation-time-millis",),
    ScanMode.FROM_FILE_CREATION_TIME: ("scan.file-creation-time-millis",),
    ScanMode.INCREMENTAL: (_BETWEEN, _BETWEEN_TIMES, _TO_AUTO_TAG),
}
_POINT_KEYS = tuple(dict.fromkeys(key for keys in _KEYS_OF_MODES.values() for key in keys))

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_TIME_TEXT = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{1,2})"
    r"(?::(?P<second>\d{1,2})(?:\.(?P<fraction>\d{1,9}))?)?)?"
)


def find_scan_point(
    arguments: Mapping[str, object],
    options: Mapping[str, str],
    *,
    stored: Mapping[str, str],
    time_zone: tzinfo,
) -> ScanPoint:
    """What a scan reads.

    Args:
        arguments: `snapshot_id`, `tag`, `timestamp`, `watermark`, `incremental` and
            `incremental_mode`; None where not given.
        options: The scan's options, under their current keys.
        stored: The table's options.
        time_zone: In which texts tell the time.

    Raises:
        InvalidArgumentError: Two points at once, or a value that is none.
    """
    stored = TABLE_OPTIONS.with_current_keys(stored)
    argument = _only_argument(arguments, options)
    is_chosen = argument is not None or any(key in options for key in (*_POINT_KEYS, _MODE))
    held = {**stored, **options}
    texts = options if is_chosen else held
    mode = parse_member(texts.get(_MODE, "default"), _MODE, of=ScanMode)
    if argument is not None:
        _check_mode(mode, _KEYS_OF_ARGUMENTS[argument], name=argument)
        point = _point_of_argument(argument, arguments[argument], time_zone)
    else:
        point = _point_of_options(texts, mode, held=held, time_zone=time_zone)
    return ScanPoint(
        point=point,
        increment_mode=_increment_mode(arguments, options, point, held=held),
        tag_to_snapshot=parse_boolean(held.get(_TAG_TO_SNAPSHOT, "false"), _TAG_TO_SNAPSHOT),
    )


def _only_argument(arguments: Mapping[str, object], options: Mapping[str, str]) -> str | None:
    given = [name for name in _KEYS_OF_ARGUMENTS if arguments.get(name) is not None]
    given += [f"option {key!r}" for key in _POINT_KEYS if key in options]
    if len(given) > 1:
        raise InvalidArgumentError(
            f"{given[0]} and {given[1]} both say what to read; give one of them"
        )
    return given[0] if given and given[0] in _KEYS_OF_ARGUMENTS else None


def _check_mode(mode: ScanMode, key: str, *, name: str) -> None:
    if mode is not ScanMode.DEFAULT and key not in _KEYS_OF_MODES.get(mode, ()):
        raise InvalidArgumentError(
            f"{_MODE!r} = {mode.value!r} contradicts {name}. Give one of them"
        )


def _point_of_argument(name: str, value: object, time_zone: tzinfo) -> Point:
    if name == "tag":
        if not isinstance(value, str):
            raise InvalidArgumentError(f"tag is a name, not {value!r}")
        return TagPoint(value)
    if name == "timestamp":
        return TimePoint(epoch_ms(value, time_zone, name=name))
    if name == "incremental":
        return _increment(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidArgumentError(f"{name} is a whole number, not {value!r}")
    return SnapshotPoint(value) if name == "snapshot_id" else WatermarkPoint(value)


def epoch_ms(value: object, time_zone: tzinfo, *, name: str) -> int:
    """Epoch milliseconds of a time as users give it: a number, a datetime with a zone, a text.

    Args:
        value: The time.
        time_zone: In which a text tells it.
        name: The argument, for messages.

    Raises:
        InvalidArgumentError: It is no time.
    """
    if isinstance(value, datetime) and value.tzinfo is not None:
        return (value - _EPOCH) // _MILLISECOND
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        return parse_epoch_ms(value, time_zone)
    raise InvalidArgumentError(
        f"{name} is epoch milliseconds, a datetime with a time zone or a text, not {value!r}"
    )


def _increment(value: object) -> Increment:
    if isinstance(value, (tuple, list)) and len(value) == 2:
        start, end = value
        if all(isinstance(v, (int, str)) and not isinstance(v, bool) for v in (start, end)):
            return Increment(start, end)
    raise InvalidArgumentError(
        f"incremental is a pair of snapshot ids or of tags, start and end, not {value!r}"
    )


def _point_of_options(
    texts: Mapping[str, str], mode: ScanMode, *, held: Mapping[str, str], time_zone: tzinfo
) -> Point:
    keys = [key for key in _POINT_KEYS if key in texts]
    if len(keys) > 1:
        raise InvalidArgumentError(
            f"options {keys[0]!r} and {keys[1]!r} both say what to read; give one of them"
        )
    if keys:
        _check_mode(mode, keys[0], name=repr(keys[0]))
        return _point_of_option(keys[0], texts[keys[0]], time_zone)
    if mode in _KEYS_OF_MODES:
        wanted = " or ".join(map(repr, _KEYS_OF_MODES[mode]))
        raise InvalidArgumentError(f"{_MODE!r} = {mode.value!r} says too little. Give {wanted} too")
    if mode is ScanMode.LATEST_DELTA:
        return NewestChanges()
    if mode is ScanMode.COMPACTED_FULL:
        return NewestCompacted(_delta_commits(held))
    return Newest()


def _point_of_option(key: str, text: str, time_zone: tzinfo) -> Point:
    if key in {"scan.tag-name", "scan.version"}:
        return TagPoint(text) if key == "scan.tag-name" else VersionPoint(text)
    if key == "scan.timestamp":
        return TimePoint(parse_epoch_ms(text, time_zone))
    if key == _TO_AUTO_TAG:
        return AutoTagIncrement(text)
    if key in {_BETWEEN, _BETWEEN_TIMES}:
        start, comma, end = text.partition(",")
        if not comma or "," in end:
            raise InvalidArgumentError(
                f"option {key!r} is a start and an end with a comma between, not {text!r}"
            )
        if key == _BETWEEN:
            return Increment(start, end)
        return _time_increment(start, end, time_zone)
    number = parse_long(text, key)
    if key == "scan.snapshot-id":
        return SnapshotPoint(number)
    if key == "scan.watermark":
        return WatermarkPoint(number)
    if key == "scan.timestamp-millis":
        return TimePoint(number)
    return CreationPoint(number, files_only=key == "scan.file-creation-time-millis")


def _time_increment(start: str, end: str, time_zone: tzinfo) -> TimeIncrement:
    if all(re.fullmatch(r"[+-]?\d+", text) for text in (start, end)):
        return TimeIncrement(parse_long(start, _BETWEEN_TIMES), parse_long(end, _BETWEEN_TIMES))
    return TimeIncrement(parse_epoch_ms(start, time_zone), parse_epoch_ms(end, time_zone))


def _delta_commits(held: Mapping[str, str]) -> int | None:
    key = "full-compaction.delta-commits"
    if key in held:
        return parse_integer(held[key], key)
    producer = held.get("changelog-producer", "none")
    is_full = parse_member(producer, "changelog-producer", of=ChangelogProducer)
    return 1 if is_full is ChangelogProducer.FULL_COMPACTION else None


def _increment_mode(
    arguments: Mapping[str, object],
    options: Mapping[str, str],
    point: Point,
    *,
    held: Mapping[str, str],
) -> IncrementMode:
    argument = arguments.get("incremental_mode")
    if argument not in (None, "auto"):
        if not isinstance(point, Increment | TimeIncrement):
            raise InvalidArgumentError("incremental_mode says nothing without incremental")
        if _MADE_OF in options:
            raise InvalidArgumentError(
                f"incremental_mode and option {_MADE_OF!r} both say what the changes are made of; "
                "give one of them"
            )
        return parse_member(str(argument), "incremental_mode", of=IncrementMode)
    if _MADE_OF in options and not isinstance(point, Increment | TimeIncrement):
        raise InvalidArgumentError(f"option {_MADE_OF!r} says nothing without {_BETWEEN!r}")
    return parse_member(held.get(_MADE_OF, "auto"), _MADE_OF, of=IncrementMode)


def parse_epoch_ms(text: str, time_zone: tzinfo) -> int:
    """Epoch milliseconds of a local time, such as `2026-01-31` or `2026-01-31 12:00:00.123`.

    A time that the zone skips counts from the offset before the gap, and one that it repeats is
    the earlier instant.

    Raises:
        InvalidArgumentError: The text is no time.
    """
    parts = _TIME_TEXT.fullmatch(text.strip())
    if parts is None:
        raise InvalidArgumentError(f"{text!r} is no time; write 2026-01-31 or 2026-01-31 12:00:00")
    year, month, day = (int(parts[name]) for name in ("year", "month", "day"))
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    millisecond = int((parts["fraction"] or "").ljust(9, "0")[:3])
    try:
        local = datetime(year, month, day, hour, minute, second, tzinfo=time_zone)
        return (local - _EPOCH) // _MILLISECOND + millisecond
    except (ValueError, OverflowError) as error:
        raise InvalidArgumentError(f"{text!r} is no time: {error}") from error
