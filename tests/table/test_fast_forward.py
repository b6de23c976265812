"""Tables that take over the history of a branch."""

import pytest

from lakebed.errors import (
    InvalidArgumentError,
    InvalidTableError,
    LakebedError,
    NotFoundError,
)
from lakebed.format.paths import rollback_tag
from lakebed.format.tag import COMMIT_TAG_PREFIX
from lakebed.table.branches import branch_table
from support.branched_tables import (
    add_column,
    arrow,
    check_no_traces,
    forked,
    opened,
    past_of,
    tag_names,
)
from support.expiring_tables import (
    MARKED,
    NOTHING,
    SHAPES,
    STEPS,
    UNAWARE,
    ids_of,
    keep,
    rows_at,
)
from support.needed_files import lacking_and_unneeded, put_tag
from support.store_listing import read_store
from support.table_builder import BuiltTable, build_table, sorted_rows


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("more", [0, 1, 4])
def test_a_table_takes_over_the_history_of_a_branch(name: str, more: int) -> None:
    built = build_table(SHAPES[name], STEPS[:2])
    fork = ids_of(built.table)[-1]
    put_tag(built.table, "first", 1)
    branch = forked(built, fork)
    for step in STEPS[2 : 2 + more]:
        built.take(step)
    if more:
        put_tag(built.table, "gone", ids_of(built.table)[-1])
    for step in (STEPS[5], STEPS[4]):
        branch.take(step)
    put_tag(branch.table, "new", ids_of(branch.table)[-1])
    past = {each: rows for each, rows in past_of(built.table).items() if each <= fork}
    expected = {**past, **past_of(branch.table)}

    built.table.fast_forward("dev")

    assert past_of(built.table) == expected
    assert tag_names(built.table) == ["first", "fork", "new"]
    assert rows_at(built.table, tag="new") == sorted_rows(branch.rows)
    hint = built.file_io.read(built.table.parts().paths.latest_hint)
    assert hint == b"%d" % ids_of(branch.table)[-1]
    check_no_traces(built, "dev")
    built.table.fast_forward("dev")
    assert past_of(built.table) == expected
    row = built.shape.row(50, 0)
    built.table.append(built.arrow([row]))
    assert rows_at(built.table) == sorted_rows([*branch.rows, row])
    built.table.delete_branch("dev")
    check_no_traces(built)


def test_a_table_takes_over_a_branch_that_was_made_empty() -> None:
    built = build_table(UNAWARE, STEPS[:3])
    built.table.create_branch("dev")
    branch = BuiltTable(built.shape, branch_table(built.table, "dev"), built.file_io)
    with pytest.raises(InvalidArgumentError, match="branch 'dev' has no snapshot"):
        built.table.fast_forward("dev")
    branch.take(STEPS[5])
    put_tag(built.table, "one", 1)
    built.table.fast_forward("dev")
    assert past_of(built.table) == {1: sorted_rows(branch.rows)}
    assert tag_names(built.table) == []
    check_no_traces(built, "dev")


def test_an_empty_table_takes_over_a_branch() -> None:
    built = build_table(UNAWARE)
    built.table.create_branch("dev")
    branch = opened(built, "dev")
    for step in STEPS[:3]:
        branch.take(step)
    built.table.fast_forward("dev")
    assert past_of(built.table) == past_of(branch.table)
    assert built.file_io.read(built.table.parts().paths.earliest_hint) == b"1"
    check_no_traces(built, "dev")


@pytest.mark.parametrize("keeps_branch", [True, False])
def test_a_table_takes_over_a_branch_where_both_expired(keeps_branch: bool) -> None:  # noqa: FBT001
    built = build_table(MARKED, STEPS[:2])
    fork = ids_of(built.table)[-1]
    put_tag(built.table, "fork", fork)
    built.table.create_branch("dev", "fork")
    built.file_io.delete(built.table.parts().paths.tag("fork"))
    branch = opened(built, "dev")
    for step in STEPS[2:]:
        built.take(step)
    for step in (STEPS[5], STEPS[4]):
        branch.take(step)
    keep(built.table, 1)
    if not keeps_branch:
        built.file_io.delete(branch.table.parts().paths.tag("fork"))
        keep(branch.table, 1)
    past = past_of(branch.table)
    built.table.fast_forward("dev")
    assert past_of(built.table) == past
    assert built.file_io.read(built.table.parts().paths.earliest_hint) == b"%d" % min(past)
    check_no_traces(built, "dev")


@pytest.mark.parametrize("kept", [1, 2])
def test_a_table_takes_over_a_branch_to_which_nothing_of_its_history_leads(kept: int) -> None:
    built = build_table(MARKED, STEPS[:1])
    branch = forked(built, 1)
    for step in STEPS[1:4]:
        built.take(step)
    put_tag(built.table, "mine", 2)
    put_tag(built.table, "late", ids_of(built.table)[-1])
    tagged = rows_at(built.table, 2)
    for step in (STEPS[5], STEPS[4], STEPS[3], STEPS[1]):
        branch.take(step)
    built.file_io.delete(branch.table.parts().paths.tag("fork"))
    keep(branch.table, kept)
    past = past_of(branch.table)

    built.table.fast_forward("dev")

    assert past_of(built.table) == past
    assert tag_names(built.table) == ["fork", "mine"]
    assert rows_at(built.table, tag="mine") == tagged
    check_no_traces(built, "dev")
    built.table.fast_forward("dev")
    built.table.delete_branch("dev")
    row = built.shape.row(50, 0)
    built.table.append(built.arrow([row]))
    assert rows_at(built.table) == sorted_rows([*branch.rows, row])
    keep(built.table, 1)
    assert rows_at(built.table) == sorted_rows([*branch.rows, row])
    check_no_traces(built)


def test_a_table_that_was_rolled_back_takes_over_a_branch_that_goes_on_from_there() -> None:
    built = build_table(UNAWARE, STEPS[:2])
    put_tag(built.table, "fork", 2)
    built.table.create_branch("dev", "fork")
    past = past_of(built.table)
    built.table.rollback(1)
    built.table.append(built.arrow([built.shape.row(30, 0)]))
    branch = opened(built, "dev")
    branch.take(STEPS[5])
    built.table.fast_forward("dev")
    assert past_of(built.table) == {**past, **past_of(branch.table)}
    check_no_traces(built, "dev")


def test_a_table_takes_over_the_schemas_of_a_branch() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    put_tag(built.table, "fork", 1)
    built.table.create_branch("dev", "fork")
    branch = add_column(branch_table(built.table, "dev"), "theirs")
    table = add_column(add_column(built.table, "ours"), "more")
    table.append(arrow(table, [{**built.shape.row(7, 0), "ours": "x"}]))
    branch.append(arrow(branch, [{**built.shape.row(8, 0), "theirs": "y"}]))
    table.fast_forward("dev")
    assert table.parts().schemas.load_all() == branch.parts().schemas.load_all()
    reloaded = branch_table(table, "main")
    assert reloaded.schema == branch.schema
    assert rows_at(reloaded) == rows_at(branch)
    check_no_traces(built, "dev")


def test_schemas_that_kept_snapshots_need_are_not_replaced() -> None:
    built = build_table(UNAWARE, STEPS[:3])
    put_tag(built.table, "fork", 3)
    built.table.create_branch("dev", "fork")
    branch = branch_table(built.table, "dev")
    branch.append(built.arrow([built.shape.row(8, 0)]))
    schema = branch.parts().paths.schema(0)
    text = built.file_io.read(schema).replace(b'"note"', b'"other"')
    built.file_io.write(schema, text)
    before = read_store(built.file_io, "memory:/")
    with pytest.raises(InvalidTableError, match="needs schema 0, which branch 'dev' has otherwise"):
        built.table.fast_forward("dev")
    assert read_store(built.file_io, "memory:/") == before


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("main", InvalidArgumentError, "is the main branch"),
        ("", InvalidArgumentError, "is blank"),
        ("none", NotFoundError, "branch 'none' does not exist. There is dev"),
    ],
)
def test_a_table_is_fast_forwarded_to_no_branch_that_cannot_be(
    name: str, error: type[LakebedError], words: str
) -> None:
    built = build_table(UNAWARE, STEPS[:1])
    built.table.create_branch("dev")
    with pytest.raises(error, match=words):
        built.table.fast_forward(name)
    with pytest.raises(InvalidArgumentError, match="is the one that is open"):
        branch_table(built.table, "dev").fast_forward("dev")


def test_a_branch_takes_over_another_one() -> None:
    built = build_table(UNAWARE, STEPS[:1])
    put_tag(built.table, "fork", 1)
    built.table.create_branch("a", "fork")
    built.table.create_branch("b", "fork")
    branch, other = opened(built, "a"), opened(built, "b")
    branch.take(STEPS[1])
    other.take(STEPS[5])
    branch.table.fast_forward("b")
    assert past_of(branch.table) == past_of(other.table)
    assert ids_of(built.table) == [1]
    check_no_traces(built, "a", "b")


def test_a_tag_of_the_branch_replaces_one_of_its_name() -> None:
    built = build_table(UNAWARE, STEPS[:2])
    put_tag(built.table, "t", 1)
    branch = forked(built, 2)
    branch.take(STEPS[5])
    put_tag(branch.table, "t", 3)
    built.table.fast_forward("dev")
    assert rows_at(built.table, tag="t") == sorted_rows(branch.rows)
    keep(built.table, 1)
    keep(branch.table, 1)
    assert lacking_and_unneeded(built.table, ["dev"]) == NOTHING


def test_tags_of_commits_and_rollbacks_stay_where_they_are() -> None:
    built = build_table(UNAWARE, STEPS[:2])
    branch = forked(built, 1)
    branch.take(STEPS[5])
    put_tag(built.table, f"{COMMIT_TAG_PREFIX}own", 2)
    put_tag(branch.table, f"{COMMIT_TAG_PREFIX}theirs", 2)
    put_tag(branch.table, rollback_tag(1), 1)

    built.table.fast_forward("dev")

    assert tag_names(built.table) == ["fork", f"{COMMIT_TAG_PREFIX}own"]
    assert lacking_and_unneeded(built.table, ["dev"])[0] == set()
