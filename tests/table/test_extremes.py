"""`scan.min` and `scan.max`, from metadata and from rows."""

import math
from pathlib import Path

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import InvalidArgumentError
from lakebed.format.arrow.typing import ArrowArray
from lakebed.table.table import Table

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


def make(path: Path, **columns: ArrowArray) -> Table:
    schema = pa.schema([(name, values.type) for name, values in columns.items()])
    catalog = lakebed.load_catalog(warehouse=str(path))
    catalog.create_database("db")
    table = catalog.create_table("db.t", schema=schema)
    table.append(pa.table(columns))
    return table


@pytest.mark.parametrize(
    "name", ["append_many_commits", "append_stats_modes", "pk_dv", "pk_history"]
)
def test_extremes_are_those_of_the_rows(name: str) -> None:
    table = lakebed.load_table(str(GOLDEN / "warehouse" / "db.db" / name))
    rows = table.scan().to_arrow()
    for field in rows.schema:
        if pa.types.is_nested(field.type) or pa.types.is_floating(field.type):
            continue
        values = [value for value in rows.column(field.name).to_pylist() if value is not None]
        assert table.scan().min(field.name) == min(values)
        assert table.scan().max(field.name) == max(values)


def test_extremes_of_exact_bounds_open_no_data_file(tmp_path: Path) -> None:
    table = make(tmp_path, i=pa.array([3, 1, None]))
    for path in (tmp_path / "db.db" / "t" / "bucket-0").iterdir():
        path.unlink()
    assert (table.scan().min("i"), table.scan().max("i")) == (1, 3)


def test_extremes_under_a_condition_are_those_of_the_rows_that_meet_it(tmp_path: Path) -> None:
    table = make(tmp_path, i=pa.array([3, 1, 7]))
    assert table.scan(where="i > 1").min("i") == 3
    assert table.scan(where="i < 7").max("i") == 3
    assert table.scan(where="i > 9").max("i") is None


def test_nan_is_the_greatest_float_and_the_least_only_when_alone(tmp_path: Path) -> None:
    table = make(tmp_path, d=pa.array([1.5, math.nan, None]), n=pa.array([math.nan, None, None]))
    assert table.scan().min("d") == 1.5
    assert math.isnan(float(str(table.scan().max("d"))))
    assert math.isnan(float(str(table.scan().min("n"))))


def test_a_column_without_an_order_has_no_extremes(tmp_path: Path) -> None:
    table = make(tmp_path, a=pa.array([[1]], pa.list_(pa.int64())))
    with pytest.raises(InvalidArgumentError, match="'a' has values without an order"):
        table.scan().max("a")
