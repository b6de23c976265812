"""Which levels and buckets a scan sees, by the options of the table."""

import pyarrow as pa
import pytest

from lakebed.format.arrow.typing import python_values
from lakebed.format.data_file_meta import EMPTY_STATS
from lakebed.format.manifest import ManifestFileMeta
from lakebed.options.table_options import TableOptions
from lakebed.table.metadata.plan_step import apply_steps
from lakebed.table.planning.visibility import TableLayout, Visibility

VECTORS = {"deletion-vectors.enabled": "true"}
MERGE_ON_READ = {**VECTORS, "deletion-vectors.merge-on-read": "true"}
FIRST_ROW = {"merge-engine": "first-row"}
BATCH, TOP, ALL = Visibility.BATCH, Visibility.READ_OPTIMIZED, Visibility.ALL


def layout(options: dict[str, str], *, has_primary_key: bool = True) -> TableLayout:
    parsed = TableOptions.parse(options, has_primary_key=has_primary_key)
    return TableLayout.of(parsed, options, has_primary_key=has_primary_key)


def levels_seen(of: TableLayout, visibility: Visibility) -> list[int]:
    entries = pa.table({"level": pa.array(range(8), pa.int32()), "bucket": [0] * 8})
    kept, _ = apply_steps(entries, of.steps(visibility))
    return python_values(kept.column("level"))


@pytest.mark.parametrize(
    ("options", "visibility", "seen"),
    [
        ({}, BATCH, range(8)),
        (VECTORS, BATCH, range(1, 8)),
        (MERGE_ON_READ, BATCH, range(8)),
        (FIRST_ROW, BATCH, range(1, 8)),
        ({}, TOP, [5]),
        ({"num-levels": "4"}, TOP, [3]),
        ({"num-sorted-run.compaction-trigger": "2"}, TOP, [2]),
        (VECTORS, TOP, [5]),
        (VECTORS, ALL, range(8)),
        (FIRST_ROW, ALL, range(8)),
    ],
    ids=str,
)
def test_levels(options: dict[str, str], visibility: Visibility, seen: list[int]) -> None:
    assert levels_seen(layout(options), visibility) == list(seen)


def test_an_append_table_has_no_levels_to_hide() -> None:
    for visibility in Visibility:
        of = layout(VECTORS, has_primary_key=False)
        assert levels_seen(of, visibility) == list(range(8))
        assert not of.keeps_newest_apart


def test_rows_without_a_bucket_are_not_seen() -> None:
    of = layout({"bucket": "-2"})
    entries = pa.table({"level": pa.array([0, 0], pa.int32()), "bucket": [-2, 3]})
    kept, steps = apply_steps(entries, of.steps(BATCH))
    assert kept.column("bucket").to_pylist() == [3]
    assert [(step.name, step.kept, step.total) for step in steps] == [("postponed", 1, 2)]


def test_manifests_that_hold_nothing_visible_are_left_alone() -> None:
    def meta(low: int | None, high: int | None, max_bucket: int | None = 3) -> ManifestFileMeta:
        return ManifestFileMeta(
            file_name="m",
            file_size=1,
            num_added_files=1,
            num_deleted_files=0,
            partition_stats=EMPTY_STATS,
            schema_id=0,
            min_bucket=-2,
            max_bucket=max_bucket,
            min_level=low,
            max_level=high,
        )

    vectors = layout(VECTORS)
    assert not vectors.may_be_seen(meta(0, 0), BATCH)
    assert vectors.may_be_seen(meta(0, 1), BATCH)
    assert vectors.may_be_seen(meta(None, None), BATCH)
    assert vectors.may_be_seen(meta(0, 0), ALL)
    assert not layout({}).may_be_seen(meta(1, 4), TOP)
    postponed = layout({"bucket": "-2"})
    assert not postponed.may_be_seen(meta(0, 0, max_bucket=-2), BATCH)
    assert postponed.may_be_seen(meta(0, 0, max_bucket=None), BATCH)
