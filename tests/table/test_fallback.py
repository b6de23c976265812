"""Two branches read as one, partition by partition."""

from dataclasses import replace

import pytest

from lakebed.errors import InvalidTableError, UnsupportedError
from lakebed.format.paths import TablePaths
from lakebed.table.branches import branch_table
from support.table_builder import BuiltTable, Row, Shape, Step, build_table, sorted_rows

PARTITIONED = Shape(buckets=1, is_partitioned=True)


def two_branches(shape: Shape = PARTITIONED) -> tuple[BuiltTable, BuiltTable]:
    """A table with a partition or two, and its branch `b` with other rows in all of them."""
    main = build_table(shape, [Step("write", (0, 3))])
    location = main.table.location
    paths = TablePaths(location)
    schema = main.file_io.read(paths.schema(0))
    main.file_io.write(paths.of_branch("b").schema(0), schema)
    branch = BuiltTable(shape=shape, table=branch_table(main.table, "b"), file_io=main.file_io)
    branch.take(Step("write", range(6)))
    branch.take(Step("write", range(6, 9)))
    return main, branch


def mixed(first: list[Row], second: list[Row]) -> list[Row]:
    taken = {row["dt"] for row in first}
    return sorted_rows([*first, *(row for row in second if row["dt"] not in taken)])


def test_partitions_that_are_missing_come_from_the_fallback() -> None:
    main, branch = two_branches()
    scan = main.table.scan(options={"scan.fallback-branch": "b"})
    wanted = mixed(main.rows, branch.rows)
    assert {row["dt"] for row in main.rows} != {row["dt"] for row in branch.rows}
    assert sorted_rows(scan.to_arrow()) == wanted
    assert scan.count() == len(wanted)
    assert sorted_rows(main.table.scan().to_arrow()) == sorted_rows(main.rows)


def test_the_primary_branch_goes_first() -> None:
    main, branch = two_branches()
    scan = main.table.scan(options={"scan.primary-branch": "b"})
    assert sorted_rows(scan.to_arrow()) == mixed(branch.rows, main.rows)


def test_a_partition_is_never_mixed_whatever_the_condition() -> None:
    main, branch = two_branches()
    options = {"scan.fallback-branch": "b"}
    for row in branch.rows:
        where = f"id = {row['id']}"
        found = main.table.scan(where=where, options=options).to_arrow()
        wanted = [each for each in mixed(main.rows, branch.rows) if each["id"] == row["id"]]
        assert sorted_rows(found) == wanted


def test_the_past_of_one_branch_is_that_of_the_other() -> None:
    main, branch = two_branches()
    main.take(Step("write", (1,)))
    options = {"scan.fallback-branch": "b"}
    now = main.table.scan(snapshot_id=2, options=options)
    assert sorted_rows(now.to_arrow()) == mixed(main.past[2], branch.rows)


def test_what_cannot_be_read_as_one_is_refused() -> None:
    main, _ = two_branches()
    with pytest.raises(UnsupportedError, match="changes of two branches"):
        main.table.scan(incremental=(0, 1), options={"scan.fallback-branch": "b"})
    missing = main.table.scan(options={"scan.fallback-branch": "none"})
    assert sorted_rows(missing.to_arrow()) == sorted_rows(main.rows)
    paths = TablePaths(main.table.location, branch="b")
    fewer = replace(main.table.schema, id=1, fields=main.table.schema.fields[:-1])
    main.file_io.write(paths.schema(1), fewer.to_json())
    with pytest.raises(InvalidTableError, match="both branches must have the same"):
        main.table.scan(options={"scan.fallback-branch": "b"})
