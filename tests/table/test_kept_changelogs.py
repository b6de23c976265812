"""Changelogs that are kept for longer than their snapshots: what stays with them, what goes."""

from dataclasses import replace
from functools import partial

import pytest

from lakebed.table.metadata.changelogs import Changelogs
from lakebed.table.metadata.consumers import Consumers
from lakebed.table.table import Table
from support.effects import EPOCH_MS, reopen
from support.expiring_tables import NOTHING, STEPS, ids_of, keep, rows_at, write
from support.needed_files import lacking_and_unneeded, put_tag
from support.table_builder import BuiltTable, Row, Shape, build_table, sorted_rows

LONGER = {"changelog.num-retained.min": "100", "changelog.num-retained.max": "100"}
MOST = {"snapshot.num-retained.max": "50"}
SHAPES = {
    "no producer": Shape(buckets=1).with_options({"num-sorted-run.compaction-trigger": "2"}),
    "input": Shape(buckets=2, is_partitioned=True).with_options({"changelog-producer": "input"}),
    "lookup": Shape(buckets=1).with_options({"changelog-producer": "lookup"}),
    "full compaction": Shape(buckets=1).with_options({"changelog-producer": "full-compaction"}),
    "append": Shape(has_primary_key=False, buckets=-1, is_partitioned=True).with_options(
        {"manifest.merge-min-count": "2"}
    ),
}


def built_longer(name: str) -> BuiltTable:
    return build_table(SHAPES[name].with_options({**LONGER, **MOST}), STEPS)


def changelog_ids(table: Table) -> list[int]:
    return Changelogs(table.file_io, table.parts().paths).list_ids()


def changes(table: Table, first: int, last: int) -> dict[int, list[Row]]:
    """What each snapshot changed."""
    return {
        each: sorted_rows(table.scan(incremental=(each - 1, each)).to_arrow())
        for each in range(first, last + 1)
    }


@pytest.mark.parametrize("name", SHAPES)
def test_changes_are_read_beyond_their_snapshots_and_go_with_their_changelogs(name: str) -> None:
    built = built_longer(name)
    table, ids = built.table, ids_of(built.table)
    before = changes(table, 2, ids[-1])
    assert any(before.values())
    for kept in (len(ids) - 1, 3, 1):
        keep(table, kept)
        assert ids_of(table) == ids[-kept:]
        assert changelog_ids(table) == ids[:-kept]
        assert changes(table, 2, ids[-1]) == before
        assert lacking_and_unneeded(table) == NOTHING
    for left in (len(ids) - 2, 2):
        table.expire_changelogs(retain_max=left + 1, retain_min=left + 1, max_deletes=100)
        assert changelog_ids(table) == ids[-1 - left : -1]
        found = changes(table, ids[-1] - left, ids[-1])
        assert found == {each: before[each] for each in found}
        assert lacking_and_unneeded(table) == NOTHING
    assert table.expire_changelogs(delete_all=True) == 2
    assert changelog_ids(table) == []
    assert lacking_and_unneeded(table) == NOTHING
    assert rows_at(table) == sorted_rows(built.rows)


@pytest.mark.parametrize("name", ["no producer", "input"])
def test_commits_keep_as_many_changelogs_as_the_table_asks_for(name: str) -> None:
    options = {"changelog.num-retained.max": "6", "changelog.num-retained.min": "4"}
    own = {"snapshot.num-retained.max": "3", "snapshot.num-retained.min": "2"}
    built = build_table(SHAPES[name].with_options({**options, **own}))
    for number in range(12):
        write(built, number, number + 1)
        assert lacking_and_unneeded(built.table) == NOTHING
    ids = ids_of(built.table)
    assert len(ids) == 3
    assert changelog_ids(built.table) == list(range(ids[0] - 3, ids[0]))
    paths = built.table.parts().paths
    assert built.file_io.read(paths.latest_changelog_hint) == b"%d" % (ids[0] - 1)
    assert built.file_io.read(paths.earliest_changelog_hint) == b"%d" % (ids[0] - 3)
    assert rows_at(built.table) == sorted_rows(built.rows)


def test_an_old_changelog_goes_when_its_time_is_over_and_the_newest_one_stays() -> None:
    options = {"changelog.time-retained": "2 h", "snapshot.num-retained.min": "1"}
    built = build_table(SHAPES["input"].with_options(options))
    for number in range(3):
        write(built, number)
    hours = 3_600_000
    for since, kept in ((1.5, [1, 2]), (2.5, [2])):
        now = EPOCH_MS + round(since * hours)
        later = reopen(built.table, built.file_io, seed=kept[0], clock=partial(int, now))
        later.append(built.arrow([built.shape.row(50, 0)]))
        assert changelog_ids(built.table) == kept
    assert lacking_and_unneeded(built.table) == NOTHING


def test_a_consumer_keeps_changelogs_and_only_these_where_the_table_says_so() -> None:
    for more in ({}, {"consumer.changelog-only": "true"}):
        built = built_longer("append")
        built.table = with_more(built.table, more)
        last = ids_of(built.table)[-1]
        Consumers(built.file_io, built.table.parts().paths).record("job", 3)
        keep(built.table, 1)
        assert ids_of(built.table) == ([last] if more else list(range(3, last + 1)))
        built.table.expire_changelogs(retain_max=1, retain_min=1)
        found = changes(built.table, 3, last)
        assert any(found.values())


def with_more(table: Table, options: dict[str, str]) -> Table:
    return replace(table, schema=replace(table.schema, options={**table.options, **options}))


def without_longer(table: Table) -> Table:
    options = {key: text for key, text in table.options.items() if key not in LONGER}
    return replace(table, schema=replace(table.schema, options=options))


@pytest.mark.parametrize("name", SHAPES)
def test_changelogs_go_with_their_snapshots_when_they_are_kept_longer_no_more(name: str) -> None:
    built = built_longer(name)
    keep(built.table, 3)
    table = without_longer(built.table)
    consumers = Consumers(built.file_io, table.parts().paths)
    consumers.record("job", 1)
    keep(table, 2)
    consumers.reset("job", None)
    before = changelog_ids(table)
    assert before
    keep(table, 1)
    assert changelog_ids(table) == []
    assert lacking_and_unneeded(table)[0] == set()
    assert rows_at(table) == sorted_rows(built.rows)


@pytest.mark.parametrize("name", ["no producer", "input"])
def test_a_tag_keeps_its_files_when_the_changelog_of_its_snapshot_expires(name: str) -> None:
    built = build_table(SHAPES[name].with_options({**LONGER, **MOST}), STEPS[:2])
    put_tag(built.table, "held", ids_of(built.table)[-1])
    tagged = rows_at(built.table)
    for step in STEPS[2:]:
        built.take(step)
    keep(built.table, 1)
    for _ in range(3):
        built.table.expire_changelogs(retain_max=1, retain_min=1, max_deletes=3)
        assert rows_at(built.table, tag="held") == tagged
        assert lacking_and_unneeded(built.table) == NOTHING
