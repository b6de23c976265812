"""Tables that decide late how many buckets a partition has."""

import re
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from lakebed.errors import CommitConflictError, InvalidTableError
from lakebed.format.schema_definition import schema
from lakebed.options.table_options import TableOptions
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from lakebed.table.writing.postpone import PostponedSize
from support.effects import open_catalog, reopen
from support.store_listing import data_files, orphans

COLUMNS = [("id", "BIGINT NOT NULL"), ("p", "STRING NOT NULL"), ("v", "INT")]
ROWS_A_BUCKET = {"postpone.target-row-num-per-bucket": "10"}


def make(options: dict[str, str]) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=schema(COLUMNS),
        primary_key=["id", "p"],
        partition_by=["p"],
        options={"bucket": "-2", **options},
    )


def rows(ids: range, partition: str, version: int = 0) -> pa.Table:
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "p": pa.array([partition] * len(ids), pa.string()),
            "v": pa.array([version] * len(ids), pa.int32()),
        }
    )


def counts(table: Table) -> dict[str, set[int]]:
    """The bucket counts that the live files of each partition carry."""
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    live = table.parts().manifests.live(snapshot, partitions=EveryPartition())
    found: dict[str, set[int]] = {}
    for row in live.to_pylist():
        found.setdefault(row["partition"][12:13].decode(), set()).add(row["total_buckets"])
    return found


def values(table: Table) -> dict[tuple[int, str], int]:
    found = table.scan().to_arrow().to_pylist()
    assert len(found) == len({(row["id"], row["p"]) for row in found})
    return {(row["id"], row["p"]): row["v"] for row in found}


@pytest.mark.parametrize(
    ("options", "row_count", "size_bytes", "buckets"),
    [
        ({}, 10**9, 0, 1),
        ({}, 0, 2**30, 1),
        ({}, 0, 2**30 + 1, 2),
        ({}, 0, 5 * 2**30, 8),
        ({"target-size-per-bucket": "1 kb"}, 0, 2**40, 2048),
        ({"target-row-num-per-bucket": "10"}, 81, 2**40, 16),
        ({"target-row-num-per-bucket": "10"}, 80, 2**40, 8),
        (
            {
                "target-row-num-per-bucket": "1",
                "batch-write-fixed-bucket.max-parallelism": "100",
            },
            99,
            0,
            100,
        ),
        ({"default-bucket-num": "7"}, 10**9, 2**40, 7),
    ],
)
def test_the_number_of_buckets_is_a_power_of_two_that_the_rows_need(
    *, options: dict[str, str], row_count: int, size_bytes: int, buckets: int
) -> None:
    given = {f"postpone.{key}": text for key, text in options.items()}
    size = PostponedSize.of(TableOptions.parse(given, has_primary_key=True))
    assert size.buckets(row_count=row_count, size_bytes=size_bytes) == buckets


@pytest.mark.parametrize(
    "key",
    [
        "default-bucket-num",
        "target-row-num-per-bucket",
        "target-size-per-bucket",
        "batch-write-fixed-bucket.max-parallelism",
    ],
)
def test_options_of_postponed_buckets_out_of_their_range_are_refused(key: str) -> None:
    with pytest.raises(InvalidTableError, match=f"postpone.{key}' is 0"):
        make({f"postpone.{key}": "0"}).append(rows(range(1), "x"))


@pytest.mark.parametrize("memory", ["1 b", "1 mb"])
def test_a_batch_goes_to_as_many_buckets_as_its_partitions_need(
    memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    table = make(ROWS_A_BUCKET | {"write-buffer-size": memory})
    with table.writer() as writer:
        writer.append(pa.concat_tables([rows(range(35), "x"), rows(range(5), "y")]))
        writer.append(rows(range(30, 40), "x", 1))
    assert counts(table) == {"x": {8}, "y": {1}}
    table.append(pa.concat_tables([rows(range(300), "y", 2), rows(range(9), "z", 2)]))
    assert counts(table) == {"x": {8}, "y": {1}, "z": {1}}
    model = {(n, "x"): 0 for n in range(35)} | {(n, "x"): 1 for n in range(30, 40)}
    model |= {(n, "y"): 2 for n in range(300)} | {(n, "z"): 2 for n in range(9)}
    assert values(table) == model
    assert list(tmp_path.iterdir()) == []
    assert orphans(table, table.file_io) == set()


def test_an_overwrite_measures_anew_and_a_delete_finds_its_rows() -> None:
    table = make(ROWS_A_BUCKET)
    table.append(rows(range(15), "x"))
    table.overwrite(rows(range(70), "x", 1), partition={"p": "x"})
    table.delete("id >= 60")
    assert counts(table) == {"x": {8}}
    assert values(table) == {(n, "x"): 1 for n in range(60)}


def test_two_first_writers_of_a_partition_that_need_other_numbers_of_buckets_conflict() -> None:
    table = make(ROWS_A_BUCKET)
    other = reopen(table, table.file_io, seed=7)

    def write_beside_another() -> None:
        with table.writer() as writer:
            writer.append(rows(range(15), "x"))
            other.append(rows(range(3), "x", 1))

    with pytest.raises(CommitConflictError, match="used 2 buckets, but the partition has 1"):
        write_beside_another()
    assert values(table) == {(n, "x"): 1 for n in range(3)}
    assert orphans(table, table.file_io) == set()


@pytest.mark.parametrize(
    "options", [{}, {"changelog-producer": "input"}, {"file.format.per.level": "0:parquet"}]
)
def test_rows_may_wait_in_files_whose_names_tell_their_writer(options: dict[str, str]) -> None:
    table = make({"postpone.batch-write-fixed-bucket": "false", **options})
    table.append(pa.concat_tables([rows(range(35), "x"), rows(range(5), "y")]))
    table.append(rows(range(5), "y"))
    assert counts(table) == {"x": {-2}, "y": {-2}}
    assert values(table) == {}
    pattern = (
        r".*/p=[xy]/bucket-postpone/data--u-([0-9a-f-]{36})-s-([0-9]+)-w-[0-9a-f-]{36}-0\.avro"
    )
    names = [re.fullmatch(pattern, path) for path in data_files(table.file_io, table.location)]
    found = [match.groups() for match in names if match]
    assert len(found) == len(names) == 3
    assert len(set(found)) == 2


def test_a_partition_that_has_buckets_keeps_their_number_when_the_default_is_another() -> None:
    table = make({"postpone.default-bucket-num": "3"})
    table.append(rows(range(9), "x"))
    parts = table.parts()
    changed = {**table.options, "postpone.default-bucket-num": "5"}
    later = replace(parts.schema, id=parts.schema.id + 1, options=changed)
    parts.schemas.put(later)
    table = replace(table, schema=later)
    table.append(pa.concat_tables([rows(range(9), "x", 1), rows(range(9), "y", 1)]))
    assert counts(table) == {"x": {3}, "y": {5}}
    assert values(table) == {(number, p): 1 for number in range(9) for p in "xy"}


def test_kinds_stay_with_their_rows_where_partitions_part_them() -> None:
    table = make(ROWS_A_BUCKET)
    table.append(pa.concat_tables([rows(range(4), "x"), rows(range(4), "y")]))
    mixed = pa.concat_tables([rows(range(1, 3), "y", 1), rows(range(1, 3), "x", 1)])
    kinds = pa.array(["-D", "+U", "+U", "-D"])
    table.append(mixed.append_column("_row_kind", kinds))
    fresh = pa.concat_tables([rows(range(3), "z", 2), rows(range(3), "z", 2)])
    table.append(fresh.append_column("_row_kind", pa.array(["+I", "+I", "-D", "-D", "+U", "+I"])))
    kept = {(0, "x"): 0, (1, "x"): 1, (3, "x"): 0, (0, "y"): 0, (2, "y"): 1, (3, "y"): 0}
    assert values(table) == kept | {(1, "z"): 2, (2, "z"): 2}
