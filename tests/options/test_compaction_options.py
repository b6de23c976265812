import pickle
from dataclasses import asdict
from datetime import timedelta

import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.options.compaction_options import CompactionOptions

DEFAULTS: dict[str, object] = {
    "run_trigger": 5,
    "level_count": 6,
    "max_size_amplification_percent": 200,
    "size_ratio": 1,
    "off_peak_start_hour": -1,
    "off_peak_end_hour": -1,
    "off_peak_ratio": 0,
    "interval_ms": None,
    "total_size_threshold": None,
    "incremental_size_threshold": None,
    "forces_level_0": False,
    "level_0_interval": None,
    "with_lookup": False,
    "with_deletion_vectors": False,
    "rewrites_all": False,
    "min_file_count": 5,
    "small_file_ratio": 0.7,
    "delete_ratio": 0.2,
    "full_delta_commits": None,
    "row_deduplicate": False,
    "not_compared": (),
    "record_expire_time": None,
    "record_time_field": None,
}


@pytest.mark.parametrize(
    ("given", "held"),
    [
        ({}, {}),
        (
            {"num-sorted-run.compaction-trigger": "9"},
            {"run_trigger": 9, "level_count": 10},
        ),
        ({"num-levels": "3"}, {"level_count": 3}),
        ({"compaction.optimization-interval": "1 min"}, {"interval_ms": 60_000}),
        (
            {"record-level.expire-time": "1 d", "record-level.time-field": "t"},
            {"record_expire_time": timedelta(days=1), "record_time_field": "t"},
        ),
        ({"compaction.total-size-threshold": "1 kb"}, {"total_size_threshold": 1024}),
        ({"compaction.incremental-size-threshold": "2 kb"}, {"incremental_size_threshold": 2048}),
        ({"compaction.force-up-level-0": "true"}, {"forces_level_0": True}),
        ({"changelog-producer": "lookup"}, {"forces_level_0": True, "with_lookup": True}),
        ({"force-lookup": "true"}, {"forces_level_0": True, "with_lookup": True}),
        ({"merge-engine": "first-row"}, {"forces_level_0": True, "with_lookup": True}),
        (
            {"deletion-vectors.enabled": "true"},
            {"forces_level_0": True, "with_lookup": True, "with_deletion_vectors": True},
        ),
        (
            {"changelog-producer": "lookup", "lookup-compact": "gentle"},
            {"forces_level_0": True, "with_lookup": True, "level_0_interval": 10},
        ),
        (
            {
                "changelog-producer": "lookup",
                "lookup-compact": "GENTLE",
                "lookup-compact.max-interval": "7",
            },
            {"forces_level_0": True, "with_lookup": True, "level_0_interval": 7},
        ),
        ({"compaction.force-rewrite-all-files": "true"}, {"rewrites_all": True}),
        ({"compaction.delete-ratio-threshold": "0.5"}, {"delete_ratio": 0.5}),
        (
            {
                "compaction.max-size-amplification-percent": "50",
                "compaction.size-ratio": "20",
                "compaction.offpeak-ratio": "30",
                "compaction.offpeak.start.hour": "22",
                "compaction.offpeak.end.hour": "6",
                "compaction.min.file-num": "3",
                "compaction.small-file-ratio": "0.5",
            },
            {
                "max_size_amplification_percent": 50,
                "size_ratio": 20,
                "off_peak_ratio": 30,
                "off_peak_start_hour": 22,
                "off_peak_end_hour": 6,
                "min_file_count": 3,
                "small_file_ratio": 0.5,
            },
        ),
    ],
)
def test_defaults_follow_from_other_options(given: dict[str, str], held: dict[str, object]) -> None:
    options = CompactionOptions.parse(given)
    assert asdict(options) == DEFAULTS | held
    assert pickle.loads(pickle.dumps(options)) == options


def test_a_file_is_small_below_a_share_of_the_target() -> None:
    assert CompactionOptions.parse({}).small_file_size(128 << 20) == int(0.7 * (128 << 20))


@pytest.mark.parametrize(
    ("key", "text", "allowed"),
    [
        ("num-sorted-run.compaction-trigger", "0", "from 1 on"),
        ("num-levels", "1", "from 2 on"),
        ("compaction.min.file-num", "0", "from 1 on"),
        ("compaction.offpeak.start.hour", "25", "an hour of the day"),
        ("compaction.offpeak.end.hour", "-2", "an hour of the day"),
        ("compaction.size-ratio", "much", "whole number"),
    ],
)
def test_values_that_make_no_sense_are_refused(key: str, text: str, allowed: str) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"{key}' cannot be '?{text}.*{allowed}"):
        CompactionOptions.parse({key: text})
