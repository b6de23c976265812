"""Commits with index files and changelogs: what the snapshot says, and who conflicts with whom."""

from dataclasses import replace

import pyarrow as pa
import pytest

from lakebed.errors import CommitConflictError, CommitUnknownError
from lakebed.format.index_manifest import DELETION_VECTORS, IndexManifestEntry
from lakebed.format.manifest import entries_from_columns
from lakebed.format.manifest_file import read_entries
from lakebed.format.snapshot import CommitKind, Operation, Snapshot
from lakebed.table.committing import commit, delete_written
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.parts import TableParts
from lakebed.table.routers import rows_writer
from lakebed.table.row_changes import append_changes
from lakebed.table.table import Table
from lakebed.table.writing.changes import AppendChanges
from lakebed.table.writing.commit_message import CommitMessage
from support.effects import reopen
from support.index_files import index_entry, unnamed_files, write_with_indexes
from support.scripted_file_io import ScriptedFileIO, meanwhile, no_answer
from support.table_builder import BuiltTable, Shape, Step, build_table, sorted_rows

KEYED = Shape(buckets=2, is_partitioned=True)
UNAWARE = Shape(has_primary_key=False, buckets=-1)


def rows(built: BuiltTable, *numbers: int, version: int = 5) -> pa.Table:
    return built.arrow([built.shape.row(number, version) for number in numbers])


def newest(table: Table) -> Snapshot:
    snapshot = table.latest_snapshot()
    assert snapshot is not None
    return snapshot


def listed(table: Table) -> dict[tuple[bytes, int], str]:
    entries = table.parts().manifests.index_files(newest(table))
    found = {(entry.partition, entry.bucket): entry.file_name for entry in entries}
    assert len(found) == len(entries)
    return found


def index_only(
    parts: TableParts, message: CommitMessage, *, is_compaction: bool = False
) -> AppendChanges:
    changes = append_changes(parts, [message], base=parts.write_base(), operation=Operation.DELETE)
    return replace(changes, is_compaction=is_compaction)


def test_an_index_file_takes_the_place_of_its_buckets_and_the_others_stay() -> None:
    built = build_table(KEYED)
    write_with_indexes(built.table, rows(built, *range(9)))
    before = listed(built.table)
    snapshot = write_with_indexes(built.table, rows(built, 0))
    after = listed(built.table)
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.APPEND
    assert before.keys() == after.keys()
    assert len(before) > 2
    assert sum(before[key] != after[key] for key in before) == 1
    assert built.table.scan(snapshot_id=1).count() == built.table.scan().count() == 9
    assert unnamed_files(built.table, built.file_io) == set()


def test_a_commit_without_index_files_keeps_the_index_manifest() -> None:
    built = build_table(KEYED)
    write_with_indexes(built.table, rows(built, 1, 2))
    name = newest(built.table).index_manifest
    assert name is not None
    assert name.startswith("index-manifest-")
    built.table.append(rows(built, 1, 2, 3))
    assert newest(built.table).index_manifest == name


def test_changelog_files_are_listed_and_counted_apart_from_the_rows() -> None:
    built = build_table(KEYED)
    write_with_indexes(built.table, rows(built, 1, 2, 4))
    snapshot, parts = newest(built.table), built.table.parts()
    metas = parts.manifests.changelog_files(snapshot)
    entries = [
        entry
        for meta in metas
        for entry in read_entries(built.file_io, parts.paths.manifest(meta.file_name))
    ]
    assert all(entry.file.file_name.startswith("changelog-") for entry in entries)
    assert sum(entry.file.row_count for entry in entries) == 3
    assert snapshot.changelog_record_count == snapshot.delta_record_count == 3
    path = parts.paths.manifest(str(snapshot.changelog_manifest_list))
    assert snapshot.changelog_manifest_list_size == built.file_io.size(path)
    built.table.append(rows(built, 1))
    plain = newest(built.table)
    assert plain.changelog_manifest_list is None
    assert plain.changelog_record_count is None


def test_deletion_vectors_alone_make_an_overwrite_without_data_files() -> None:
    built = build_table(UNAWARE, [Step("write", range(4))])
    parts = built.table.parts()
    [file] = parts.manifests.live(newest(built.table), partitions=EveryPartition()).to_pylist()
    entry = index_entry(
        "index-x",
        partition=file["partition"],
        index_type=DELETION_VECTORS,
        data_files=[file["file_name"]],
    )
    message = _message(file["partition"], new_index_files=(entry,))
    snapshot = commit(parts, index_only(parts, message), [message])
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.OVERWRITE
    assert (snapshot.delta_record_count, snapshot.total_record_count) == (0, 4)
    assert parts.manifests.delta_files(snapshot) == []
    again = index_only(parts, replace(message, deleted_index_files=(entry,), new_index_files=()))
    snapshot = commit(parts, again, [])
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.OVERWRITE
    assert parts.manifests.index_files(snapshot) == []


def test_a_compaction_is_told_from_a_write() -> None:
    built = build_table(KEYED, [Step("write", range(4))])
    parts = built.table.parts()
    entry = index_entry("index-x")
    message = _message(b"", new_index_files=(entry,))
    snapshot = commit(parts, index_only(parts, message, is_compaction=True), [message])
    assert snapshot is not None
    assert snapshot.commit_kind is CommitKind.COMPACT


def _message(
    partition: bytes,
    *,
    new_index_files: tuple[IndexManifestEntry, ...] = (),
    deleted_index_files: tuple[IndexManifestEntry, ...] = (),
) -> CommitMessage:
    return CommitMessage(
        partition=partition,
        bucket=0,
        total_buckets=-1,
        new_files=(),
        new_index_files=new_index_files,
        deleted_index_files=deleted_index_files,
    )


def test_hashes_that_changed_since_the_writer_started_are_a_conflict_that_leaves_nothing() -> None:
    built = build_table(KEYED)
    write_with_indexes(built.table, rows(built, 0, 1))
    base = built.table.parts().write_base()
    write_with_indexes(built.table, rows(built, 3))
    before = unnamed_files(built.table, built.file_io)
    with pytest.raises(CommitConflictError, match="another writer changed the hash index"):
        write_with_indexes(built.table, rows(built, 6), base=base)
    assert unnamed_files(built.table, built.file_io) == before
    assert write_with_indexes(built.table, rows(built, 1), base=base) is not None


def test_an_append_to_a_partition_whose_hashes_changed_meanwhile_is_a_conflict() -> None:
    built = build_table(KEYED)
    write_with_indexes(built.table, rows(built, 0, 1))
    others = [meanwhile(lambda: write_with_indexes(built.table, rows(built, 3)))]
    table = reopen(built.table, ScriptedFileIO(built.file_io, others), seed=7)
    with pytest.raises(CommitConflictError, match="one key could be in two buckets of snapshot 2"):
        table.append(rows(built, 6))
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(rows(built, 0, 1, 3))


def test_a_lost_race_lists_what_the_winner_listed_and_deletes_its_own_metadata() -> None:
    built = build_table(KEYED)
    write_with_indexes(built.table, rows(built, 0))
    others = [meanwhile(lambda: write_with_indexes(built.table, rows(built, 1)))]
    table = reopen(built.table, ScriptedFileIO(built.file_io, others), seed=7)
    assert write_with_indexes(table, rows(built, 2)) is not None
    assert len(listed(built.table)) == 3
    assert newest(built.table).id == 3
    assert unnamed_files(built.table, built.file_io) == set()


def test_a_rewrite_of_a_file_whose_rows_were_deleted_meanwhile_is_a_conflict() -> None:
    built = build_table(UNAWARE, [Step("write", range(4))])
    parts = built.table.parts()
    [file] = parts.manifests.live(newest(built.table), partitions=EveryPartition()).to_pylist()

    def mark() -> None:
        entry = index_entry(
            "index-x",
            partition=file["partition"],
            index_type=DELETION_VECTORS,
            data_files=[file["file_name"]],
        )
        message = _message(file["partition"], new_index_files=(entry,))
        assert commit(parts, index_only(parts, message), [message]) is not None

    table = reopen(built.table, ScriptedFileIO(built.file_io, [meanwhile(mark)]), seed=7)
    with pytest.raises(CommitConflictError, match=r"deleted rows of data file .* would return"):
        table.delete("id = -4")
    assert newest(built.table).id == 2


def test_an_unknown_commit_keeps_index_files_changelogs_and_file_indexes() -> None:
    built = build_table(KEYED, [Step("write", range(3))])
    store = ScriptedFileIO(built.file_io, [no_answer(has_effect=False)] * 99)
    with pytest.raises(CommitUnknownError):
        write_with_indexes(reopen(built.table, store, seed=7), rows(built, 1))
    left = unnamed_files(built.table, built.file_io)
    kinds = {name.split("-")[0] for name in left} | {name.rpartition(".")[2] for name in left}
    assert {"index", "changelog", "data", "manifest"} < kinds


def test_an_unnamed_file_of_a_level_upgrade_is_not_deleted_with_a_failed_commit() -> None:
    built = build_table(KEYED, [Step("write", (0,))])
    parts = built.table.parts()
    live = parts.manifests.live(newest(built.table), partitions=EveryPartition())
    [entry] = entries_from_columns(live)
    message = CommitMessage(
        partition=entry.partition,
        bucket=entry.bucket,
        total_buckets=entry.total_buckets,
        new_files=(replace(entry.file, level=5),),
        deleted_files=(entry.file,),
    )
    delete_written(parts, [message])
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)


def test_watermarks_only_rise_and_properties_are_the_commits_own() -> None:
    built = build_table(UNAWARE)
    seen = []
    for number, watermark in enumerate([None, 50, 20, None, 70]):
        parts = built.table.parts()
        base = parts.write_base()
        with rows_writer(parts, base) as writer:
            writer.add(rows(built, number))
            messages = writer.finish()
        changes = append_changes(parts, messages, base=base, operation=Operation.WRITE)
        properties = {"batch": str(number)} if number == 1 else None
        snapshot = commit(parts, changes, messages, watermark=watermark, properties=properties)
        assert snapshot is not None
        seen.append((snapshot.watermark, snapshot.properties))
    assert seen == [(None, None), (50, {"batch": "1"}), (50, None), (50, None), (70, None)]
    assert [each.watermark for each in built.table.snapshots()] == [None, 50, 50, 50, 70]


@pytest.mark.parametrize(
    ("option", "force", "count"),
    [
        (None, None, 0),
        ("true", None, 0),
        ("false", None, 1),
        (None, True, 1),
        ("true", True, 1),
        ("false", False, 0),
    ],
)
def test_a_commit_without_changes_makes_a_snapshot_only_where_it_is_asked_for(
    option: str | None, *, force: bool | None, count: int
) -> None:
    options = {} if option is None else {"snapshot.ignore-empty-commit": option}
    parts = build_table(UNAWARE.with_options(options)).table.parts()
    changes = append_changes(parts, [], base=parts.write_base(), operation=Operation.WRITE)
    snapshot = commit(parts, changes, [], force=force)
    assert len(parts.snapshots.list_ids()) == count
    if snapshot is not None:
        assert (snapshot.commit_kind, snapshot.delta_record_count) == (CommitKind.APPEND, 0)
        assert parts.manifests.files(snapshot) == []


def test_a_snapshot_names_the_newest_schema_also_where_the_writer_knows_an_older_one() -> None:
    built = build_table(UNAWARE, [Step("write", (1,))])
    parts = built.table.parts()
    parts.schemas.put(replace(parts.schema, id=1))
    built.table.append(rows(built, 2))
    assert [each.schema_id for each in built.table.snapshots()] == [0, 1]
