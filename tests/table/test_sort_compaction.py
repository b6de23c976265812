"""Sort compaction of append tables in one process: what it leaves, beside whom, and when not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import CommitConflictError, InvalidArgumentError
from lakebed.format.snapshot import CommitKind
from lakebed.lsm.clustering.order_keys import Ordering, order_keys, sampled_bounds
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.sort_order import OrderStrategy
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.marked_tables import live_files, marked, newest
from support.scripted_file_io import ScriptedFileIO, meanwhile
from support.store_listing import data_files

COLUMNS = [("a", "INT"), ("b", "BIGINT"), ("s", "STRING"), ("p", "STRING"), ("l", "ARRAY<INT>")]
ROW_COUNT = 4000
SMALL_FILES = {"target-file-row-num": "250", "write-only": "true"}
VECTORS = {"deletion-vectors.enabled": "true"}


def table_of(options: Mapping[str, str], *, primary_key: Sequence[str] = ()) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        schema=lakebed.schema(COLUMNS),
        primary_key=primary_key,
        partition_by=["p"],
        options={**SMALL_FILES, **options},
    )


def drawn(seed: int, partition: str = "p0") -> pa.Table:
    numbers = np.random.default_rng(seed).integers(0, 100, (3, ROW_COUNT))
    return pa.table(
        {
            "a": pa.array(numbers[0], pa.int32(), mask=numbers[0] == 50),
            "b": numbers[1],
            "s": numbers[2].astype(str),
            "p": [partition] * ROW_COUNT,
            "l": pa.array([[seed, None]] * ROW_COUNT, pa.list_(pa.int32())),
        }
    )


def filled(options: Mapping[str, str]) -> Table:
    """Many files in a partition, from two writes, and fewer in another."""
    table = table_of(options)
    for seed, partition in enumerate(("p0", "p0", "p1")):
        table.append(drawn(seed, partition))
    return table


def rows_of(table: Table, where: str | None = None) -> list[tuple[Any, ...]]:
    rows = table.scan(where=where).to_arrow()
    return sorted(zip(*(column.to_pylist() for column in rows.columns), strict=True), key=str)


def as_they_lie(table: Table, partition: str) -> pa.Table:
    """Rows of a partition, file by file in the order of their numbers."""
    scan = table.scan(where=f"p = '{partition}'")
    plan = scan.plan()
    splits = sorted(plan.splits, key=lambda split: split.files[0].min_sequence_number)
    parts = [
        replace(split, sections=(section,))
        for split in splits
        for section in sorted(
            split.sections, key=lambda section: section.files[0].min_sequence_number
        )
    ]
    batches = [batch for part in parts for batch in plan.reader.read(part)]
    return pa.Table.from_batches(batches)


@pytest.mark.parametrize("strategy", list(Ordering))
@pytest.mark.parametrize("memory", [1, 1 << 30])
@pytest.mark.parametrize("file_format", ["parquet", "avro"])
def test_each_partition_is_in_order_over_its_files_and_holds_the_rows_that_it_held(
    strategy: Ordering, memory: int, file_format: str
) -> None:
    stored = filled({"file.format": file_format})
    table = replace(stored, session=replace(stored.session, merge_memory=memory))
    before = rows_of(table)
    snapshot = table.compact(order_strategy=strategy.value, order_by=["a", "b"])
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.total_record_count) == (CommitKind.COMPACT, 12_000)
    assert rows_of(table) == before
    for partition in ("p0", "p1"):
        rows = as_they_lie(table, partition)
        bounds = sampled_bounds(rows, ["a", "b"])
        keys = order_keys(rows, ["a", "b"], strategy, bounds=bounds)
        places = zip(*(key.to_pylist() for key in keys), strict=True)
        found = [[(part is not None, part or 0) for part in place] for place in places]
        assert found == sorted(found)
    assert len(live_files(table)) == 48
    assert set(live_files(table).values()) == {0}


@pytest.mark.parametrize("strategy", ["zorder", "hilbert"])
def test_a_filter_on_either_column_skips_most_files(strategy: OrderStrategy) -> None:
    table = filled({})
    queries = ["p = 'p0' AND a = 77", "p = 'p0' AND b = 33"]

    def files_read() -> list[int]:
        return [sum(s.file_count for s in table.scan(where=q).plan().splits) for q in queries]

    assert files_read() == [32, 32]
    table.compact(order_strategy=strategy, order_by="a, b")
    assert all(count <= 12 for count in files_read())
    table.compact(order_strategy="order", order_by="a,b")
    assert files_read()[0] <= 2
    assert files_read()[1] == 32


@pytest.mark.parametrize("strategy", ["zorder", "hilbert"])
def test_columns_of_other_magnitudes_count_alike(
    strategy: OrderStrategy,
) -> None:
    table = table_of({})
    numbers = np.random.default_rng(1).integers(0, 2**40, 8000)
    table.append(
        pa.table(
            {
                "a": pa.array(20_000 + numbers % 700, pa.int32()),
                "b": numbers,
                "p": ["p0"] * 8000,
            }
        )
    )
    table.compact(order_strategy=strategy, order_by="b,a")
    queries = ["p = 'p0' AND a = 20077", f"p = 'p0' AND b = {numbers[5]}"]
    found = [sum(s.file_count for s in table.scan(where=q).plan().splits) for q in queries]
    assert all(1 <= count <= 12 for count in found)


def test_only_files_of_the_chosen_partitions_are_written_anew() -> None:
    table = filled({})
    before = live_files(table)
    table.compact(partitions={"p": "p1"}, order_strategy="order", order_by="b")
    assert len(before.keys() - live_files(table).keys()) == 16
    assert table.compact(where="p = 'none'", order_strategy="order", order_by="b") is None


def test_a_dry_run_says_what_would_be_sorted_and_does_nothing() -> None:
    table = filled({})
    before = newest(table)
    plan = table.compact(order_strategy="hilbert", order_by="a,b", dry_run=True)
    assert plan["why"].to_pylist() == ["all rows are sorted: hilbert by a, b"] * 2
    assert sorted(plan["files"].to_numpy()) == [16, 32]
    assert newest(table) == before


def test_marked_rows_are_left_out_and_their_marks_go() -> None:
    table = filled(VECTORS | {"deletion-vectors.bitmap64": "true"})
    table.delete("a = 7")
    assert marked(table)
    before = rows_of(table)
    table.compact(order_strategy="order", order_by="b")
    assert marked(table) == {}
    assert rows_of(table) == before
    assert newest(table).total_record_count == len(before)


def test_a_partition_of_which_every_row_is_marked_has_no_file_left() -> None:
    table = filled(VECTORS)
    table.delete("b >= 0 AND s >= ''")
    table.append(drawn(9))
    table.compact(order_strategy="order", order_by="b")
    assert newest(table).total_record_count == ROW_COUNT
    assert len(live_files(table)) == 16


def test_nobody_who_follows_the_table_sees_a_row_again() -> None:
    table = filled({})
    last = newest(table).id
    table.compact(order_strategy="zorder", order_by="a,b")
    following = table.scan(incremental=(last, last + 1))
    assert following.to_arrow().num_rows == 0


def test_the_bytes_of_a_text_count_as_the_option_says() -> None:
    table = table_of({})
    texts = ["same begin " + text for text in "cadb"]
    rows = pa.table({"b": [1] * 4, "s": texts, "p": ["p0"] * 4})
    table.append(rows)
    table.compact(order_strategy="zorder", order_by="s,b")
    assert as_they_lie(table, "p0")["s"].to_pylist() == texts
    wider = table_of({"zorder.var-length-contribution": "12"})
    wider.append(rows)
    wider.compact(order_strategy="zorder", order_by="s,b")
    assert as_they_lie(wider, "p0")["s"].to_pylist() == sorted(texts)


def test_rows_that_are_appended_meanwhile_stay() -> None:
    table = filled({})
    expected = sorted([*rows_of(table), *rows_of_arrow(drawn(5))], key=str)
    store = ScriptedFileIO(table.file_io, [meanwhile(lambda: table.append(drawn(5)))])
    reopen(table, store, seed=7).compact(order_strategy="zorder", order_by="a,b")
    kinds = [snapshot.commit_kind for snapshot in table.snapshots()]
    assert kinds[-2:] == [CommitKind.APPEND, CommitKind.COMPACT]
    assert rows_of(table) == expected


def rows_of_arrow(rows: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


RIVALS: dict[str, Callable[[Table], object]] = {
    "a delete": lambda table: table.delete("a = 7"),
    "an overwrite": lambda table: table.overwrite(drawn(8)),
    "a compaction": lambda table: table.compact(order_strategy="order", order_by="b"),
}


@pytest.mark.parametrize("options", [{}, VECTORS], ids=["rewrites", "marks"])
@pytest.mark.parametrize("name", RIVALS)
def test_a_sort_gives_way_to_whoever_changes_its_files(name: str, options: dict[str, str]) -> None:
    table = filled(options)
    store = ScriptedFileIO(table.file_io, [meanwhile(lambda: RIVALS[name](table))])
    with pytest.raises(CommitConflictError):
        reopen(table, store, seed=7).compact(order_strategy="zorder", order_by="a,b")
    alone = filled(options)
    RIVALS[name](alone)
    assert rows_of(table) == rows_of(alone)
    assert len(data_files(table.file_io, table.location)) == len(
        data_files(alone.file_io, alone.location)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order_strategy": "zorder"}, "needs order_by"),
        ({"order_strategy": "order", "order_by": []}, "needs order_by"),
        ({"order_strategy": "order", "order_by": "c"}, "no column 'c'; there are: a, b, s, p, l"),
        ({"order_strategy": "order", "order_by": "a,,b"}, "no column ''"),
        ({"order_strategy": "order", "order_by": "p"}, "partition column 'p'"),
        ({"order_strategy": "zorder", "order_by": "a,l"}, "'l', whose type ARRAY<INT> has no"),
        ({"order_strategy": "hilbert", "order_by": "a"}, "two columns at least"),
        ({"order_strategy": "zorder", "order_by": ["a", "a"]}, "named twice"),
        ({"order_strategy": "z", "order_by": "a"}, "none, order, zorder, hilbert"),
        ({"order_by": "a"}, "sorts nothing"),
        (
            {"compact_strategy": "minor", "order_strategy": "order", "order_by": "a"},
            "leave one of them out",
        ),
    ],
)
def test_a_sort_that_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    table = filled({})
    before = newest(table)
    with pytest.raises(InvalidArgumentError, match=message):
        table.compact(**arguments)
    assert newest(table) == before


@pytest.mark.parametrize(
    ("options", "primary_key", "message"),
    [
        ({"bucket": "1"}, ["a", "p"], "without a primary key"),
        ({"bucket": "2", "bucket-key": "a"}, [], "without buckets"),
        (
            {"clustering.incremental": "true", "clustering.columns": "a"},
            [],
            r"contradicts clustering\.incremental",
        ),
        ({"zorder.var-length-contribution": "0"}, [], r"zorder\.var-length-contribution"),
    ],
)
def test_tables_that_are_not_to_be_sorted_say_what_to_do(
    options: dict[str, str], primary_key: list[str], message: str
) -> None:
    table = table_of(options, primary_key=primary_key)
    with pytest.raises(InvalidArgumentError, match=message):
        table.compact(order_strategy="zorder", order_by="b,s")
