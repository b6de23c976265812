"""Every shape of table through every history reads as its model says, now and as of then."""

import pytest

from support.table_builder import HISTORIES, SHAPES, Shape, build_table, literal, sorted_rows


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("history", HISTORIES)
def test_table_reads_as_its_model_now_and_then(shape: Shape, history: str) -> None:
    built = build_table(shape, HISTORIES[history])
    scan = built.table.scan()
    assert sorted_rows(scan.to_arrow()) == sorted_rows(built.rows)
    assert scan.count() == len(built.rows)
    for snapshot_id, rows in built.past.items():
        then = built.table.scan(snapshot_id=snapshot_id)
        assert sorted_rows(then.to_arrow()) == sorted_rows(rows)
        assert then.count() == len(rows)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_condition_on_the_key_finds_its_row_alone(shape: Shape) -> None:
    built = build_table(shape, HISTORIES["overlapping"])
    name = shape.key_names[0]
    for row in built.rows[:6]:
        wanted = [other for other in built.rows if other[name] == row[name]]
        scan = built.table.scan(where=f"{name} = {literal(row[name])}")
        assert sorted_rows(scan.to_arrow()) == sorted_rows(wanted)
        assert scan.count() == len(wanted)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_merging_in_a_tiny_budget_changes_no_row(shape: Shape) -> None:
    built = build_table(shape, HISTORIES["overlapping"], session={"lakebed.merge.memory": "1 kb"})
    assert sorted_rows(built.table.scan().to_arrow()) == sorted_rows(built.rows)
    assert built.table.scan().count() == len(built.rows)
