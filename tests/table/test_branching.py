"""Branches that are made, renamed and deleted."""

import pytest
from msgspec.structs import replace as changed

from lakebed.errors import (
    AlreadyExistsError,
    CorruptTableError,
    InvalidArgumentError,
    LakebedError,
    NotFoundError,
)
from lakebed.table.branches import branch_table
from support.branched_tables import (
    add_column,
    arrow,
    branch_names,
    check_no_traces,
    forked,
    opened,
    past_of,
    tag_names,
)
from support.effects import reopen
from support.expiring_tables import (
    KEYED,
    SHAPES,
    STEPS,
    UNAWARE,
    ids_of,
    keep,
    rows_at,
)
from support.faulty_file_io import FaultyFileIO
from support.needed_files import lacking_and_unneeded, put_tag
from support.store_listing import list_files, read_store
from support.table_builder import build_table, sorted_rows


@pytest.mark.parametrize("name", SHAPES)
def test_a_branch_of_a_tag_starts_there_and_goes_its_own_way(name: str) -> None:
    built = build_table(SHAPES[name], STEPS[:2])
    middle = ids_of(built.table)[-1]
    branch = forked(built, middle)
    assert ids_of(branch.table) == [middle]
    assert tag_names(branch.table) == ["fork"]
    assert rows_at(branch.table) == rows_at(built.table)

    built.take(STEPS[2])
    branch.take(STEPS[4])
    branch.take(STEPS[5])
    assert rows_at(branch.table) == sorted_rows(branch.rows)
    assert rows_at(built.table) == sorted_rows(built.rows)
    check_no_traces(built, "dev")


def test_a_branch_of_a_tag_whose_snapshot_expired_reads_what_the_tag_names() -> None:
    built = build_table(KEYED, STEPS[:2])
    put_tag(built.table, "fork", 2)
    tagged = rows_at(built.table)
    for step in STEPS[2:]:
        built.take(step)
    keep(built.table, 1)
    built.table.create_branch("dev", tag="fork")
    assert past_of(branch_table(built.table, "dev")) == {2: tagged}
    check_no_traces(built, "dev")


def test_a_branch_without_a_tag_starts_empty_with_the_schemas_of_now() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    table = add_column(built.table, "more")
    table.create_branch("dev")
    branch = branch_table(table, "dev")
    assert branch.latest_snapshot() is None
    assert branch.scan().count() == 0
    assert branch.schema == table.schema
    assert branch.parts().schemas.list_ids() == [0, 1]
    row = {**built.shape.row(1, 0), "more": "x"}
    branch.append(arrow(branch, [row]))
    assert ids_of(branch) == [1]
    assert rows_at(branch) == [row]


def test_a_branch_has_the_schemas_up_to_that_of_its_tag() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    put_tag(built.table, "fork", 1)
    table = add_column(built.table, "more")
    table.create_branch("dev", "fork")
    assert branch_table(table, "dev").schema == built.table.schema


def test_a_branch_can_be_made_of_a_tag_of_a_branch() -> None:
    built = build_table(KEYED, STEPS[:1])
    branch = forked(built, 1)
    branch.take(STEPS[1])
    put_tag(branch.table, "inner", ids_of(branch.table)[-1])
    branch.table.create_branch("inner", "inner")
    assert rows_at(branch_table(built.table, "inner")) == sorted_rows(branch.rows)
    check_no_traces(built, "dev", "inner")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("main", "is the main branch"),
        ("", "is blank"),
        (" \t", "is blank"),
        ("12", "is a number"),
        ("a/b", "has a '/'"),
        ("../x", "has a '/'"),
        ("a$b", "or a '\\$'"),
    ],
)
def test_names_that_no_branch_can_have_are_refused(name: str, words: str) -> None:
    built = build_table(UNAWARE, STEPS[:1])
    built.table.create_branch("dev")
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(InvalidArgumentError, match=words):
        built.table.create_branch(name)
    with pytest.raises(InvalidArgumentError, match=words):
        built.table.rename_branch("dev", name)
    assert read_store(built.file_io, "memory:/") == before


def test_a_branch_that_is_there_is_refused_or_left_as_it_is() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    put_tag(built.table, "fork", 1)
    built.table.create_branch("dev", "fork")
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(AlreadyExistsError, match="branch 'dev' already exists"):
        built.table.create_branch("dev")
    built.table.create_branch("dev", ignoreIfExists=True)
    built.table.create_branch("dev", "none", ignoreIfExists=True)
    with pytest.raises(NotFoundError, match=r"tag 'none' does not exist\. There is fork"):
        built.table.create_branch("other", "none")
    assert read_store(built.file_io, "memory:/") == before


@pytest.mark.parametrize("name", SHAPES)
def test_a_branch_is_deleted_with_the_files_that_only_it_needs(name: str) -> None:
    built = build_table(SHAPES[name], STEPS[:2])
    put_tag(built.table, "fork", ids_of(built.table)[-1])
    built.table.create_branch("dev", "fork")
    built.table.create_branch("other", "fork")
    branch, other = opened(built, "dev"), opened(built, "other")
    for step in STEPS[2:]:
        built.take(step)
    for step in (STEPS[5], STEPS[4], STEPS[2]):
        branch.take(step)
        other.take(step)
    put_tag(branch.table, "inner", ids_of(branch.table)[-1])
    past, others = past_of(built.table), past_of(other.table)

    built.table.delete_branch("dev")

    assert branch_names(built.table) == ["other"]
    assert (past_of(built.table), past_of(other.table)) == (past, others)
    check_no_traces(built, "other")
    built.table.delete_branch(["other"])
    assert past_of(built.table) == past
    check_no_traces(built)
    with pytest.raises(NotFoundError, match=r"branch 'dev' .*\. The table has no branch"):
        branch_table(built.table, "dev")


def test_what_only_a_branch_still_has_stays_until_it_is_deleted() -> None:
    built = build_table(KEYED, STEPS[:2])
    put_tag(built.table, "fork", 2)
    built.table.create_branch("dev", "fork")
    built.file_io.delete(built.table.parts().paths.tag("fork"))
    for step in STEPS[2:]:
        built.take(step)
    keep(built.table, 1)
    assert lacking_and_unneeded(built.table)[1] != set()
    built.table.delete_branch("dev")
    check_no_traces(built)


@pytest.mark.parametrize("names", ["a, b", ["a", "b"], ("b", "a", "b")])
def test_several_branches_are_deleted_at_once(names: str | list[str]) -> None:
    built = build_table(UNAWARE, STEPS[:1])
    for name in ("a", "b", "c"):
        built.table.create_branch(name)
    built.table.delete_branch(names)
    assert branch_names(built.table) == ["c"]


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("dev,none", NotFoundError, "branch 'none' does not exist. There is dev, held"),
        ("dev,main", InvalidArgumentError, "the one that is open, or the main one"),
        ("dev,", InvalidArgumentError, "which names no branch"),
        ("dev,../x", InvalidArgumentError, "has a '/'"),
        ("dev,held", InvalidArgumentError, "'scan.fallback-branch' of the table names it"),
    ],
)
def test_nothing_is_deleted_where_one_branch_cannot_be(
    name: str, error: type[LakebedError], words: str
) -> None:
    built = build_table(UNAWARE.with_options({"scan.fallback-branch": "held"}), STEPS[:1])
    built.table.create_branch("dev")
    built.table.create_branch("held")
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(error, match=words):
        built.table.delete_branch(name)
    assert read_store(built.file_io, "memory:/") == before


def test_a_branch_cannot_be_deleted_from_itself_or_where_it_cannot_be_read() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    built.table.create_branch("dev")
    branch = branch_table(built.table, "dev")
    with pytest.raises(InvalidArgumentError, match="the one that is open"):
        branch.delete_branch("dev")
    built.file_io.write(branch.parts().paths.snapshot(1), b"no json")
    with pytest.raises(CorruptTableError):
        built.table.delete_branch("dev")
    assert branch_table(built.table, "dev").schema == built.table.schema


def test_a_renamed_branch_has_all_that_it_had() -> None:
    built = build_table(KEYED, STEPS[:2])
    put_tag(built.table, "fork", 2)
    table = add_column(built.table, "more")
    put_tag(table, "late", 2)
    table.create_branch("dev", "fork")
    branch = opened(built, "dev")
    branch.take(STEPS[3])
    put_tag(branch.table, "inner", 2)
    paths = branch.table.parts().paths
    built.file_io.write(paths.consumer("job"), b'{ "nextSnapshot" : 3 }')
    built.file_io.write(f"{paths.tag_directory}/tag-success-file/inner_SUCCESS", b"{}")
    before = {
        path.removeprefix(paths.metadata_directory): built.file_io.read(path)
        for path in list_files(built.file_io, paths.metadata_directory)
    }

    table.rename_branch("dev", "new")

    assert branch_names(table) == ["new"]
    renamed = branch_table(table, "new")
    directory = renamed.parts().paths.metadata_directory
    assert before == {
        path.removeprefix(directory): built.file_io.read(path)
        for path in list_files(built.file_io, directory)
    }
    assert rows_at(renamed) == sorted_rows(branch.rows)
    check_no_traces(built, "new")


def test_a_branch_is_renamed_to_no_name_that_is_taken() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    built.table.create_branch("a")
    built.table.create_branch("b")
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(AlreadyExistsError, match="branch 'b' already exists"):
        built.table.rename_branch("a", "b")
    with pytest.raises(AlreadyExistsError, match="branch 'a' already exists"):
        built.table.rename_branch("a", "a")
    with pytest.raises(NotFoundError, match=r"branch 'c' does not exist\. There is a, b"):
        built.table.rename_branch("c", "d")
    with pytest.raises(InvalidArgumentError, match="is the main branch"):
        built.table.rename_branch("main", "d")
    assert read_store(built.file_io, "memory:/") == before


def test_a_branch_that_another_engine_left_half_deleted_is_made_after_its_deletion() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    paths = built.table.parts().paths.of_branch("dev")
    snapshot = changed(built.table.snapshots()[0], id=9)
    built.file_io.write(paths.snapshot(9), snapshot.to_json())
    with pytest.raises(AlreadyExistsError, match="half made or half deleted"):
        built.table.create_branch("dev")
    built.table.delete_branch("dev")
    built.table.create_branch("dev")
    assert ids_of(branch_table(built.table, "dev")) == []
    assert rows_at(built.table) == sorted_rows(built.rows)


def test_a_branch_whose_tag_is_deleted_meanwhile_is_taken_back() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    put_tag(built.table, "fork", 1)
    paths = built.table.parts().paths
    before = [path for path in list_files(built.file_io, "memory:/") if path != paths.tag("fork")]

    class Deleting(FaultyFileIO):
        def write(self, path: str, data: bytes) -> None:
            super().write(path, data)
            if path.endswith("/branch-dev/snapshot/snapshot-1"):
                built.file_io.delete(paths.tag("fork"))

    with pytest.raises(NotFoundError, match="tag 'fork' does not exist"):
        reopen(built.table, Deleting(built.file_io, 0)).create_branch("dev", "fork")
    assert sorted(list_files(built.file_io, "memory:/")) == sorted(before)
