"""Tables with branches, and what tests ask of them."""

from dataclasses import replace

import pyarrow as pa

from lakebed.table.branches import branch_table
from lakebed.table.table import Table
from support.expiring_tables import NOTHING, ids_of, rows_at
from support.needed_files import lacking_and_unneeded, put_tag
from support.store_listing import list_files
from support.table_builder import BuiltTable, Row


def tag_names(table: Table) -> list[str]:
    """Names of the tags, in order."""
    statuses = table.file_io.list(table.parts().paths.tag_directory)
    return sorted(each.name.removeprefix("tag-") for each in statuses)


def branch_names(table: Table) -> list[str]:
    """Names of the directories of branches, in order."""
    statuses = table.file_io.list(f"{table.location}/branch")
    return sorted(each.name.removeprefix("branch-") for each in statuses)


def past_of(table: Table) -> dict[int, list[Row]]:
    """The rows of each snapshot."""
    return {each: rows_at(table, each) for each in ids_of(table)}


def opened(built: BuiltTable, name: str) -> BuiltTable:
    """A branch as a table of its own that goes on from where the table is."""
    table = branch_table(built.table, name)
    return BuiltTable(built.shape, table, built.file_io, list(built.rows), dict(built.past))


def forked(built: BuiltTable, snapshot_id: int) -> BuiltTable:
    """The branch `dev`, made of a tag `fork` of a snapshot, as `opened`."""
    put_tag(built.table, "fork", snapshot_id)
    built.table.create_branch("dev", "fork")
    return opened(built, "dev")


def add_column(table: Table, name: str) -> Table:
    """The table with one more schema."""
    parts = table.parts()
    newest = parts.schemas.latest()
    assert newest is not None
    field = replace(newest.fields[-1], id=newest.highest_field_id + 1, name=name)
    schema = replace(
        newest,
        id=newest.id + 1,
        fields=(*newest.fields, field),
        highest_field_id=field.id,
        time_millis=newest.time_millis + len(name),
    )
    parts.schemas.put(schema)
    return replace(table, schema=schema)


def arrow(table: Table, rows: list[Row]) -> pa.Table:
    """Rows in the types of a table; null where they have no value."""
    return pa.Table.from_pylist(rows, schema=table.scan().schema)


def check_no_traces(built: BuiltTable, *branches: str) -> None:
    """No file is missing or in vain, and none is there for a while only."""
    assert lacking_and_unneeded(built.table, branches) == NOTHING
    assert not [path for path in list_files(built.file_io, "memory:/") if "lakebed-" in path]


def check_whole(built: BuiltTable, newest: int, *branches: str) -> None:
    """The newest snapshot and the hint say so, and nothing is missing or in vain."""
    latest = built.table.latest_snapshot()
    assert latest is not None
    assert latest.id == newest
    assert built.file_io.read(built.table.parts().paths.latest_hint) == b"%d" % newest
    check_no_traces(built, *branches)
