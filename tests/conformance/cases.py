"""The tables that Lakebed and its peers hand to each other: what is written, in which order.

A case is data: a schema, the rows of Lakebed's commits, the rows that a peer writes on top, and
rows that Lakebed writes after that. What must be read is computed here, by a dict keyed by the
primary key, never by the code under test.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

import lakebed

Row = dict[str, object]
UTC = dt.UTC


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One table.

    Attributes:
        name: Names the table and the test.
        schema: Arrow schema of the table.
        ours: Rows of Lakebed's commits, one list a commit.
        theirs: Rows of the peer's commit on top.
        ours_again: Rows of Lakebed's commit on top of the peer's.
        deleted: Keys that Lakebed deletes after `ours`; needs a primary key of one column.
        primary_key: Empty for an append table.
        partition_by: Partition columns.
        options: Table options.
    """

    name: str
    schema: pa.Schema
    ours: Sequence[Sequence[Row]]
    theirs: Sequence[Row]
    ours_again: Sequence[Row]
    deleted: Sequence[int] = ()
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)

    def expected(self, *commits: Sequence[Row]) -> list[Row]:
        """What the table holds after some commits, `deleted` included once it has happened."""
        rows = [row for commit in (*self.ours, *commits) for row in commit]
        if not self.primary_key:
            return rows
        live = {self._key(row): row for commit in self.ours for row in commit}
        for key in self.deleted:
            del live[(key,)]
        live.update({self._key(row): row for commit in commits for row in commit})
        return list(live.values())

    def arrow(self, rows: Sequence[Row]) -> pa.Table:
        """Rows as the table has them."""
        return pa.Table.from_pylist(list(rows), schema=self.schema)

    def write(self, warehouse: Path) -> Path:
        """Has Lakebed make the table, with the rows of `ours` less `deleted`; its directory."""
        catalog = lakebed.load_catalog(warehouse=str(warehouse))
        catalog.create_database("db")
        table = catalog.create_table(
            f"db.{self.name}",
            schema=self.schema,
            primary_key=list(self.primary_key),
            partition_by=list(self.partition_by),
            options=self.options,
        )
        for rows in self.ours:
            table.append(self.arrow(rows))
        for key in self.deleted:
            table.delete(where=f"{self.primary_key[0]} = {key}")
        return warehouse / "db.db" / self.name

    def _key(self, row: Row) -> tuple[object, ...]:
        return tuple(row[name] for name in self.primary_key)


def _key_value(ids: Sequence[int], text: str) -> list[Row]:
    return [{"id": number, "v": f"{text}-{number}", "n": number * 10} for number in ids]


def _schema(columns: dict[str, pa.DataType], *, required: Sequence[str] = ()) -> pa.Schema:
    return pa.schema(
        [pa.field(name, kind, nullable=name not in required) for name, kind in columns.items()]
    )


KEY_VALUE = _schema(
    {"id": pa.int64(), "v": pa.string(), "n": pa.int32()},
    required=["id"],
)

PRIMITIVES = _schema(
    {
        "id": pa.int32(),
        "b": pa.bool_(),
        "i8": pa.int8(),
        "i16": pa.int16(),
        "i64": pa.int64(),
        "f": pa.float32(),
        "d": pa.float64(),
        "dec9": pa.decimal128(9, 2),
        "dec18": pa.decimal128(18, 6),
        "dec38": pa.decimal128(38, 10),
        "s": pa.string(),
        "bin": pa.binary(),
        "day": pa.date32(),
        "ts3": pa.timestamp("ms"),
        "ts6": pa.timestamp("us"),
        "ltz": pa.timestamp("us", tz="UTC"),
    }
)


def _primitives(number: int) -> Row:
    sign = -1 if number % 2 else 1
    return {
        "id": number,
        "b": number % 2 == 0,
        "i8": sign * 127,
        "i16": sign * 32767,
        "i64": sign * (2**63 - 1),
        "f": sign * 1.5,
        "d": sign * 1e300,
        "dec9": Decimal("9999999.99").copy_sign(Decimal(sign)),
        "dec18": Decimal("1.000001").copy_sign(Decimal(sign)),
        "dec38": Decimal("9999999999999999999999999999.9999999999").copy_sign(Decimal(sign)),
        "s": f"zażółć 🦆 {number}",
        "bin": bytes(range(number % 256)),
        "day": dt.date(1969, 12, 31) if sign < 0 else dt.date(2024, 2, 29),
        "ts3": dt.datetime(1969, 12, 31, 23, 59, 59, 999000),  # noqa: DTZ001 - a local timestamp
        "ts6": dt.datetime(2024, 2, 29, 12, 34, 56, 123456),  # noqa: DTZ001 - a local timestamp
        "ltz": dt.datetime(2024, 2, 29, 12, 34, 56, 123456, tzinfo=UTC),
    }


_NULLS: Row = {**dict.fromkeys(PRIMITIVES.names), "id": 0}

TYPED_KEY = _schema(
    {
        "d": pa.date32(),
        "t": pa.timestamp("us"),
        "e": pa.decimal128(10, 2),
        "b": pa.binary(),
        "v": pa.int32(),
    },
    required=["d", "t", "e", "b"],
)


def _typed_key(number: int, commit: int) -> Row:
    start = dt.datetime(1969, 12, 31, 23, 59, 50, 1)  # noqa: DTZ001 - a local timestamp
    return {
        "d": dt.date(1969, 12, 20) + dt.timedelta(days=number),
        "t": start + dt.timedelta(seconds=number, microseconds=number),
        "e": Decimal(number - 15) / 4,
        "b": bytes([255, number]) * (number % 6),
        "v": commit,
    }


NESTED = _schema(
    {
        "id": pa.int32(),
        "a": pa.list_(pa.int32()),
        "m": pa.map_(pa.string(), pa.int64()),
        "st": pa.struct([("x", pa.int32()), ("y", pa.string())]),
        "deep": pa.list_(pa.struct([("p", pa.float64()), ("q", pa.list_(pa.string()))])),
    }
)


def _nested(number: int) -> Row:
    return {
        "id": number,
        "a": [number, None, -number],
        "m": [("k", number), ("none", None)],
        "st": {"x": number, "y": None},
        "deep": [{"p": number / 2, "q": ["a", None]}, {"p": None, "q": []}],
    }


PARTITIONED = _schema({"id": pa.int64(), "p": pa.string(), "d": pa.date32()})
_NAMES = ("plain", "a b/c=d:e%f", "%41", "żółć", "a+b", None)
_DAYS = (dt.date(2024, 1, 1), dt.date(1969, 12, 31), None)


def _partitioned(start: int) -> list[Row]:
    places = [(name, day) for name in _NAMES for day in _DAYS]
    return [{"id": start + at, "p": name, "d": day} for at, (name, day) in enumerate(places)]


CASES = (
    Case(
        name="append_unaware",
        schema=KEY_VALUE,
        ours=[_key_value(range(100), "a"), _key_value(range(50, 60), "b")],
        theirs=_key_value(range(5), "peer"),
        ours_again=_key_value(range(7), "c"),
    ),
    Case(
        name="append_bucketed",
        schema=KEY_VALUE,
        options={"bucket": "4", "bucket-key": "id"},
        ours=[_key_value(range(100), "a"), _key_value(range(50, 60), "b")],
        theirs=_key_value(range(5), "peer"),
        ours_again=_key_value(range(7), "c"),
    ),
    Case(
        name="pk_deduplicate",
        schema=KEY_VALUE,
        primary_key=("id",),
        options={"bucket": "2"},
        ours=[
            _key_value(range(100), "a"),
            _key_value(range(50, 150), "b"),
            _key_value(range(90, 110), "c"),
        ],
        deleted=(3, 95, 149),
        theirs=_key_value([3, 96, 500], "peer"),
        ours_again=_key_value([3, 97, 501], "d"),
    ),
    Case(
        name="pk_partitioned",
        schema=_schema(
            {"dt": pa.string(), "k": pa.string(), "amount": pa.decimal128(20, 3)},
            required=["dt", "k"],
        ),
        primary_key=("dt", "k"),
        partition_by=("dt",),
        options={"bucket": "3"},
        ours=[
            [
                {"dt": day, "k": key * 5, "amount": Decimal(f"{commit}.125")}
                for day in ("2024-01-01", "2024-01-02")
                for key in "abcdefghij"[commit:]
            ]
            for commit in range(3)
        ],
        theirs=[{"dt": "2024-01-02", "k": "aaaaa", "amount": Decimal("-7.5")}],
        ours_again=[{"dt": "2024-01-03", "k": "new", "amount": None}],
    ),
    Case(
        name="pk_key_types",
        schema=TYPED_KEY,
        primary_key=("d", "t", "e", "b"),
        options={"bucket": "5"},
        ours=[[_typed_key(number, commit) for number in range(30)] for commit in range(2)],
        theirs=[_typed_key(number, 7) for number in range(10, 40)],
        ours_again=[_typed_key(number, 8) for number in range(35, 45)],
    ),
    Case(
        name="primitives",
        schema=PRIMITIVES,
        ours=[[_NULLS, *(_primitives(number) for number in range(1, 10))], [_NULLS]],
        theirs=[_NULLS, _primitives(11)],
        ours_again=[_primitives(12)],
    ),
    Case(
        name="nested",
        schema=NESTED,
        ours=[[_nested(number) for number in range(5)], [{**dict.fromkeys(NESTED.names), "id": 9}]],
        theirs=[_nested(20)],
        ours_again=[_nested(21)],
    ),
    Case(
        name="partition_names",
        schema=PARTITIONED,
        partition_by=("p", "d"),
        ours=[_partitioned(0), _partitioned(100)],
        theirs=_partitioned(200),
        ours_again=_partitioned(300),
    ),
)
