"""The forms of an answer: columns, conditions, limits, counts, frames, types."""

import datetime as dt
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog
from support.table_builder import DAYS, HISTORIES, BuiltTable, Shape, build_table, sorted_rows

KEYED = Shape(buckets=2, is_partitioned=True)
UNAWARE = Shape(has_primary_key=False, buckets=-1, is_partitioned=True)
BOTH = pytest.mark.parametrize("shape", [KEYED, UNAWARE], ids=str)

ATOMIC_TYPES: dict[str, tuple[pa.DataType, object]] = {
    "BOOLEAN": (pa.bool_(), True),
    "TINYINT": (pa.int8(), -7),
    "SMALLINT": (pa.int16(), -300),
    "INT": (pa.int32(), 70_000),
    "BIGINT": (pa.int64(), 1 << 40),
    "FLOAT": (pa.float32(), 1.5),
    "DOUBLE": (pa.float64(), 1e300),
    "DECIMAL(9, 2)": (pa.decimal128(9, 2), Decimal("12.30")),
    "DECIMAL(38, 10)": (pa.decimal128(38, 10), Decimal("-1.0000000001")),
    "CHAR(4)": (pa.string(), "ab  "),
    "VARCHAR(10)": (pa.string(), "zażółć"),
    "STRING": (pa.string(), "🦆"),
    "BINARY(3)": (pa.binary(), b"\x00ab"),
    "VARBINARY(10)": (pa.binary(), b""),
    "BYTES": (pa.binary(), b"\xff"),
    "DATE": (pa.date32(), dt.date(1903, 2, 1)),
    "TIME(0)": (pa.time32("ms"), dt.time(23, 59, 59)),
    "TIME(3)": (pa.time32("ms"), dt.time(1, 2, 3, 4000)),
    "TIMESTAMP(0)": (pa.timestamp("s"), dt.datetime(1969, 12, 31, 23, 59, 59)),  # noqa: DTZ001
    "TIMESTAMP(3)": (pa.timestamp("ms"), dt.datetime(2026, 1, 1, 0, 0, 0, 1000)),  # noqa: DTZ001
    "TIMESTAMP(6)": (pa.timestamp("us"), dt.datetime(2026, 1, 1, 0, 0, 0, 1)),  # noqa: DTZ001
    "TIMESTAMP(3) WITH LOCAL TIME ZONE": (
        pa.timestamp("ms", "UTC"),
        dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    ),
    "TIMESTAMP(6) WITH LOCAL TIME ZONE": (
        pa.timestamp("us", "UTC"),
        dt.datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=dt.UTC),
    ),
    "ARRAY<INT>": (pa.list_(pa.int32()), [1, None, 3]),
    "MAP<STRING, BIGINT>": (pa.map_(pa.string(), pa.int64()), [("a", 1), ("b", None)]),
    "ROW<a INT, b ARRAY<STRING>>": (
        pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))]),
        {"a": None, "b": ["x", None]},
    ),
}


def new_table(columns: list[tuple[str, str]], **options: str) -> Table:
    catalog = open_catalog(MemoryFileIO())
    catalog.create_database("db")
    return catalog.create_table("db.t", schema=schema(columns), options=options)


@pytest.mark.parametrize("kind", ATOMIC_TYPES)
def test_a_value_of_every_type_comes_back_in_the_promised_arrow_type(kind: str) -> None:
    arrow_type, value = ATOMIC_TYPES[kind]
    table = new_table([("id", "INT NOT NULL"), ("v", kind)])
    given = pa.table({"id": pa.array([1, 2], pa.int32()), "v": pa.array([value, None], arrow_type)})
    table.append(given)
    found = table.scan().to_arrow()
    assert found.schema.field("v").type == _loose(arrow_type, found.schema.field("v").type)
    assert found.column("v").to_pylist() == given.column("v").to_pylist()


def _loose(wanted: pa.DataType, found: pa.DataType) -> pa.DataType:
    """The wanted type with the names of the inner fields of lists, which carry no meaning."""
    return found if wanted.equals(found) or str(wanted) == str(found) else wanted


def test_nullability_is_that_of_the_schema() -> None:
    table = new_table([("a", "INT NOT NULL"), ("b", "INT"), ("c", "ARRAY<INT NOT NULL> NOT NULL")])
    table.append(pa.table({"a": [1], "b": [2], "c": [[3]]}))
    found = table.scan().to_arrow().schema
    assert [field.nullable for field in found] == [False, True, False]
    assert not found.field("c").type.value_field.nullable
    keyed = build_table(KEYED, HISTORIES["one-commit"]).table.scan().to_arrow().schema
    assert [field.nullable for field in keyed] == [False, False, True, True]


def test_an_empty_table_has_the_schema_of_a_full_one() -> None:
    empty, full = build_table(KEYED), build_table(KEYED, HISTORIES["one-commit"])
    assert empty.table.scan().to_arrow().schema == full.table.scan().to_arrow().schema
    assert empty.table.scan().schema == full.table.scan().schema
    assert empty.table.scan().to_arrow().num_rows == 0
    assert list(empty.table.scan().to_batches()) == []
    assert empty.table.scan().count() == 0
    assert empty.table.latest_snapshot() is None
    assert "snapshot None" in empty.table.scan().explain()


@BOTH
@pytest.mark.parametrize(
    "names", [["note"], ["note", "id"], ["dt"], ["amount", "dt", "id", "note"]]
)
def test_columns_come_in_the_order_asked(shape: Shape, names: list[str]) -> None:
    built = build_table(shape, HISTORIES["overlapping"])
    found = built.table.scan(columns=names).to_arrow()
    assert found.column_names == names
    wanted = [{name: row[name] for name in names} for row in built.rows]
    assert sorted_rows(found) == sorted_rows(wanted)
    assert list(found.to_pylist()[0]) == names


@BOTH
def test_no_column_at_all_still_counts_the_rows(shape: Shape) -> None:
    built = build_table(shape, HISTORIES["overlapping"])
    scan = built.table.scan(columns=[], where="amount > 3")
    wanted = sum(float(str(row["amount"])) > 3 for row in built.rows)
    assert scan.count() == wanted
    assert scan.to_arrow().num_columns == 0
    assert sum(batch.num_rows for batch in scan.to_batches()) == wanted


@BOTH
@pytest.mark.parametrize("columns", [["id", "id"], ["ID"], ["id", "nothing"], "id"], ids=str)
def test_columns_that_cannot_be_are_refused(shape: Shape, columns: list[str]) -> None:
    table = build_table(shape).table
    with pytest.raises(InvalidArgumentError, match=r"twice|no column '(ID|nothing)'|list of names"):
        table.scan(columns=columns)


CONDITIONS: dict[str, object] = {
    "id > 3": lambda row: row["id"] > 3,
    "id = 3 OR id = -5": lambda row: row["id"] in {3, -5},
    "note IS NULL": lambda row: row["note"] is None,
    "note LIKE '%1 v1'": lambda row: (row["note"] or "").endswith("1 v1"),
    f"dt = '{DAYS[1]}' AND amount < 8": lambda row: row["dt"] == DAYS[1] and row["amount"] < 8,
    f"dt IN ('{DAYS[0]}', '{DAYS[2]}')": lambda row: row["dt"] != DAYS[1],
    "dt > '2026-01-02' OR id = 1": lambda row: row["dt"] == DAYS[2] or row["id"] == 1,
    "NOT (note IS NULL) AND id BETWEEN 0 AND 4": lambda row: row["note"] and 0 <= row["id"] <= 4,
    "id * 2 = amount + 1": lambda row: row["id"] * 2 == row["amount"] + 1,
    "1 = 0": lambda row: False,  # noqa: ARG005 - as all conditions
}


@BOTH
@pytest.mark.parametrize("where", CONDITIONS)
def test_where_keeps_the_rows_for_which_it_is_true(shape: Shape, where: str) -> None:
    built = build_table(shape, HISTORIES["overlapping"])
    matches = CONDITIONS[where]
    assert callable(matches)
    wanted = [row for row in built.rows if matches(row)]
    scan = built.table.scan(where=where)
    assert sorted_rows(scan.to_arrow()) == sorted_rows(wanted)
    assert scan.count() == len(wanted)
    few = built.table.scan(columns=["note"], where=where).to_arrow()
    assert sorted_rows(few) == sorted_rows([{"note": row["note"]} for row in wanted])


def test_where_sees_the_newest_row_of_a_key_alone() -> None:
    built = build_table(Shape(buckets=1))
    built.table.upsert(built.arrow([{"id": 1, "amount": 1.0, "note": "old"}]))
    built.table.upsert(built.arrow([{"id": 1, "amount": 2.0, "note": "new"}]))
    assert built.table.scan(where="note = 'old'").to_arrow().num_rows == 0
    assert built.table.scan(where="amount < 2").count() == 0
    assert built.table.scan(where="note = 'new'").count() == 1


@BOTH
@pytest.mark.parametrize("where", ["nothing = 1", "id =", "id = 'x' y", "", "sum(id) > 3"])
def test_a_bad_condition_is_refused_before_anything_is_read(shape: Shape, where: str) -> None:
    table = build_table(shape, HISTORIES["one-commit"]).table
    with pytest.raises(InvalidArgumentError):
        table.scan(where=where)
    with pytest.raises(InvalidArgumentError):
        table.delete(where)


@BOTH
@pytest.mark.parametrize("limit", [0, 1, 5, 17, 18, 19, 1000])
def test_limit_bounds_the_rows(shape: Shape, limit: int) -> None:
    built = build_table(shape, HISTORIES["overlapping"])
    scan = built.table.scan(limit=limit)
    wanted = min(limit, len(built.rows))
    assert scan.to_arrow().num_rows == wanted
    assert sum(batch.num_rows for batch in scan.to_batches()) == wanted
    assert scan.count() == wanted
    assert all(row in built.rows for row in scan.to_arrow().to_pylist())


def test_a_limit_below_zero_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="limit is -1"):
        build_table(KEYED).table.scan(limit=-1)


@pytest.fixture
def built() -> BuiltTable:
    return build_table(KEYED, HISTORIES["overlapping"])


def test_batches_together_are_the_table(built: BuiltTable) -> None:
    scan = built.table.scan()
    batches = list(scan.to_batches())
    assert all(batch.schema == scan.schema for batch in batches)
    assert sorted_rows(pa.Table.from_batches(batches)) == sorted_rows(built.rows)


def test_polars_frame_has_the_rows(built: BuiltTable) -> None:
    assert sorted_rows(built.table.scan().to_polars().to_dicts()) == sorted_rows(built.rows)


def test_pandas_frame_has_the_rows(built: BuiltTable) -> None:
    frame = built.table.scan().to_pandas()
    assert list(frame.columns) == ["id", "dt", "amount", "note"]
    rows = [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]
    assert sorted_rows(rows) == sorted_rows(built.rows)


def test_duckdb_view_has_the_rows_in_a_new_or_a_given_connection(built: BuiltTable) -> None:
    wanted = sum(float(str(row["amount"])) for row in built.rows)
    question = "SELECT count(*), sum(amount) FROM v"
    assert built.table.scan().to_duckdb("v").sql(question).fetchall() == [(18, wanted)]
    with duckdb.connect() as connection:
        assert built.table.scan(limit=3).to_duckdb("v", connection) is connection
        assert connection.sql("SELECT count(*) FROM v").fetchall() == [(3,)]


def test_several_threads_read_what_one_reads() -> None:
    one = build_table(KEYED, HISTORIES["overlapping"])
    many = build_table(KEYED, HISTORIES["overlapping"], session={"lakebed.read.threads": "4"})
    assert sorted_rows(many.table.scan().to_arrow()) == sorted_rows(one.table.scan().to_arrow())


def test_two_points_in_time_are_refused() -> None:
    table = build_table(KEYED, HISTORIES["one-commit"]).table
    with pytest.raises(InvalidArgumentError, match="snapshot_id and tag both say what to read"):
        table.scan(snapshot_id=1, tag="v1")
    with pytest.raises(InvalidArgumentError, match="incremental_mode says nothing"):
        table.scan(incremental_mode="diff")


@pytest.mark.parametrize("wrong", [True, "1", 1.0])
def test_a_snapshot_id_that_is_no_whole_number_is_refused(wrong: object) -> None:
    table = build_table(KEYED, HISTORIES["one-commit"]).table
    with pytest.raises(InvalidArgumentError, match="snapshot_id is a whole number"):
        table.scan(snapshot_id=wrong)  # type: ignore[arg-type]  # the point
