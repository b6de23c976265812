"""Tables whose keys may move between partitions, against a dict."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.catalog.loading import load_table
from lakebed.errors import CommitConflictError, CorruptTableError, UnsupportedError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.planning.visibility import Visibility
from lakebed.table.reading.scan_source import SnapshotSource
from lakebed.table.table import Table
from support.effects import EPOCH_MS, open_catalog, reopen
from support.golden_manifests import DATABASE
from support.store_listing import orphans

COLUMNS = [("id", "BIGINT NOT NULL"), ("p", "STRING NOT NULL"), ("v", "INT")]
PARTITIONS = ["x", "y", "a longer name", "ż/ "]
Row = tuple[int, str, int]
ROWS = st.lists(
    st.tuples(st.integers(0, 15), st.sampled_from(PARTITIONS), st.integers(0, 9)), max_size=20
)


def make(engine: str = "deduplicate", **options: str) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=schema(COLUMNS),
        primary_key=["id"],
        partition_by=["p"],
        options={
            "bucket": "-1",
            "dynamic-bucket.target-row-num": "3",
            "merge-engine": engine,
            "write-only": "true",
            **{key.replace("_", "-"): text for key, text in options.items()},
        },
    )


def arrow(rows: list[Row]) -> pa.Table:
    return pa.table(
        {
            "id": pa.array([row[0] for row in rows], pa.int64()),
            "p": pa.array([row[1] for row in rows], pa.string()),
            "v": pa.array([row[2] for row in rows], pa.int32()),
        }
    )


def stored(table: Table) -> list[Row]:
    """Every row of every level, each with its key merged in its bucket."""
    source = SnapshotSource(snapshot=table.latest_snapshot(), visibility=Visibility.ALL)
    found = table.parts().scan(source).to_arrow().to_pylist()
    return sorted((row["id"], row["p"], row["v"]) for row in found)


def merged(engine: str, model: dict[int, tuple[str, int]], row: Row) -> tuple[str, int] | None:
    """What a key is after a row."""
    key, partition, value = row
    if key not in model or engine == "deduplicate":
        return partition, value
    return model[key] if engine == "first-row" else (model[key][0], value)


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update", "first-row"])
@settings(max_examples=8)
@given(batches=st.lists(ROWS, max_size=4), options=st.sampled_from(["1 b", "1 mb"]))
def test_a_key_is_in_one_partition_through_any_life(
    engine: str, batches: list[list[Row]], options: str
) -> None:
    table = make(engine, write_buffer_size=options)
    model: dict[int, tuple[str, int]] = {}
    for batch in batches:
        for row in batch:
            told = merged(engine, model, row)
            if told is not None:
                model[row[0]] = told
        with table.writer() as writer:
            writer.append(arrow(batch[:7]))
            writer.append(arrow(batch[7:]))
        assert stored(table) == sorted((key, *told) for key, told in model.items())
    if engine != "first-row":  # whose level 0 no scan sees, so that its files look like orphans
        assert orphans(table, table.file_io) == set()


def test_a_key_that_leaves_and_comes_back_within_a_batch_is_kept() -> None:
    table = make()
    table.append(arrow([(1, "x", 1), (2, "x", 1)]))
    table.append(arrow([(1, "y", 2), (2, "y", 2), (1, "x", 3), (2, "a longer name", 3)]))
    assert stored(table) == [(1, "x", 3), (2, "a longer name", 3)]


def test_a_delete_reaches_a_key_in_whatever_partition_it_is() -> None:
    table = make()
    table.append(arrow([(1, "x", 1), (2, "x", 1), (3, "y", 1)]))
    gone = arrow([(1, "y", 0), (4, "y", 0)]).append_column("_row_kind", pa.array(["-D", "-D"]))
    table.append(gone)
    assert stored(table) == [(2, "x", 1), (3, "y", 1)]
    table.delete("id = 3")
    table.append(arrow([(1, "x", 2), (3, "x", 2)]))
    assert stored(table) == [(1, "x", 2), (2, "x", 1), (3, "x", 2)]


def test_only_what_a_key_leaves_behind_is_deleted() -> None:
    table = make()
    table.append(arrow([(1, "x", 1), (2, "x", 1)]))
    table.append(arrow([(1, "y", 2), (2, "x", 2)]))
    source = SnapshotSource(snapshot=table.latest_snapshot(), visibility=Visibility.ALL)
    splits = table.parts().scan(source).plan().splits
    files = [(split.partition, file) for split in splits for file in split.files]
    told = [(place, file.row_count, file.delete_row_count) for place, file in files]
    assert sorted(told) == [(("x",), 2, 0), (("x",), 2, 1), (("y",), 1, 0)]


def test_a_key_of_several_columns_with_a_partition_column_among_them_moves_as_a_whole() -> None:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema([("r", "STRING NOT NULL"), ("id", "INT NOT NULL"), ("d", "DATE NOT NULL")]),
        primary_key=["id", "r"],
        partition_by=["d", "r"],
        options={"bucket": "-1"},
    )

    def rows(*told: tuple[str, int, int]) -> pa.Table:
        return pa.table(
            {
                "r": [row[0] for row in told],
                "id": pa.array([row[1] for row in told], pa.int32()),
                "d": pa.array([row[2] for row in told], pa.int32()).cast(pa.date32()),
            }
        )

    table.append(rows(("eu", 1, 10), ("us", 1, 10), ("eu", 2, 10)))
    table.append(rows(("eu", 1, 11), ("us", 2, 11)))
    found = table.scan().to_arrow()
    days = found["d"].cast(pa.int32()).to_pylist()
    told = sorted(zip(found["r"].to_pylist(), found["id"].to_pylist(), days, strict=True))
    assert told == [("eu", 1, 11), ("eu", 2, 10), ("us", 1, 10), ("us", 2, 11)]


def test_a_golden_table_is_written_on(tmp_path: Path) -> None:
    location = tmp_path / "db.db" / "t"
    shutil.copytree(DATABASE / "pk_cross_partition", location)
    table = load_table(str(location))
    before = table.scan().to_arrow()
    partitions = before["p"].to_pylist()
    rolled = pa.array(partitions[1:] + partitions[:1])
    index = before.column_names.index("p")
    table.append(before.set_column(index, before.schema.field("p"), rolled))
    after = load_table(str(location)).scan().to_arrow()
    assert after.num_rows == before.num_rows
    expected = dict(zip(before["id"].to_pylist(), rolled.to_pylist(), strict=True))
    assert dict(zip(after["id"].to_pylist(), after["p"].to_pylist(), strict=True)) == expected


def test_rows_that_another_writer_committed_meanwhile_are_a_conflict() -> None:
    table = make()
    table.append(arrow([(1, "x", 1)]))
    other = reopen(table, table.file_io, seed=7)

    def write_beside_another() -> None:
        with table.writer() as writer:
            writer.append(arrow([(2, "x", 2)]))
            other.append(arrow([(2, "y", 3)]))

    with pytest.raises(CommitConflictError, match="one writer at a time"):
        write_beside_another()
    assert stored(table) == [(1, "x", 1), (2, "y", 3)]
    assert orphans(table, table.file_io) == set()


def test_the_whole_table_is_overwritten_but_not_a_part_of_it() -> None:
    table = make()
    table.append(arrow([(1, "x", 1), (2, "y", 1)]))
    for partition in ({"p": "x"}, "dynamic"):
        with pytest.raises(UnsupportedError, match="Overwrite the whole table"):
            table.overwrite(arrow([(2, "x", 2)]), partition=partition)
    assert stored(table) == [(1, "x", 1), (2, "y", 1)]
    table.overwrite(arrow([(2, "x", 2), (3, "x", 2), (3, "y", 3)]))
    assert stored(table) == [(2, "x", 2), (3, "y", 3)]
    table.overwrite(None, partition={"p": "y"})
    table.append(arrow([(3, "x", 4)]))
    assert stored(table) == [(2, "x", 2), (3, "x", 4)]


def test_keys_of_old_files_are_forgotten_after_their_time() -> None:
    table = make(**{"cross-partition-upsert.index-ttl": "1 h"})
    table.append(arrow([(1, "x", 1)]))
    soon = reopen(table, table.file_io, seed=2, clock=lambda: EPOCH_MS + 3_500_000)
    soon.append(arrow([(1, "y", 2), (2, "y", 2)]))
    assert stored(table) == [(1, "y", 2), (2, "y", 2)]
    late = reopen(table, table.file_io, seed=3, clock=lambda: EPOCH_MS + 9_000_000)
    late.append(arrow([(1, "x", 3)]))
    assert stored(table) == [(1, "x", 3), (1, "y", 2), (2, "y", 2)]


def test_a_table_that_has_a_key_in_two_partitions_is_not_written_on() -> None:
    table = make(**{"cross-partition-upsert.index-ttl": "1 h"})
    table.append(arrow([(1, "x", 1)]))
    late = reopen(table, table.file_io, seed=3, clock=lambda: EPOCH_MS + 9_000_000)
    late.append(arrow([(1, "y", 2)]))
    with pytest.raises(CorruptTableError, match=r"a key is in partition .* and in another one"):
        reopen(table, table.file_io, seed=4).append(arrow([(3, "x", 1)]))
    assert stored(table) == [(1, "x", 1), (1, "y", 2)]


def test_buckets_fill_up_through_several_writers_and_keys_that_leave_make_room() -> None:
    table = make()
    for first in (0, 2, 4):
        other = reopen(table, table.file_io, seed=first + 2)
        other.append(arrow([(first, "x", 0), (first + 1, "x", 0)]))
    with table.writer() as writer:
        writer.append(arrow([(0, "y", 1)]))
        writer.append(arrow([(6, "x", 1)]))
    sizes: dict[tuple[object, ...], int] = {}
    plan = table.scan(columns=["id"]).plan()
    for split in plan.splits:
        place = (*split.partition, split.bucket)
        sizes[place] = sum(batch.num_rows for batch in plan.reader.read(split))
    assert sizes == {("x", 0): 3, ("x", 1): 3, ("y", 0): 1}
