"""Snapshots expire: what goes with them, and what keeps them and their files."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from lakebed.errors import InvalidArgumentError
from lakebed.format.data_file_meta import FileKind, ManifestEntry
from lakebed.format.manifest import entries_from_columns
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.format.tag import COMMIT_TAG_PREFIX
from lakebed.table.branches import branch_table
from lakebed.table.expiry.expire import expire_snapshots
from lakebed.table.expiry.policy import Retention
from lakebed.table.table import Table
from support.effects import EPOCH_MS, reopen
from support.expiring_tables import (
    CHANGELOGS,
    KEYED,
    MARKED,
    NOTHING,
    SHAPES,
    STEPS,
    UNAWARE,
    damage_tag,
    ids_of,
    keep,
    rows_at,
    write,
)
from support.index_files import write_with_indexes
from support.needed_files import lacking_and_unneeded, put_branch, put_tag
from support.store_listing import list_files
from support.table_builder import BuiltTable, Shape, Step, build_table, sorted_rows


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("kept", [1, 2, 4])
def test_what_is_kept_reads_as_before_and_all_else_is_gone(name: str, kept: int) -> None:
    built = build_table(SHAPES[name], STEPS)
    ids = ids_of(built.table)
    past = {each: rows_at(built.table, each) for each in ids}

    assert keep(built.table, kept) == len(ids) - kept

    assert ids_of(built.table) == ids[-kept:]
    assert {each: rows_at(built.table, each) for each in ids[-kept:]} == {
        each: past[each] for each in ids[-kept:]
    }
    assert lacking_and_unneeded(built.table) == NOTHING
    assert built.file_io.read(f"{built.table.location}/snapshot/EARLIEST") == b"%d" % ids[-kept]
    assert keep(built.table, kept) == 0


def test_the_table_is_written_on_after_all_but_one_snapshot_expired() -> None:
    built = build_table(KEYED, STEPS)
    keep(built.table, 1)
    write(built, 1, 30)
    assert rows_at(built.table) == sorted_rows(built.rows)
    keep(built.table, 1)
    assert lacking_and_unneeded(built.table) == NOTHING


@pytest.mark.parametrize("name", SHAPES)
def test_a_tag_keeps_its_files_when_its_snapshot_expires(name: str) -> None:
    built = build_table(SHAPES[name], STEPS[:2])
    middle = ids_of(built.table)[-1]
    put_tag(built.table, "held", middle)
    tagged = rows_at(built.table)
    for step in STEPS[2:]:
        built.take(step)
    for kept in (3, 1):
        keep(built.table, kept)
        assert rows_at(built.table, tag="held") == tagged
        assert lacking_and_unneeded(built.table) == NOTHING
    assert middle not in ids_of(built.table)


def test_tags_of_several_snapshots_keep_the_files_of_each() -> None:
    built = build_table(UNAWARE)
    tagged = {}
    for number, step in enumerate(STEPS):
        built.take(step)
        if number % 2:
            put_tag(built.table, f"t{number}", ids_of(built.table)[-1])
            tagged[f"t{number}"] = rows_at(built.table)
    for kept in (4, 3, 1):
        keep(built.table, kept)
        assert {name: rows_at(built.table, tag=name) for name in tagged} == tagged
        assert lacking_and_unneeded(built.table) == NOTHING


@pytest.mark.parametrize("commit_id", [1, 2])
def test_the_tag_of_a_commit_is_not_taken_for_one_of_the_history(commit_id: int) -> None:
    built = build_table(UNAWARE)
    table, paths = built.table, built.table.parts().paths
    for key in range(3):
        table.append(built.arrow([built.shape.row(key, key)]))
    put_tag(table, "held", 1)
    tagged = rows_at(table, tag="held")
    # It would have deleted all rows, and its writer died; its id has gone to another.
    emptied = table.truncate()
    assert emptied is not None
    left_by_commit = paths.tag(f"{COMMIT_TAG_PREFIX}{emptied.uuid}")
    built.file_io.write(left_by_commit, changed(emptied, id=commit_id).to_json())
    for kept in (2, 1):
        keep(table, kept)
        assert rows_at(table, tag="held") == tagged
        assert lacking_and_unneeded(table) == NOTHING


def test_a_commit_that_can_no_more_come_about_does_not_stop_an_expiry() -> None:
    built = build_table(UNAWARE, STEPS)
    table, newest = built.table, rows_at(built.table)
    slept = table.snapshots()[0]
    keep(table, 2)
    left_by_commit = table.parts().paths.tag(f"{COMMIT_TAG_PREFIX}{slept.uuid}")
    built.file_io.write(left_by_commit, slept.to_json())
    assert keep(table, 1) == 1
    assert rows_at(table) == newest


@pytest.mark.parametrize("name", SHAPES)
def test_a_branch_and_the_table_keep_the_files_of_each_other(name: str) -> None:
    built = build_table(SHAPES[name], STEPS[:2])
    put_tag(built.table, "fork", ids_of(built.table)[-1])
    put_branch(built.table, "dev", "fork")
    parts = built.table.parts()
    parts.file_io.delete(parts.paths.tag("fork"))
    parts.file_io.delete(parts.paths.of_branch("dev").tag("fork"))
    branch = BuiltTable(built.shape, branch_table(built.table, "dev"), built.file_io)
    branch.rows = list(built.rows)
    for step in STEPS[2:]:
        built.take(step)
    for step in (STEPS[5], STEPS[4], STEPS[3]):
        branch.take(step)
    first = min(ids_of(branch.table))
    forked = rows_at(branch.table, first)

    keep(built.table, 1)
    assert rows_at(branch.table, first) == forked
    assert rows_at(branch.table) == sorted_rows(branch.rows)
    assert lacking_and_unneeded(built.table, ["dev"])[0] == set()
    keep(branch.table, 1)
    assert rows_at(branch.table) == sorted_rows(branch.rows)
    assert rows_at(built.table) == sorted_rows(built.rows)
    assert lacking_and_unneeded(built.table, ["dev"]) == NOTHING


def test_a_branch_that_overwrote_all_does_not_take_the_files_of_the_table() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    put_tag(built.table, "fork", 1)
    put_branch(built.table, "dev", "fork")
    branch = branch_table(built.table, "dev")
    branch.truncate()
    branch.append(built.arrow([built.shape.row(1, 1)]))
    keep(branch, 1)
    assert rows_at(built.table) == sorted_rows(built.rows)
    assert lacking_and_unneeded(built.table, ["dev"]) == NOTHING


def test_a_branch_that_the_table_was_fast_forwarded_to_keeps_every_snapshot() -> None:
    built = build_table(CHANGELOGS, STEPS[:1])
    put_tag(built.table, "fork", 1)
    put_branch(built.table, "dev", "fork")
    for step in STEPS[1:]:
        built.take(step)
    parts = built.table.parts()
    for snapshot in built.table.snapshots():
        path = parts.paths.of_branch("dev").snapshot(snapshot.id)
        built.file_io.write(path, snapshot.to_json())
    branch = branch_table(built.table, "dev")
    past = {each: rows_at(branch, each) for each in ids_of(branch)}
    for kept in (3, 1):
        keep(built.table, kept)
        assert {each: rows_at(branch, each) for each in ids_of(branch)} == past
        assert lacking_and_unneeded(built.table, ["dev"]) == NOTHING


def test_a_consumer_keeps_what_it_has_yet_to_read() -> None:
    built = build_table(UNAWARE, STEPS)
    consumer = built.table.parts().paths.consumer("job")
    built.file_io.write(consumer, b'{ "nextSnapshot" : 3 }')
    assert keep(built.table, 1) == 2
    assert ids_of(built.table)[0] == 3
    built.file_io.delete(consumer)
    keep(built.table, 1)
    assert ids_of(built.table) == [max(built.past)]


def test_index_files_statistics_and_changelogs_go_with_their_snapshots() -> None:
    built = build_table(Shape(buckets=1, is_partitioned=True), STEPS[:1])
    for _ in range(3):
        write_with_indexes(built.table, built.arrow([built.shape.row(1, 9)]))
    with_statistics(built, 2, "stat-old")
    with_statistics(built, 3, "stat-new")
    with_statistics(built, 4, "stat-new")
    before = set(list_files(built.file_io, built.table.location))

    keep(built.table, 2)

    assert lacking_and_unneeded(built.table) == NOTHING
    gone = before - set(list_files(built.file_io, built.table.location))
    for part in ("/statistics/stat-old", "/changelog-", "/index/index-", "/manifest/index-"):
        assert any(part in path for path in gone), part


def with_statistics(built: BuiltTable, snapshot_id: int, name: str) -> None:
    parts = built.table.parts()
    snapshot = parts.snapshots.load(snapshot_id)
    built.file_io.write(parts.paths.statistics(name), b"{}")
    put_snapshot(built.table, changed(snapshot, statistics=name))


def put_snapshot(table: Table, snapshot: Snapshot) -> None:
    table.file_io.write(table.parts().paths.snapshot(snapshot.id), snapshot.to_json())


def test_what_a_rollback_made_the_newest_snapshot_again_stays() -> None:
    built = build_table(MARKED, (STEPS[0], STEPS[2], STEPS[4]))
    target = ids_of(built.table)[-2]
    expected = rows_at(built.table, target)
    roll_back_as_newest(built.table, target)
    write(built, 30)

    keep(built.table, 3)
    assert rows_at(built.table, target + 2) == expected
    assert lacking_and_unneeded(built.table) == NOTHING
    keep(built.table, 1)
    assert len(rows_at(built.table)) == len(expected) + 1
    assert lacking_and_unneeded(built.table) == NOTHING


def test_what_a_rollback_brought_back_stays_where_an_expiry_was_broken_off() -> None:
    built = build_table(MARKED, (STEPS[0], STEPS[2], STEPS[4]))
    target = ids_of(built.table)[-2]
    expected = rows_at(built.table, target)
    roll_back_as_newest(built.table, target)
    row = built.shape.row(30, 0)
    built.table.append(built.arrow([row]))
    parts = built.table.parts()
    rolled = parts.snapshots.load(target + 2)
    parts.file_io.delete(parts.paths.manifest(rolled.delta_manifest_list))

    keep(built.table, 1)

    assert rows_at(built.table) == sorted_rows([*expected, row])
    assert lacking_and_unneeded(built.table)[0] == set()


def roll_back_as_newest(table: Table, target: int) -> None:
    """As `rollback_to_as_latest` of the real engine: a snapshot with the files of an older one."""
    snapshots = table.parts().snapshots
    turned = [
        replace(each, kind=FileKind.DELETE if each.kind is FileKind.ADD else FileKind.ADD)
        for each in changes_of(table, target + 1)
    ]
    index_manifest = snapshots.load(target).index_manifest
    put_changes(table, turned, commit_kind=CommitKind.OVERWRITE, index_manifest=index_manifest)


def changes_of(table: Table, snapshot_id: int) -> list[ManifestEntry]:
    parts = table.parts()
    metas = parts.manifests.delta_files(parts.snapshots.load(snapshot_id))
    return entries_from_columns(parts.manifests.entries(metas))


def put_changes(table: Table, entries: list[ManifestEntry], **members: object) -> None:
    """A snapshot on top of the newest, of any changes."""
    parts = table.parts()
    newest = parts.snapshots.load(ids_of(table)[-1])
    written = parts.manifests.write(entries, newest, names=parts.committer.names)
    lists = {
        "base_manifest_list": written.base_list,
        "base_manifest_list_size": written.base_list_size,
        "delta_manifest_list": written.delta_list,
        "delta_manifest_list_size": written.delta_list_size,
        "changelog_manifest_list": None,
    }
    put_snapshot(table, changed(newest, id=newest.id + 1, uuid=None, **lists, **members))


def test_a_commit_expires_what_the_options_say_and_a_write_only_table_nothing() -> None:
    kept = {"snapshot.num-retained.min": "2", "snapshot.num-retained.max": "3"}
    for more, expected in (({}, [5, 6, 7]), ({"write-only": "true"}, [1, 2, 3, 4, 5, 6, 7])):
        built = build_table(UNAWARE.with_options({**kept, **more}))
        for number in range(7):
            write(built, number)
        assert ids_of(built.table) == expected
        assert rows_at(built.table) == sorted_rows(built.rows)
        assert lacking_and_unneeded(built.table) == NOTHING


def test_after_an_hour_commits_expire_all_but_ten_snapshots() -> None:
    built = build_table(UNAWARE)
    for number in range(12):
        write(built, number)
    assert len(ids_of(built.table)) == 12
    later = reopen(built.table, built.file_io, clock=lambda: EPOCH_MS + 3_700_000)
    later.append(built.arrow([built.shape.row(50, 0)]))
    assert ids_of(built.table) == list(range(4, 14))


def test_a_commit_stands_when_snapshots_cannot_expire(caplog: pytest.LogCaptureFixture) -> None:
    built = build_table(UNAWARE.with_options({"snapshot.num-retained.max": "10"}))
    for number in range(10):
        write(built, number)
    damage_tag(built.table)
    write(built, 11)
    assert len(ids_of(built.table)) == 11
    assert "tag-broken" in caplog.text


def test_snapshots_expire_up_to_a_time() -> None:
    built = build_table(UNAWARE, [Step("write", (number,)) for number in range(6)])
    times = [each.time_millis for each in built.table.snapshots()]
    assert built.table.expire_snapshots(older_than=times[2], retain_min=1) == 1
    assert built.table.expire_snapshots(older_than="2025-12-31 23:59:59", retain_min=1) == 0
    assert built.table.expire_snapshots(older_than="2027-01-01", retain_min=1, max_deletes=3) == 3
    assert ids_of(built.table) == [5, 6]
    with pytest.raises(InvalidArgumentError, match="older_than is epoch milliseconds"):
        built.table.expire_snapshots(older_than=1.5)  # type: ignore[arg-type]


def test_an_empty_table_has_nothing_to_expire() -> None:
    built = build_table(KEYED)
    assert keep(built.table, 1) == 0
    retention = Retention(retain_max=1, retain_min=1, older_than_ms=0, max_deletes=1)
    assert expire_snapshots(built.table.parts(), retention) == 0
    assert not built.file_io.exists(f"{built.table.location}/snapshot/EARLIEST")


def test_the_earliest_hint_is_made_where_it_is_missing() -> None:
    built = build_table(UNAWARE.with_options({"write-only": "true"}), STEPS[:2])
    hint = f"{built.table.location}/snapshot/EARLIEST"
    assert not built.file_io.exists(hint)
    keep(built.table, 2)
    assert built.file_io.read(hint) == b"1"


def test_a_file_index_that_was_made_anew_goes_with_the_snapshots_that_had_it() -> None:
    built = build_table(UNAWARE)
    write_with_indexes(built.table, built.arrow([built.shape.row(1, 0)]), changelog=False)
    rewrite_index(built.table)
    keep(built.table, 1)
    assert lacking_and_unneeded(built.table) == NOTHING
    assert rows_at(built.table) == [built.shape.row(1, 0)]


def rewrite_index(table: Table) -> None:
    """A snapshot in which each file has another file index."""
    old = changes_of(table, 1)
    new = [
        replace(each, file=replace(each.file, extra_files=(f"{each.file.file_name}-2.index",)))
        for each in old
    ]
    for each in new:
        directory = table.parts().split_files.bucket_directory(each.partition, each.bucket)
        table.file_io.write(f"{directory}/{each.file.extra_files[0]}", b"made")
    gone = [replace(each, kind=FileKind.DELETE) for each in old]
    put_changes(table, [*gone, *new], commit_kind=CommitKind.COMPACT)


def test_external_files_go_with_what_lies_beside_them() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    outside = [f"memory:/elsewhere/{name}" for name in ("a.parquet", "a.index")]
    for path in outside:
        built.file_io.write(path, b"made")
    entry = changes_of(built.table, 1)[0]
    file = replace(entry.file, external_path=outside[0], extra_files=("a.index",))
    external = replace(entry, file=replace(file, file_name="a.parquet"))
    put_changes(built.table, [external])
    put_changes(built.table, [replace(external, kind=FileKind.DELETE)])
    keep(built.table, 2)
    assert all(map(built.file_io.exists, outside))
    keep(built.table, 1)
    assert not any(map(built.file_io.exists, outside))
    assert rows_at(built.table) == sorted_rows(built.rows)
