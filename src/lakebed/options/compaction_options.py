"""When is a bucket compacted, and how much of it?

The options of picking as typed values. The defaults that follow from other options are filled in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lakebed.errors import InvalidArgumentError
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.choices import MergeEngine
from lakebed.options.merge_options import MergeOptions

_LEVELS = "num-levels"
_KEYS = (
    "num-sorted-run.compaction-trigger",
    _LEVELS,
    "compaction.max-size-amplification-percent",
    "compaction.size-ratio",
    "compaction.offpeak.start.hour",
    "compaction.offpeak.end.hour",
    "compaction.offpeak-ratio",
    "compaction.optimization-interval",
    "compaction.total-size-threshold",
    "compaction.incremental-size-threshold",
    "compaction.force-up-level-0",
    "compaction.force-rewrite-all-files",
    "compaction.min.file-num",
    "compaction.small-file-ratio",
    "compaction.delete-ratio-threshold",
    "lookup-compact",
    "lookup-compact.max-interval",
    "deletion-vectors.enabled",
    "full-compaction.delta-commits",
    "changelog-producer.row-deduplicate",
    "changelog-producer.row-deduplicate-ignore-fields",
    "record-level.expire-time",
    "record-level.time-field",
)
_HOURS = range(-1, 25)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOptions:
    """Options of compaction. Sizes are bytes.

    Attributes:
        run_trigger: `num-sorted-run.compaction-trigger`.
        level_count: `num-levels`: level 0 and those above.
        max_size_amplification_percent: The option of that name.
        size_ratio: `compaction.size-ratio`, in percent.
        off_peak_start_hour: `compaction.offpeak.start.hour`, -1 for never.
        off_peak_end_hour: `compaction.offpeak.end.hour`, not included; -1 for never.
        off_peak_ratio: `compaction.offpeak-ratio`: what the size ratio grows by in those hours.
        interval_ms: `compaction.optimization-interval`.
        total_size_threshold: `compaction.total-size-threshold`.
        incremental_size_threshold: `compaction.incremental-size-threshold`.
        forces_level_0: Whether level 0 never stays: the table looks old rows up, or
            `compaction.force-up-level-0`.
        level_0_interval: With `lookup-compact=gentle`, how many picks level 0 may wait.
        with_lookup: Whether compaction looks older rows up; that of first-row tables always does.
        with_deletion_vectors: `deletion-vectors.enabled`.
        rewrites_all: `compaction.force-rewrite-all-files`.
        min_file_count: `compaction.min.file-num`.
        small_file_ratio: `compaction.small-file-ratio`.
        delete_ratio: `compaction.delete-ratio-threshold`.
        full_delta_commits: `full-compaction.delta-commits`.
        row_deduplicate: `changelog-producer.row-deduplicate`.
        not_compared: `changelog-producer.row-deduplicate-ignore-fields`.
        record_expire_time: `record-level.expire-time`.
        record_time_field: `record-level.time-field`.
    """

    run_trigger: int
    level_count: int
    max_size_amplification_percent: int
    size_ratio: int
    off_peak_start_hour: int
    off_peak_end_hour: int
    off_peak_ratio: int
    interval_ms: int | None
    total_size_threshold: int | None
    incremental_size_threshold: int | None
    forces_level_0: bool
    level_0_interval: int | None
    with_lookup: bool
    with_deletion_vectors: bool
    rewrites_all: bool
    min_file_count: int
    small_file_ratio: float
    delete_ratio: float
    full_delta_commits: int | None
    row_deduplicate: bool
    not_compared: tuple[str, ...]
    record_expire_time: timedelta | None
    record_time_field: str | None

    @classmethod
    def parse(cls, options: Mapping[str, str]) -> "CompactionOptions":
        """The options that hold; old keys count too.

        Raises:
            InvalidArgumentError: A text is no value of its option.
        """
        held = TABLE_OPTIONS.held(options, _KEYS)
        merging = MergeOptions.parse(options)
        with_lookup = merging.with_lookup or merging.engine is MergeEngine.FIRST_ROW
        is_gentle = with_lookup and held["lookup-compact"] == "GENTLE"
        run_trigger = _at_least(1, held, "num-sorted-run.compaction-trigger")
        interval: timedelta | None = held["compaction.optimization-interval"]
        return cls(
            run_trigger=run_trigger,
            level_count=_level_count(held, run_trigger),
            max_size_amplification_percent=held["compaction.max-size-amplification-percent"],
            size_ratio=held["compaction.size-ratio"],
            off_peak_start_hour=_hour(held, "compaction.offpeak.start.hour"),
            off_peak_end_hour=_hour(held, "compaction.offpeak.end.hour"),
            off_peak_ratio=held["compaction.offpeak-ratio"],
            interval_ms=None if interval is None else interval // timedelta(milliseconds=1),
            total_size_threshold=held["compaction.total-size-threshold"],
            incremental_size_threshold=held["compaction.incremental-size-threshold"],
            forces_level_0=with_lookup or held["compaction.force-up-level-0"],
            level_0_interval=(
                _no_less(run_trigger, held["lookup-compact.max-interval"], default=2 * run_trigger)
                if is_gentle
                else None
            ),
            with_lookup=with_lookup,
            with_deletion_vectors=held["deletion-vectors.enabled"],
            rewrites_all=held["compaction.force-rewrite-all-files"],
            min_file_count=_at_least(1, held, "compaction.min.file-num"),
            small_file_ratio=held["compaction.small-file-ratio"],
            delete_ratio=held["compaction.delete-ratio-threshold"],
            full_delta_commits=held["full-compaction.delta-commits"],
            row_deduplicate=held["changelog-producer.row-deduplicate"],
            not_compared=held["changelog-producer.row-deduplicate-ignore-fields"] or (),
            record_expire_time=held["record-level.expire-time"],
            record_time_field=held["record-level.time-field"],
        )

    def small_file_size(self, target_file_size: int) -> int:
        """Below which size a file is small, where `target-file-size` is so many bytes."""
        return int(target_file_size * self.small_file_ratio)


def _at_least(least: int, held: Mapping[str, Any], key: str) -> int:
    number: int = held[key]
    if number < least:
        raise InvalidArgumentError(
            f"option {key!r} cannot be {number}: it takes a whole number from {least} on."
        )
    return number


def _level_count(held: Mapping[str, Any], run_trigger: int) -> int:
    return run_trigger + 1 if held[_LEVELS] is None else _at_least(2, held, _LEVELS)


def _no_less(least: int, number: int | None, *, default: int) -> int:
    return max(least, default if number is None else number)


def _hour(held: Mapping[str, Any], key: str) -> int:
    hour: int = held[key]
    if hour not in _HOURS:
        raise InvalidArgumentError(
            f"option {key!r} cannot be {hour}: it takes an hour of the day, or -1 for never."
        )
    return hour
