"""Files get the indexes that the options ask for now, and stay the files that they were."""

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa
import pytest

from lakebed.errors import (
    CommitConflictError,
    InvalidArgumentError,
    InvalidTableError,
    UnsupportedError,
)
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.manifest import entries_from_columns
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind
from lakebed.format.type_text import parse_type
from lakebed.format.types import DataField
from lakebed.storage.file_io import FileIO
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.index_rewrite import index_rewrite
from lakebed.table.compaction.job import compaction_job
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.effects import open_catalog
from support.index_files import unnamed_files
from support.store_listing import list_files

BLOOM = {"file-index.bloom-filter.columns": "k", "file-index.bloom-filter.k.items": "50"}
BITMAP = {"file-index.bitmap.columns": "k,n"}
EVERY_TYPE = {
    **BLOOM,
    **BITMAP,
    "file-index.bsi.columns": "n",
    "file-index.range-bitmap.columns": "n",
}
INSIDE = {"file-index.in-manifest-threshold": "1 mb"}
BESIDE = {"file-index.in-manifest-threshold": "0 b"}


def table_in(
    file_io: FileIO, options: Mapping[str, str] | None = None, *, primary_key: bool = False
) -> Table:
    catalog = open_catalog(file_io)
    catalog.create_database("db", ignore_if_exists=True)
    return catalog.create_table(
        "db.t",
        schema=schema([("k", "STRING"), ("n", "BIGINT"), ("dt", "STRING")]),
        primary_key=["k", "dt"] if primary_key else [],
        partition_by=["dt"],
        options={"write-only": "true", "compaction.min.file-num": "2", **(options or {})},
    )


def rows(*numbers: int, day: str = "d1") -> pa.Table:
    return pa.table(
        {
            "k": [f"key {number}" for number in numbers],
            "n": pa.array([number * 10 for number in numbers], pa.int64()),
            "dt": [day] * len(numbers),
        }
    )


def written(options: Mapping[str, str] | None = None, *, primary_key: bool = False) -> Table:
    """Files of the keys 0 to 39 of one day, in turns, and one of another day."""
    table = table_in(MemoryFileIO(), options, primary_key=primary_key)
    for start in range(4):
        table.append(rows(*range(start, 40, 4)))
    table.append(rows(*range(40), day="d2"))
    return table


def with_options(table: Table, options: Mapping[str, str]) -> Table:
    """The table as it is after its options were set anew."""
    stored = {key: text for key, text in table.options.items() if not key.startswith("file-index")}
    return replace(table, schema=replace(table.schema, options={**stored, **options}))


def metas(table: Table) -> dict[str, DataFileMeta]:
    parts = table.parts()
    snapshot = parts.snapshots.latest()
    assert snapshot is not None
    live = parts.manifests.live(snapshot, partitions=EveryPartition())
    return {entry.file.file_name: entry.file for entry in entries_from_columns(live)}


def data(table: Table, **scan: object) -> pa.Table:
    found: pa.Table = table.scan(**scan).to_arrow()  # type: ignore[arg-type]  # as named
    return found.sort_by([("dt", "ascending"), ("k", "ascending")])


def files_read(table: Table, where: str) -> int:
    return sum(split.file_count for split in table.scan(where=where).plan().splits)


@pytest.mark.parametrize("place", [INSIDE, BESIDE], ids=["in the manifest", "beside the file"])
@pytest.mark.parametrize("primary_key", [False, True], ids=["append", "primary key"])
def test_a_lookup_opens_the_one_file_that_holds_the_key(
    place: dict[str, str], *, primary_key: bool
) -> None:
    table = with_options(written(primary_key=primary_key), {**EVERY_TYPE, **place})
    before, then = data(table), metas(table)
    where = "dt = 'd1' AND k = 'key 22'"
    assert files_read(table, where) == 4
    snapshot = table.rewrite_file_index()
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.delta_record_count) == (CommitKind.COMPACT, 0)
    assert snapshot.total_record_count == 80
    # Files that are merged may not be left out, as one of them may hold the newer row.
    assert files_read(table, where) == (4 if primary_key else 1)
    assert data(table, where=where).column("n").to_pylist() == [220]
    for name, meta in metas(table).items():
        assert bool(meta.extra_files) == (place is BESIDE), name
        bare = replace(meta, extra_files=(), embedded_file_index=None)
        assert bare == then[name]
    assert data(table).equals(before)
    for each in table.snapshots():
        assert data(table, snapshot_id=each.id).num_rows == min(each.id * 10, 40) + (
            40 if each.id > 4 else 0
        )
    assert unnamed_files(table, table.file_io) == set()


@pytest.mark.parametrize("place", [INSIDE, BESIDE], ids=["in the manifest", "beside the file"])
def test_files_that_have_their_indexes_are_left_alone(place: dict[str, str]) -> None:
    table = written({**EVERY_TYPE, **place})
    assert table.rewrite_file_index() is None
    assert with_options(table, {**EVERY_TYPE, **place}).rewrite_file_index() is None
    bare = written()
    bare.append(rows(50))
    assert bare.rewrite_file_index() is None
    indexed = with_options(bare, {**BLOOM, **place})
    assert indexed.rewrite_file_index() is not None
    indexed.append(rows(51))
    assert indexed.rewrite_file_index() is None


def test_an_empty_table_has_no_file_to_index() -> None:
    assert table_in(MemoryFileIO(), BLOOM).rewrite_file_index() is None


def test_indexes_that_are_asked_for_no_longer_go() -> None:
    table = written({**BLOOM, **BESIDE})
    first = data(table, snapshot_id=3)
    table = with_options(table, {**BITMAP, **BESIDE})
    assert table.rewrite_file_index() is not None
    assert files_read(table, "dt = 'd1' AND n = 220") == 1
    assert all(len(meta.extra_files) == 1 for meta in metas(table).values())
    table = with_options(table, {})
    assert table.rewrite_file_index() is not None
    assert not any(meta.extra_files or meta.embedded_file_index for meta in metas(table).values())
    assert data(table, snapshot_id=3).equals(first)
    # The past has its indexes still.
    assert table.scan(snapshot_id=3, where="k = 'key 2'").to_arrow().num_rows == 1
    assert table.rewrite_file_index() is None


def test_only_the_partitions_of_a_condition_are_looked_at() -> None:
    table = with_options(written(), BLOOM)
    assert table.rewrite_file_index("dt = 'd2'") is not None
    has_index = [meta.embedded_file_index is not None for meta in metas(table).values()]
    assert sorted(has_index) == [False] * 4 + [True]
    with pytest.raises(InvalidArgumentError, match="k"):
        table.rewrite_file_index("k = 'key 1'")
    assert table.rewrite_file_index("dt = 'd3'") is None


def test_files_with_rows_marked_deleted_keep_their_marks() -> None:
    table = written({"deletion-vectors.enabled": "true"})
    table.delete("k IN ('key 3', 'key 22', 'key 39')")
    before = data(table)
    table = with_options(table, {**EVERY_TYPE, "deletion-vectors.enabled": "true"})
    assert table.rewrite_file_index() is not None
    assert data(table).equals(before)
    assert data(table, where="k = 'key 22'").num_rows == 0
    assert data(table, where="n = 260").num_rows == 2
    table.delete("k = 'key 26'")
    assert data(table, where="n = 260").num_rows == 0


@pytest.mark.parametrize("problem", ["missing", "damaged", "two"])
def test_an_index_file_that_is_of_no_use_is_made_anew(problem: str) -> None:
    table = written({**BLOOM, **BESIDE})
    paths = [path for path in list_files(table.file_io, table.location) if path.endswith(".index")]
    table.file_io.delete(paths[0])
    if problem == "damaged":
        table.file_io.write(paths[0], b"no index")
    assert table.rewrite_file_index() is not None
    assert table.rewrite_file_index() is None
    assert data(table, where="k = 'key 22'").num_rows == 2


def test_files_of_an_older_schema_get_indexes_of_the_columns_that_they_have() -> None:
    file_io = MemoryFileIO()
    table = table_in(file_io)
    table.append(rows(*range(0, 20, 2)))
    old = table.schema
    fields = [
        replace(old.field("k"), name="key"),
        DataField(id=1, name="n", type=parse_type("DECIMAL(18, 0)")),
        old.field("dt"),
        DataField(id=3, name="k", type=parse_type("STRING")),
    ]
    options = {
        "write-only": "true",
        "file-index.bitmap.columns": "key,k",
        "file-index.bsi.columns": "n",
    }
    new = replace(old, id=1, fields=tuple(fields), highest_field_id=3, options=options)
    file_io.write(table.parts().paths.schema(1), new.to_json())
    table = open_catalog(file_io, seed=1).load_table("db.t")
    later = rows(*range(1, 20, 2)).rename_columns(["key", "n", "dt"])
    later = later.append_column("k", pa.array([f"other {n}" for n in range(10)]))
    table.append(later.set_column(1, "n", later["n"].cast(pa.int32()).cast(pa.decimal128(18, 0))))
    before = table.scan().to_arrow().sort_by("key")
    assert table.rewrite_file_index() is not None
    assert table.scan().to_arrow().sort_by("key").equals(before)
    assert files_read(table, "key = 'key 6'") == 1
    assert files_read(table, "key = 'key 7'") == 1
    assert table.scan(where="key = 'key 6'").count() == 1
    # Of n the first file has no index, for it was of another type there, and no column k at all.
    indexes = open_catalog(file_io).load_table("db.t$file_indexes").scan().to_arrow()
    found = {
        (row["schema_id"], row["column_name"], row["index_type"]) for row in indexes.to_pylist()
    }
    assert found == {
        (0, "k", "bitmap"),
        (1, "key", "bitmap"),
        (1, "k", "bitmap"),
        (1, "n", "bsi"),
    }
    assert table.rewrite_file_index() is None


def test_a_file_that_another_writer_replaced_is_a_conflict_and_leaves_nothing() -> None:
    table = with_options(written(), {**BLOOM, **BESIDE})
    parts = table.parts()
    job = index_rewrite(parts, EveryPartition())
    messages = job.run()
    assert table.compact(partitions={"dt": "d1"}) is not None
    before = set(list_files(table.file_io, table.location))
    with pytest.raises(CommitConflictError, match="no longer part of snapshot 6"):
        job.commit(messages)
    gone = before - set(list_files(table.file_io, table.location))
    assert len(gone) == 5
    assert all(path.endswith(".index") for path in gone)
    assert unnamed_files(table, table.file_io) == set()
    assert data(table).num_rows == 80


def test_of_two_rewrites_at_once_one_is_a_conflict_and_the_other_keeps_its_indexes() -> None:
    table = with_options(written(), {**BLOOM, **BESIDE})
    jobs = [index_rewrite(table.parts(), EveryPartition()) for _ in range(2)]
    first, second = (job.run() for job in jobs)
    assert jobs[1].commit(second) is not None
    with pytest.raises(CommitConflictError, match="no longer part of snapshot 6"):
        jobs[0].commit(first)
    assert unnamed_files(table, table.file_io) == set()
    assert files_read(table, "dt = 'd1' AND k = 'key 22'") == 1


def test_a_compaction_that_read_a_file_before_its_index_changed_is_a_conflict() -> None:
    table = with_options(written(), BLOOM)
    before = data(table)
    job = compaction_job(table.parts(), "full", EveryPartition())
    messages = job.run()
    assert table.rewrite_file_index() is not None
    with pytest.raises(CommitConflictError, match="no longer part of snapshot 6"):
        job.commit(messages)
    assert data(table).equals(before)
    assert unnamed_files(table, table.file_io) == set()


def test_an_index_that_cannot_be_is_refused() -> None:
    table = written()
    with pytest.raises(InvalidTableError, match="'no', which is no column"):
        with_options(table, {"file-index.bitmap.columns": "no"}).rewrite_file_index()
    with pytest.raises(UnsupportedError, match=r"commit\.callbacks"):
        with_options(table, {**BLOOM, "commit.callbacks": "a.B"}).rewrite_file_index()


def test_new_indexes_outlive_the_merging_of_manifests() -> None:
    table = with_options(written({"manifest.merge-min-count": "3"}), BLOOM)
    assert table.rewrite_file_index() is not None
    table = with_options(table, {**BITMAP, "manifest.merge-min-count": "2"})
    assert table.rewrite_file_index() is not None
    for number in range(4):
        table.append(rows(60 + number))
        assert files_read(table, "dt = 'd1' AND n = 220") == 1
    assert table.compact_manifest() is not None
    assert files_read(table, "dt = 'd1' AND n = 220") == 1
    assert data(table).num_rows == 84
