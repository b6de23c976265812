"""Which ids and numbers a commit gives the rows of its files."""

from dataclasses import replace

import pytest

from lakebed.format.binary_row.codec import EMPTY_ROW
from lakebed.format.data_file_meta import (
    EMPTY_STATS,
    DataFileMeta,
    FileKind,
    FileSource,
    ManifestEntry,
)
from lakebed.table.writing.row_ids import RowIds

META = DataFileMeta(
    file_name="f",
    file_size=1,
    row_count=10,
    min_key=EMPTY_ROW,
    max_key=EMPTY_ROW,
    key_stats=EMPTY_STATS,
    value_stats=EMPTY_STATS,
    min_sequence_number=0,
    max_sequence_number=9,
    schema_id=0,
    level=0,
    creation_time=0,
    delete_row_count=0,
    file_source=FileSource.APPEND,
)
IDS = ("id", "_ROW_ID", "_SEQUENCE_NUMBER")


def entry(name: str, partition: bytes = b"", **members: object) -> ManifestEntry:
    meta = replace(META, file_name=name, **members)  # type: ignore[arg-type]  # of the record
    return ManifestEntry(
        kind=FileKind.ADD, partition=partition, bucket=0, total_buckets=-1, file=meta
    )


@pytest.mark.parametrize(
    ("by_partition", "order", "ids"),
    [(True, "acbd", [100, 110, 120, 130]), (False, "abcd", [100, 110, 120, 130])],
)
def test_rows_are_numbered_on_partition_by_partition_where_asked(
    by_partition: bool,  # noqa: FBT001 - a case
    order: str,
    ids: list[int],
) -> None:
    entries = [
        entry(name, part) for name, part in zip("abcd", (b"y", b"x", b"y", b"x"), strict=True)
    ]
    found, following = RowIds(by_partition).assign(entries, snapshot_id=7, next_row_id=100)
    assert "".join(each.file.file_name for each in found) == order
    assert [each.file.first_row_id for each in found] == ids
    assert following == 140


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [((0, 9), (7, 7)), ((0, 0), (7, 7)), ((3, 0), (3, 7)), ((3, 5), (3, 5))],
    ids=["new rows", "all changed", "some changed", "none changed"],
)
def test_open_numbers_become_the_snapshot(
    numbers: tuple[int, int], expected: tuple[int, int]
) -> None:
    low, high = numbers
    rewritten = entry("f", min_sequence_number=low, max_sequence_number=high)
    (found,), _ = RowIds(by_partition=True).assign([rewritten], snapshot_id=7, next_row_id=0)
    assert (found.file.min_sequence_number, found.file.max_sequence_number) == expected


@pytest.mark.parametrize(
    "members",
    [{"write_cols": IDS}, {"file_source": FileSource.COMPACT}, {"first_row_id": 5}],
    ids=["ids within", "of a compaction", "known"],
)
def test_rows_that_have_ids_get_no_others(members: dict[str, object]) -> None:
    told = entry("f", min_sequence_number=3, max_sequence_number=5, **members)  # type: ignore[arg-type]  # of the record
    found, following = RowIds(by_partition=True).assign([told], snapshot_id=7, next_row_id=100)
    assert (found, following) == ([told], 100)
