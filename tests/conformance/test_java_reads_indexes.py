"""The real Paimon 1.4.2 filters by the indexes that Lakebed made, and finds what is there."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import lakebed
from lakebed.format.arrow.typing import ArrowScalar, python_values, scalar_of
from lakebed.table.table import Table
from support.indexed_files import append_indexed, as_they_are
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers

Condition = tuple[str, str, Any]

ROW_COUNT = 150_000
EPOCH = np.datetime64("2024-01-01", "us")
SCHEMA = lakebed.schema(
    [
        ("id", "BIGINT"),
        ("color", "STRING"),
        ("city", "STRING"),
        ("price", "DECIMAL(12, 2)"),
        ("day", "DATE"),
        ("at", "TIMESTAMP(6)"),
        ("ratio", "DOUBLE"),
        ("is_new", "BOOLEAN"),
        ("size", "SMALLINT"),
    ]
)
INDEXES = {
    "bloom-filter": "id,city,day",
    "bitmap": "color,city,is_new,ratio,size",
    "bsi": "id,price,at",
    "range-bitmap": "color,price,day,at,ratio,size,is_new",
}
SETTINGS = {
    "file-index.bloom-filter.id.items": "10000",
    "file-index.bloom-filter.city.items": "10000",
    "file-index.bloom-filter.day.items": "10000",
    "file-index.bitmap.color.version": "1",
    "file-index.bitmap.city.index-block-size": "64 b",
    "file-index.range-bitmap.price.chunk-size": "128 b",
    "file-index.range-bitmap.color.chunk-size": "16 b",
}
WHERE: list[list[Condition]] = [
    [("id", "=", 77)],
    [("id", "=", ROW_COUNT + 5)],
    [("id", "<", -100)],
    [("id", ">=", 149_990)],
    [("color", "=", "red")],
    [("color", "<>", "red")],
    [("color", ">", "green")],
    [("color", "=", "no such")],
    [("color", "IS NULL", None)],
    [("color", "IS NOT NULL", None)],
    [("city", "=", "city 42")],
    [("city", "=", "Zażółć")],
    [("price", "=", "10.50")],
    [("price", "<", "-3.00")],
    [("price", ">=", "24.25")],
    [("day", "=", "2024-01-31")],
    [("day", "<=", "2024-01-02")],
    [("at", "=", "2024-01-01T00:01:17.000005")],
    [("at", "<", "2024-01-01T00:00:00.500000")],
    [("ratio", "=", 0.25)],
    [("ratio", ">", 0.97)],
    [("is_new", "=", True)],
    [("size", "=", -7)],
    [("size", ">", 90)],
    [("color", "=", "red"), ("size", "=", 5), ("is_new", "=", False)],
    [("color", "=", "blue"), ("price", "IS NULL", None)],
]


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


def many_rows() -> pa.Table:
    number = np.arange(ROW_COUNT)
    colors = np.array(["red", "green", "blue", "black"])[(number // 20_000) % 4]
    cities = [f"city {n % 50}" if n % 1000 else "Zażółć" for n in number.tolist()]
    prices = [None if n % 11 == 0 else Decimal(n % 3000 - 500) / 100 for n in number.tolist()]
    return pa.table(
        {
            "id": pa.array(np.where(number % 9 == 0, -number, number)),
            "color": pa.array(colors, mask=number % 7 == 3),
            "city": cities,
            "price": pa.array(prices, pa.decimal128(12, 2)),
            "day": pa.array(EPOCH.astype("datetime64[D]") + number % 60),
            "at": pa.array(EPOCH + number % 90 * 1_000_000 + number % 9),
            "ratio": pa.array((number % 64) / 64, mask=number % 5 == 0),
            "is_new": number % 100 == 5,
            "size": pa.array(number % 109 - 9, pa.int16()),
        }
    )


ROWS = many_rows()


def table_in(warehouse: Path, options: Mapping[str, str], primary_key: tuple[str, ...]) -> Table:
    catalog = lakebed.load_catalog(warehouse=str(warehouse))
    catalog.create_database("db")
    columns = {f"file-index.{kind}.columns": names for kind, names in INDEXES.items()}
    return catalog.create_table(
        "db.t",
        schema=SCHEMA,
        primary_key=list(primary_key),
        options={**columns, **SETTINGS, **options},
    )


def literal(column: str, value: object) -> ArrowScalar:
    kind = ROWS.schema.field(column).type
    if isinstance(value, str) and not pa.types.is_string(kind):
        return scalar_of(value).cast(kind)
    return scalar_of(value, kind)


def matching(rows: pa.Table, where: list[Condition]) -> pa.Table:
    """By pyarrow alone."""
    comparisons = {
        "=": pc.equal,
        "<>": pc.not_equal,
        "<": pc.less,
        "<=": pc.less_equal,
        ">": pc.greater,
        ">=": pc.greater_equal,
    }
    for column, sign, value in where:
        values = rows[column].combine_chunks()
        match sign:
            case "IS NULL":
                mask = values.is_null()
            case "IS NOT NULL":
                mask = values.is_valid()
            case _:
                mask = comparisons[sign](values, literal(column, value))
        rows = rows.filter(mask)
    return rows


def found_by(referee: Referee, table: Table, where: list[Condition]) -> list[int]:
    """The ids of the rows that match, in order."""
    # Paimon leaves out a condition on a column that is not read.
    columns = dict.fromkeys(["id", *(column for column, _, _ in where)])
    answer = referee.read(Path(table.location), columns=list(columns), where=where)
    return sorted(row[0] for row in answer.rows)


def ids(rows: pa.Table) -> list[int]:
    return sorted(python_values(rows["id"]))


@pytest.mark.parametrize("threshold", ["10 mb", "1 kb"])
def test_the_real_paimon_finds_by_our_indexes_what_the_rows_hold(
    threshold: str, referee: Referee, tmp_path: Path
) -> None:
    table = table_in(tmp_path, {"file-index.in-manifest-threshold": threshold}, ())
    append_indexed(table, ROWS)
    for where in WHERE:
        assert found_by(referee, table, where) == ids(matching(ROWS, where)), where


LIES: list[tuple[str, str, list[Condition]]] = [
    ("bloom-filter", "id", [("id", "=", 77)]),
    ("bloom-filter", "city", [("city", "=", "city 42")]),
    ("bitmap", "color", [("color", "=", "red")]),
    ("bitmap", "size", [("size", "=", 5)]),
    ("bsi", "price", [("price", "<", "-3.00")]),
    ("bsi", "at", [("at", "=", "2024-01-01T00:01:17.000005")]),
    ("range-bitmap", "day", [("day", "<=", "2024-01-02")]),
    ("range-bitmap", "ratio", [("ratio", ">", 0.97)]),
]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: f"{lie[0]}-{lie[1]}")
def test_the_real_paimon_believes_an_index_that_says_the_rows_are_others(
    lie: tuple[str, str, list[Condition]], referee: Referee, tmp_path: Path
) -> None:
    index_type, column, where = lie
    catalog = lakebed.load_catalog(warehouse=str(tmp_path))
    catalog.create_database("db")
    options = {f"file-index.{index_type}.columns": column}
    table = catalog.create_table("db.t", schema=SCHEMA, options=options)
    matches = matching(ROWS, where)
    other = ROWS.filter(pc.invert(pc.is_in(ROWS[column], matches[column].combine_chunks())))
    append_indexed(table, ROWS, indexed=lambda rows: other.take(np.arange(len(rows)) % len(other)))
    assert matches.num_rows
    assert found_by(referee, table, where) == []
    append_indexed(table, ROWS, indexed=as_they_are)
    assert found_by(referee, table, where) == ids(matches)


def test_the_real_paimon_finds_rows_of_a_primary_key_table_by_our_indexes(
    referee: Referee, tmp_path: Path
) -> None:
    table = table_in(tmp_path, {"bucket": "2"}, ("id",))
    first, second = ROWS.slice(0, 20_000), ROWS.slice(10_000, 20_000)
    newer = second.set_column(1, "color", pa.array(["white"] * second.num_rows))
    append_indexed(table, first)
    append_indexed(table, newer)
    live = pa.concat_tables([first.slice(0, 10_000), newer])
    for where in [*WHERE, [("color", "=", "white")]]:
        assert found_by(referee, table, where) == ids(matching(live, where)), where
