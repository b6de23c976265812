"""Tables that show the rows of another: with kinds, in arrays, without merges, with row ids."""

import pickle

import pyarrow as pa
import pytest

import golden_adapter
import lakebed
from golden_adapter import plain
from lakebed.errors import InvalidArgumentError, NotFoundError, UnsupportedError
from lakebed.table.branches import branch_table
from lakebed.table.change_tables import (
    AuditLogTable,
    BinlogTable,
    ReadOptimizedTable,
    RowTrackingTable,
    ViewTable,
)
from lakebed.table.metadata.branches import Branches
from lakebed.table.table import Table
from support.golden_answers import GoldenQuery, golden_queries
from support.table_builder import Shape, Step, build_table, sorted_rows

DATABASE = golden_adapter.__file__.removesuffix("golden_adapter.py") + "golden/warehouse/db.db"
KINDS: dict[str, type[ViewTable]] = {
    "audit_log": AuditLogTable,
    "binlog": BinlogTable,
    "ro": ReadOptimizedTable,
    "row_tracking": RowTrackingTable,
}
TABLES = (
    *("agg_retract", "append_dml_cow", "append_dv", "cl_input", "cl_lookup", "evolve_pk"),
    *("first_row", "pk_dv", "pk_rowkind_field", "pu_remove_on_delete", "row_tracking"),
)
QUERIES = [
    query
    for table in TABLES
    for query in golden_queries(table)
    if query.args.get("system_table") in KINDS
]


def golden(name: str) -> Table:
    return lakebed.load_table(f"{DATABASE}/{name}", {"lakebed.time-zone": "UTC"})


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: f"{query.table}: {query.id}")
def test_rows_are_those_of_the_real_engine(query: GoldenQuery) -> None:
    table = KINDS[query.args["system_table"]].over(golden(query.table))
    wanted = query.args.get("incremental")
    scan = table.scan(
        incremental=(wanted["start"], wanted["end"]) if wanted else None,
        incremental_mode=wanted.get("mode", "auto") if wanted else "auto",
    )
    rows = scan.to_arrow()
    assert query.difference(plain(rows).to_pylist()) is None
    assert scan.count() == rows.num_rows
    assert [name for name, _ in query.columns] == table.schema.names
    plan = pickle.loads(pickle.dumps(scan.plan()))
    batches = [batch for split in plan.splits for batch in plan.reader.read(split)]
    assert pa.Table.from_batches(batches, scan.schema).num_rows == rows.num_rows


def test_each_kind_of_table_is_asked() -> None:
    assert {query.args["system_table"] for query in QUERIES} == set(KINDS)


def test_kinds_and_columns_can_be_chosen_by() -> None:
    audit = AuditLogTable.over(golden("cl_input"))
    scan = audit.scan(
        ["id", "rowkind"], where="rowkind IN ('-D', '-U') AND id < 3", incremental=(1, 5)
    )
    assert sorted_rows(scan.to_arrow()) == [
        {"id": 1, "rowkind": "-U"},
        {"id": 2, "rowkind": "-D"},
    ]
    assert audit.scan([], where="rowkind = '-D'", incremental=(1, 5)).count() == 2
    assert audit.scan(limit=2, incremental=(1, 5)).to_arrow().num_rows == 2
    with pytest.raises(InvalidArgumentError, match="no column 'kind'"):
        audit.scan(["kind"])


@pytest.mark.parametrize("step", [Step("delete", (1,)), Step("overwrite", (0, 2, 3))])
def test_a_comparison_tells_rows_that_went(step: Step) -> None:
    built = build_table(Shape(buckets=1), [Step("write", range(4)), step])
    ids = [{row["id"] for row in built.past[number]} for number in (1, max(built.past))]
    scan = AuditLogTable.over(built.table).scan(
        ["rowkind", "id"],
        where="rowkind = '-D'",
        incremental=(1, max(built.past)),
        incremental_mode="diff",
    )
    went = ids[0] - ids[1]
    assert len(went) == 1
    assert scan.to_arrow().to_pylist() == [{"rowkind": "-D", "id": went.pop()}]


def test_an_update_is_one_row_of_the_binlog() -> None:
    binlog = BinlogTable.over(golden("cl_input"))
    scan = binlog.scan(where="rowkind = '+U'", incremental=(1, 5), incremental_mode="changelog")
    assert scan.to_arrow().to_pylist() == [
        {"rowkind": "+U", "id": [1, 1], "v": ["a", "a2"], "p": ["x", "x"]}
    ]
    with pytest.raises(UnsupportedError, match="comparison"):
        binlog.scan(incremental=(1, 5), incremental_mode="diff").plan()


def test_sequence_numbers_show_where_the_table_says_so() -> None:
    built = build_table(
        Shape(buckets=1).with_options({"table-read.sequence-number.enabled": "true"}),
        [Step("write", range(3)), Step("write", (1,))],
    )
    audit = AuditLogTable.over(built.table)
    assert audit.schema.names[:3] == ["rowkind", "_SEQUENCE_NUMBER", "id"]
    # The second commit goes on from 3, with the only row that the first one lost.
    newest = audit.scan(["rowkind"], where="_SEQUENCE_NUMBER = 3")
    assert newest.to_arrow().to_pylist() == [{"rowkind": "+I"}]


def test_rows_of_a_table_without_a_key_are_inserted_ones() -> None:
    built = build_table(Shape(has_primary_key=False, buckets=-1), [Step("write", range(3))])
    found = AuditLogTable.over(built.table).scan(["rowkind"]).to_arrow()
    assert found["rowkind"].to_pylist() == ["+I"] * 3


def test_row_ids_can_be_chosen_by() -> None:
    tracked = RowTrackingTable.over(golden("row_tracking"))
    rows = tracked.scan(["v"], where="_ROW_ID = 25 AND _SEQUENCE_NUMBER = 3").to_arrow()
    assert rows.to_pylist() == [{"v": "u"}]
    assert tracked.scan(snapshot_id=1).count() == 20
    first = tracked.scan(["_ROW_ID", "_SEQUENCE_NUMBER"], snapshot_id=1, where="id = 19")
    assert first.to_arrow().to_pylist() == [{"_ROW_ID": 19, "_SEQUENCE_NUMBER": 1}]
    with pytest.raises(InvalidArgumentError, match="has no row ids"):
        RowTrackingTable.over(golden("cl_input"))


@pytest.mark.parametrize("kind", [AuditLogTable, ReadOptimizedTable])
def test_nothing_is_written_through_a_view(kind: type[ViewTable]) -> None:
    view = kind.over(build_table(Shape(), [Step("write", range(3))]).table)
    with pytest.raises(UnsupportedError, match="can only be read"):
        view.truncate()
    with pytest.raises(UnsupportedError, match="can only be read"):
        view.append(pa.table({"id": [1]}))


def test_a_view_travels_in_time() -> None:
    audit = AuditLogTable.over(golden("cl_input"))
    assert audit.scan(snapshot_id=1).count() == 3
    assert audit.scan(["id"], options={"scan.snapshot-id": 1}).count() == 3


def test_a_branch_is_read_with_its_own_snapshots() -> None:
    table = golden("tags_branches")
    assert Branches(table.file_io, table.parts().paths).list_names() == ["dev", "other"]
    for query in golden_queries("tags_branches"):
        name = query.args.get("system_table") or ""
        if name.startswith("branch_") and "$" not in name:
            branch = branch_table(table, name.removeprefix("branch_"))
            assert query.difference(plain(branch.scan().to_arrow()).to_pylist()) is None
            assert branch_table(branch, "main") == table
    dev = branch_table(table, "dev")
    assert dev.name.endswith("tags_branches$branch_dev")
    assert AuditLogTable.over(dev).scan().count() == dev.scan().count()
    with pytest.raises(NotFoundError, match=r"branch 'devel' does not exist\. There is dev, other"):
        branch_table(table, "devel")
    with pytest.raises(NotFoundError, match=r"branch '\.\./x'"):
        branch_table(table, "../x")
