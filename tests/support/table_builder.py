"""Tables from independent axes: key type x primary key or append x buckets x partitions x history.

A history is a list of steps that the real write path takes; beside it runs a model, a dict of the
rows that must be there, so that any test of any shape knows its answer. `SHAPES` and `HISTORIES`
are meant to be crossed.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

import pyarrow as pa

from lakebed.format.arrow.types import to_arrow_schema
from lakebed.format.schema_definition import schema
from lakebed.storage.file_io import FileIO
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog

Row = dict[str, object]
KeyKind = Literal["bigint", "string", "decimal", "date", "timestamp", "composite"]

KEY_COLUMNS: dict[KeyKind, tuple[tuple[str, str], ...]] = {
    "bigint": (("id", "BIGINT NOT NULL"),),
    "string": (("id", "STRING NOT NULL"),),
    "decimal": (("id", "DECIMAL(20, 2) NOT NULL"),),
    "date": (("id", "DATE NOT NULL"),),
    "timestamp": (("id", "TIMESTAMP(6) NOT NULL"),),
    "composite": (("id", "INT NOT NULL"), ("name", "STRING NOT NULL")),
}
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What kind of table.

    Attributes:
        key: Type of the key columns; of the first columns of an append table.
        has_primary_key: Whether rows are upserted by them.
        buckets: `bucket`; -1 for unaware.
        is_partitioned: Whether `dt` partitions the table.
        options: More options.
    """

    key: KeyKind = "bigint"
    has_primary_key: bool = True
    buckets: int = 2
    is_partitioned: bool = False
    options: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Short, for the ids of tests."""
        kind = "pk" if self.has_primary_key else "append"
        return f"{kind}-{self.key}-b{self.buckets}{'-dt' if self.is_partitioned else ''}"

    @property
    def key_names(self) -> list[str]:
        """The key columns, those of the partition aside."""
        return [name for name, _ in KEY_COLUMNS[self.key]]

    def with_options(self, options: Mapping[str, str]) -> "Shape":
        """The shape with more options."""
        return replace(self, options=(*self.options, *options.items()))

    def columns(self) -> list[tuple[str, str]]:
        """Names and types of all columns."""
        partition = [("dt", "STRING NOT NULL" if self.has_primary_key else "STRING")]
        rest = [("amount", "DOUBLE"), ("note", "STRING")]
        return [*KEY_COLUMNS[self.key], *(partition if self.is_partitioned else []), *rest]

    def row(self, number: int, version: int) -> Row:
        """The row of a key at a version; the same key is always in the same partition."""
        values = _key_values(self.key, number)
        row: Row = dict(zip(self.key_names, values, strict=True))
        if self.is_partitioned:
            row["dt"] = DAYS[number % len(DAYS)]
        row["amount"] = number + version / 8
        row["note"] = None if (number + version) % 5 == 0 else f"note {number} v{version}"
        return row


def _key_values(key: KeyKind, number: int) -> tuple[object, ...]:
    match key:
        case "bigint":
            return (number - 5,)
        case "string":
            return (f"{'long ' * (number % 3)}key ä{number}",)
        case "decimal":
            return (Decimal(number - 3) * Decimal("1000000000000.25"),)
        case "date":
            return (dt.date(1969, 12, 25) + dt.timedelta(days=number),)
        case "timestamp":
            start = dt.datetime(1969, 12, 31, 23, 59, 58)  # noqa: DTZ001 - TIMESTAMP has no zone
            return (start + dt.timedelta(microseconds=number * 500_001),)
        case "composite":
            return (number // 2, f"n{number % 2}")


@dataclass(frozen=True, slots=True)
class Step:
    """One commit of a history.

    Attributes:
        kind: What is done.
        numbers: The rows that it is done to.
    """

    kind: Literal["write", "delete", "overwrite", "truncate"]
    numbers: Sequence[int] = ()


HISTORIES: dict[str, tuple[Step, ...]] = {
    "empty": (),
    "one-commit": (Step("write", range(12)),),
    "overlapping": (
        Step("write", range(12)),
        Step("write", range(6, 18)),
        Step("write", range(0, 18, 3)),
    ),
    "deleted": (
        Step("write", range(12)),
        Step("delete", range(0, 12, 4)),
        Step("write", (4, 20)),
    ),
    "overwritten": (Step("write", range(12)), Step("overwrite", range(3, 9))),
    "truncated": (Step("write", range(12)), Step("truncate"), Step("write", (1, 2))),
}

SHAPES: tuple[Shape, ...] = (
    *(Shape(key=key) for key in KEY_COLUMNS),
    Shape(buckets=1, is_partitioned=True),
    Shape(key="string", buckets=3, is_partitioned=True),
    Shape(key="composite", buckets=1, is_partitioned=True),
    Shape(has_primary_key=False, buckets=-1),
    Shape(has_primary_key=False, buckets=-1, is_partitioned=True),
    Shape(key="string", has_primary_key=False, buckets=2),
    Shape(key="timestamp", has_primary_key=False, buckets=3, is_partitioned=True),
)


@dataclass(slots=True)
class BuiltTable:
    """A table and what it must hold.

    Attributes:
        shape: How it was made.
        table: The table.
        file_io: Its store.
        rows: The rows that it must hold, in no order.
        past: The rows of each snapshot, by id.
    """

    shape: Shape
    table: Table
    file_io: FileIO
    rows: list[Row] = field(default_factory=list)
    past: dict[int, list[Row]] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        """Takes a step, on the table and in the model."""
        version = len(self.past)
        changed = [self.shape.row(number, version) for number in step.numbers]
        match step.kind:
            case "write":
                self.table.append(self.arrow(changed))
                self.rows = self._without(changed) + changed
            case "delete":
                for row in changed:
                    self.table.delete(self._condition(row))
                self.rows = self._without(changed, always=True)
            case "overwrite":
                self.table.overwrite(self.arrow(changed))
                self.rows = changed
            case "truncate":
                self.table.truncate()
                self.rows = []
        latest = self.table.latest_snapshot()
        assert latest is not None
        self.past[latest.id] = list(self.rows)

    def arrow(self, rows: Sequence[Row]) -> pa.Table:
        """Rows in the types of the table."""
        return pa.Table.from_pylist(list(rows), schema=to_arrow_schema(self.table.schema.fields))

    def _without(self, changed: Sequence[Row], *, always: bool = False) -> list[Row]:
        if not (self.shape.has_primary_key or always):
            return list(self.rows)
        gone = {self._key(row) for row in changed}
        return [row for row in self.rows if self._key(row) not in gone]

    def _key(self, row: Row) -> tuple[object, ...]:
        return tuple(row[name] for name in self.shape.key_names)

    def _condition(self, row: Row) -> str:
        return " AND ".join(f"{name} = {literal(row[name])}" for name in self.shape.key_names)


def literal(value: object) -> str:
    """A value as Spark SQL spells it."""
    match value:
        case str():
            return f"'{value}'"
        case dt.datetime():
            return f"TIMESTAMP_NTZ '{value.isoformat(sep=' ', timespec='microseconds')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case Decimal():
            return f"CAST('{value}' AS DECIMAL(20, 2))"
        case _:
            return str(value)


def build_table(
    shape: Shape,
    history: Sequence[Step] = (),
    *,
    file_io: FileIO | None = None,
    warehouse: str = "memory:/lake",
    session: dict[str, str] | None = None,
) -> BuiltTable:
    """Makes a table and takes it through a history."""
    store = MemoryFileIO() if file_io is None else file_io
    catalog = open_catalog(store, warehouse=warehouse, options=session)
    catalog.create_database("db", ignore_if_exists=True)
    options = {"bucket": str(shape.buckets), **dict(shape.options)}
    if not shape.has_primary_key and shape.buckets > 0:
        options["bucket-key"] = shape.key_names[0]
    partition = ["dt"] if shape.is_partitioned else []
    table = catalog.create_table(
        "db.t",
        schema=schema(shape.columns()),
        primary_key=[*shape.key_names, *partition] if shape.has_primary_key else [],
        partition_by=partition,
        options=options,
    )
    built = BuiltTable(shape, table, store)
    for step in history:
        built.take(step)
    return built


def sorted_rows(rows: pa.Table | Sequence[Row]) -> list[Row]:
    """Rows in one order, for comparing what has none."""
    listed: list[Row] = rows.to_pylist() if isinstance(rows, pa.Table) else list(rows)
    return sorted(listed, key=lambda row: [(name, repr(value)) for name, value in row.items()])
