"""Partitions get another bucket count, whole or not at all."""

from dataclasses import replace

import pytest

from lakebed.errors import CommitConflictError, InvalidArgumentError, UnsupportedError
from lakebed.format.snapshot import CommitKind, Operation
from lakebed.table.committing import commit
from lakebed.table.metadata.entries import bucket_counts
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.partition_choice import Partitions
from lakebed.table.row_changes import append_changes
from lakebed.table.table import Table
from lakebed.table.writing.commit_message import CommitMessage
from support.effects import reopen
from support.index_files import index_entry, unnamed_files, write_with_indexes
from support.scripted_file_io import ScriptedFileIO, meanwhile
from support.table_builder import DAYS, HISTORIES, Shape, Step, build_table, sorted_rows

KEYED = Shape(buckets=2, is_partitioned=True)
APPEND = Shape(key="string", has_primary_key=False, buckets=2, is_partitioned=True)


def counts(table: Table) -> list[int]:
    """Bucket counts of the partitions, in the order of the days."""
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    live = table.parts().manifests.live(snapshot, partitions=EveryPartition())
    found = bucket_counts(live)
    return [found[partition] for partition in sorted(found)]


def with_buckets(table: Table, count: int) -> Table:
    """The table as it is after ALTER TABLE."""
    options = {**table.schema.options, "bucket": str(count)}
    return replace(table, schema=replace(table.schema, options=options))


@pytest.mark.parametrize("shape", [KEYED, APPEND], ids=str)
@pytest.mark.parametrize("history", ["overlapping", "deleted"])
def test_every_row_is_there_with_the_new_count(shape: Shape, history: str) -> None:
    built = build_table(shape, HISTORIES[history])
    snapshot = built.table.rescale(5)
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.operation) == (CommitKind.OVERWRITE, "OVERWRITE")
    assert counts(built.table) == [5, 5, 5]
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)
    assert unnamed_files(built.table, built.file_io) == set()


def test_a_partition_is_rescaled_alone_and_the_count_comes_from_the_option() -> None:
    built = build_table(KEYED, [Step("write", range(12))])
    wide = with_buckets(built.table, 4)
    wide.rescale(partitions={"dt": DAYS[1]})
    assert counts(wide) == [2, 4, 2]
    assert sorted_rows(wide.scan().to_arrow()) == sorted_rows(built.rows)
    row = built.shape.row(1, 3)
    wide.upsert(built.arrow([row]))
    assert wide.scan(where=f"dt = '{DAYS[1]}' AND id = {row['id']}").to_arrow().to_pylist() == [row]
    with pytest.raises(CommitConflictError, match="used 4 buckets, but the partition has 2"):
        wide.upsert(built.arrow([built.shape.row(0, 3)]))
    wide.rescale()
    assert counts(wide) == [4, 4, 4]
    assert unnamed_files(built.table, built.file_io) == set()


@pytest.mark.parametrize(
    ("partitions", "where", "after"),
    [
        (f"dt={DAYS[0]}", None, [4, 2, 2]),
        (f" dt = '{DAYS[0]}' ; dt=\"{DAYS[2]}\";", None, [4, 2, 4]),
        ([{"dt": DAYS[0]}, {"dt": DAYS[1]}], None, [4, 4, 2]),
        (None, f"dt > '{DAYS[0]}'", [2, 4, 4]),
        (None, f"dt in ('{DAYS[1]}', 'no such day')", [2, 4, 2]),
        (None, "dt is null", [2, 2, 2]),
        ("dt=__DEFAULT_PARTITION__", None, [2, 2, 2]),
        (None, "true", [4, 4, 4]),
        (" ", " ", [4, 4, 4]),
        ([], None, [2, 2, 2]),
    ],
)
def test_partitions_are_chosen_as_the_procedure_chooses_them(
    partitions: Partitions, where: str | None, after: list[int]
) -> None:
    built = build_table(KEYED, [Step("write", range(12))])
    snapshot = built.table.rescale(4, partitions, where)
    assert counts(built.table) == after
    assert (snapshot is None) == (after == [2, 2, 2])
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)
    assert unnamed_files(built.table, built.file_io) == set()


def test_the_partition_of_nulls_is_chosen_by_its_name_on_disk() -> None:
    built = build_table(APPEND, [Step("write", range(3))])
    built.table.append(built.arrow([{**built.shape.row(3, 7), "dt": None}]))
    for chosen in ("dt=__DEFAULT_PARTITION__", [{"dt": None}]):
        count = max(counts(built.table)) + 1
        assert built.table.rescale(count, chosen) is not None
        assert sorted(counts(built.table)) == [2, 2, 2, count]


@pytest.mark.parametrize(
    ("shape", "partitions", "where", "message"),
    [
        (KEYED, {"dt": DAYS[0]}, "dt = 'x'", "partitions and where cannot be used together"),
        (KEYED, "id=1", None, "'id' is no partition column; the partition columns are: dt"),
        (KEYED, "dt", None, "'dt' is no name=value"),
        (KEYED, f"dt={DAYS[0]};;dt={DAYS[1]}", None, "'' is no name=value"),
        (KEYED, "dt='x' || 'y'", None, r"'\|' is not understood"),
        (KEYED, None, "dt = 'x' and id = 1", "where names id; .* partition columns only.*: dt"),
        (KEYED, None, "no_such = 1", "no_such"),
        (Shape(buckets=2), None, "true", "where chooses partitions; .* which are: none"),
        (Shape(buckets=2), "dt=1", None, "'dt' is no partition column; .* none"),
    ],
    ids=str,
)
def test_a_choice_of_partitions_that_cannot_be_is_refused_before_anything_is_read(
    *, shape: Shape, partitions: Partitions, where: str | None, message: str
) -> None:
    built = build_table(shape, [Step("write", range(3))])
    with pytest.raises(InvalidArgumentError, match=message):
        built.table.rescale(4, partitions, where)
    assert len(built.table.snapshots()) == 1


def test_partitions_that_have_the_count_are_left_alone() -> None:
    built = build_table(KEYED, [Step("write", range(12))])
    assert built.table.rescale() is None
    assert built.table.rescale(2, {"dt": DAYS[0]}) is None
    assert built.table.rescale(3, {"dt": "no such day"}) is None
    assert build_table(KEYED).table.rescale(3) is None
    assert len(built.table.snapshots()) == 1


def mark_rows(table: Table) -> None:
    """A commit of nothing but an index file in the first partition."""
    parts = table.parts()
    base = parts.write_base()
    entry = index_entry("index-x", partition=min(base.counts))
    message = CommitMessage(
        partition=entry.partition,
        bucket=0,
        total_buckets=2,
        new_files=(),
        new_index_files=(entry,),
    )
    changes = append_changes(parts, [message], base=base, operation=Operation.DELETE)
    assert commit(parts, changes, [message]) is not None


def test_an_index_file_that_came_meanwhile_is_a_conflict() -> None:
    built = build_table(KEYED, [Step("write", range(12))])
    others = [meanwhile(lambda: mark_rows(built.table))]
    table = reopen(built.table, ScriptedFileIO(built.file_io, others), seed=7)
    with pytest.raises(CommitConflictError, match="its rows would be lost"):
        table.rescale(4)
    assert counts(built.table) == [2, 2, 2]


@pytest.mark.parametrize("kind", ["append", "overwrite", "index"])
def test_a_write_to_the_partition_meanwhile_is_a_conflict_and_loses_no_row(kind: str) -> None:
    built = build_table(KEYED, [Step("write", range(12))])
    rows = built.arrow([built.shape.row(3, 7)])
    acts = {
        "append": lambda: built.table.append(rows),
        "overwrite": lambda: built.table.overwrite(rows, "dynamic"),
        "index": lambda: write_with_indexes(built.table, rows),
    }
    table = reopen(built.table, ScriptedFileIO(built.file_io, [meanwhile(acts[kind])]), seed=7)
    with pytest.raises(CommitConflictError, match="its rows would be lost"):
        table.rescale(4, {"dt": built.shape.row(3, 7)["dt"]})
    assert built.shape.row(3, 7) in built.table.scan().to_arrow().to_pylist()
    assert counts(built.table) == [2, 2, 2]
    assert unnamed_files(built.table, built.file_io) == set()


def test_a_write_to_another_partition_meanwhile_does_not_matter() -> None:
    built = build_table(KEYED, [Step("write", range(12))])
    row = built.shape.row(1, 7)
    others = [meanwhile(lambda: built.table.append(built.arrow([row])))]
    table = reopen(built.table, ScriptedFileIO(built.file_io, others), seed=7)
    snapshot = table.rescale(4, {"dt": DAYS[0]})
    assert snapshot is not None
    assert snapshot.id == 3
    assert counts(built.table) == [4, 2, 2]
    kept = [each for each in built.rows if (each["dt"], each["id"]) != (row["dt"], row["id"])]
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows([*kept, row])


@pytest.mark.parametrize(
    ("shape", "count", "message"),
    [
        (KEYED, 0, "bucket_num is 0; give the bucket count"),
        (KEYED, -1, "bucket_num is -1"),
        (Shape(has_primary_key=False, buckets=-1), 4, "no fixed buckets to rescale: .* is -1"),
    ],
    ids=str,
)
def test_a_count_that_cannot_be_is_refused(shape: Shape, count: int, message: str) -> None:
    built = build_table(shape, [Step("write", range(3))])
    with pytest.raises(InvalidArgumentError, match=message):
        built.table.rescale(count)


def test_rows_that_wait_for_a_compaction_are_not_lost_but_refused() -> None:
    options = {"merge-engine": "first-row", "write-only": "true"}
    built = build_table(KEYED.with_options(options))
    built.table.append(built.arrow([built.shape.row(1, 0)]))
    with pytest.raises(UnsupportedError, match=r"wait for a compaction.* Compact the table first"):
        built.table.rescale(4)
    assert counts(built.table) == [2]
