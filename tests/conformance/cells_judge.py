"""Lakebed writes a cell's table; do the real Paimon and its other clients read it, and write on?

Beside it the real Paimon writes the same rows into a table of its own, a twin. Rows are compared
with what was worked out apart from all of them, metadata with the twin's.
"""

import base64
import datetime as dt
import functools
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

import lakebed
from conformance import cells_metadata
from conformance.cells import Cell, Rows
from conformance.cells_oracle import expected_rows
from conformance.encoding import count_arrow, count_java, spark_type
from lakebed.errors import InvalidTableError, LakebedError, UnsupportedError
from lakebed.format.arrow.types import to_arrow_schema
from support.golden_answers import SparkType
from tools.peers.flink import Flink
from tools.peers.process import PeerError, PeerProcess, read_ipc
from tools.peers.referee import Referee

Json = Any
Types = dict[str, SparkType]

# How a client says that it does not take such a table; any other error of it is a violation, but
# for that of pypaimon-rust about ORC's timestamps, which it has with files of the real Paimon too.
REFUSALS = {
    "pypaimon": ("NotImplementedError", "nsupported", "not supported"),
    "pypaimon-rust": ("nsupported", "not supported", "Overflow while decoding timestamp"),
}


@dataclass(slots=True)
class CellVerdict:
    """What came of a cell.

    Attributes:
        reads: How many reads were compared, by reader.
        refusal: Why Lakebed does not write the table; None where it does.
        peer_refusals: What the others refuse, as the reader and the gist of its message.
        violations: A text for each disagreement.
    """

    reads: Counter[str] = field(default_factory=Counter)
    refusal: str | None = None
    peer_refusals: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


class Readers:
    """The peers, one process each for all cells; a context manager that ends them."""

    def __init__(self, warehouse: Path) -> None:
        """Starts them.

        Args:
            warehouse: Where the tables of all cells will be.
        """
        self._stack = ExitStack()
        self.warehouse = warehouse
        lakebed.load_catalog(warehouse=str(warehouse)).create_database("db")
        self.referee = Referee()
        self._stack.callback(self.referee.close)
        self.flink = Flink(warehouse)
        self._stack.callback(self.flink.close)
        self.python = {
            name: self._stack.enter_context(PeerProcess(name))
            for name in ("pypaimon", "pypaimon-rust")
        }

    def __enter__(self) -> Self:
        """The readers."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends them."""
        self.close()

    def close(self) -> None:
        """Ends them."""
        self._stack.close()


def judge_cell(cell: Cell, readers: Readers) -> CellVerdict:
    """Writes and reads the tables of one cell."""
    verdict = CellVerdict()
    trial = _Trial(cell, readers, verdict)
    try:
        trial.run()
    except (UnsupportedError, InvalidTableError) as error:
        verdict.refusal = str(error).split("\n")[0].replace(str(readers.warehouse), "WAREHOUSE")
    except LakebedError as error:
        verdict.violations.append(f"Lakebed failed: {error!r}")
    except PeerError as error:
        verdict.violations.append(f"a peer failed: {error}")
    if not verdict.violations:
        trial.clean()
    return verdict


class _Trial:
    """One cell's way."""

    def __init__(self, cell: Cell, readers: Readers, verdict: CellVerdict) -> None:
        self._cell = cell
        self._verdict = verdict
        self._readers = readers
        self._referee = readers.referee
        database = readers.warehouse / "db.db"
        self._ours = database / f"cell_{cell.seed}"
        self._twin = database / f"twin_{cell.seed}"

    def run(self) -> None:
        """Carries out all steps; what is wrong stands in the verdict."""
        cell = self._cell
        self._create()
        for place, rows in enumerate(cell.writes[:3]):
            if place == 2 and cell.change is not None:
                for table in self._tables:
                    self._referee.alter(table, [cell.change])
            self._write(rows)
        self._compare_metadata()
        self._read(cell.writes[:3], compacted=0)
        before = self._go_on()
        self._compare_metadata()
        self._read(before, compacted=len(before), by_all=False)
        self._write(cell.writes[4])
        self._compare_metadata()
        self._read([*before, cell.writes[4]], compacted=len(before))

    def clean(self) -> None:
        """Deletes the tables; of a cell that failed they are worth a look."""
        for table in (self._ours, self._twin):
            shutil.rmtree(table, ignore_errors=True)
            _rows_file(table).unlink(missing_ok=True)

    def _create(self) -> None:
        cell, schema = self._cell, self._cell.schema()
        catalog = lakebed.load_catalog(warehouse=str(self._readers.warehouse))
        catalog.create_table(
            f"db.{self._ours.name}",
            schema=lakebed.schema([(name, type_text(kind)) for name, kind in cell.columns.items()]),
            primary_key=list(cell.primary_key),
            partition_by=list(cell.partition_by),
            options=dict(cell.options),
        )
        if self._has_twin:
            self._referee.create(self._twin, schema)

    def _write(self, rows: Rows) -> None:
        table = lakebed.load_table(str(self._ours))
        data = to_arrow(rows, table)
        if self._cell.primary_key:
            table.upsert(data)
        else:
            table.append(data)
        if self._has_twin:
            self._referee.write(self._twin, rows, assign=True)

    @property
    def _has_twin(self) -> bool:
        """Whether the Java API can write such a table: the engines bring what it lacks."""
        return self._cell.choices["bucket"] not in {"cross-partition", "postpone"}

    @property
    def _tables(self) -> list[Path]:
        return [self._ours, self._twin] if self._has_twin else [self._ours]

    def _compare_metadata(self) -> None:
        if not self._has_twin:
            return
        found = cells_metadata.compare(self._ours, self._twin, self._referee)
        self._verdict.reads["metadata"] += 1
        self._verdict.violations += [str(difference) for difference in found]

    def _read(self, writes: Sequence[Rows], *, compacted: int, by_all: bool = True) -> None:
        """Compares what is read with what must be; `by_all`, or by Java and Lakebed alone."""
        answer = self._referee.read(self._ours)
        types = {name: spark_type(kind) for name, kind in answer.columns}
        rows = expected_rows(self._cell, writes, compacted=compacted)
        wanted = count_java(rows, types)
        for name, read in self._reads(types, by_all=by_all):
            self._compare(name, wanted, read, types=types)

    def _reads(
        self, types: Types, *, by_all: bool
    ) -> Iterator[tuple[str, Callable[[], Counter[str]]]]:
        readers, ours = self._readers, self._ours
        if self._has_twin:
            yield "Java's twin", lambda: count_java(self._referee.read(self._twin).rows, types)
        yield "Java", lambda: count_java(self._referee.read(ours).rows, types)
        yield "Lakebed", lambda: count_arrow(lakebed.load_table(str(ours)).scan().to_arrow(), types)
        if not by_all:
            return
        yield "Flink", lambda: count_java(readers.flink.read(ours), types)
        for name, process in readers.python.items():
            yield name, functools.partial(_read_by, process, ours, types)

    def _compare(
        self, name: str, wanted: Counter[str], read: Callable[[], Counter[str]], *, types: Types
    ) -> None:
        verdict = self._verdict
        try:
            found = read()
        except PeerError as error:
            if any(text in str(error) for text in REFUSALS.get(name, ())):
                verdict.peer_refusals[f"{name}: {gist(error)}"] += 1
            else:
                verdict.violations.append(f"{name} fails: {error}")
            return
        verdict.reads[name] += 1
        if found == wanted:
            return
        if self._is_own_fault(name, found, types):
            verdict.peer_refusals[f"{name}: reads other rows than Java, Flink and Lakebed do"] += 1
        else:
            lacking, surplus = list(wanted - found), list(found - wanted)
            verdict.violations.append(f"{name} lacks {lacking[:2]}, has {surplus[:2]} too many")

    def _is_own_fault(self, name: str, found: Counter[str], types: Types) -> bool:
        """Whether a Python client finds these rows in the twin as well, or there is no twin."""
        process = self._readers.python.get(name)
        if process is None or not self._has_twin:
            return process is not None
        return _read_by(process, self._twin, types) == found

    def _go_on(self) -> Sequence[Rows]:
        """The real Paimon writes on, and it or Lakebed compacts everything.

        Returns:
            What has been written then.
        """
        for table in self._tables:
            if self._has_twin:
                self._referee.write(table, self._cell.writes[3], assign=True)
            if table == self._ours and self._cell.choices["compaction"] == "by Lakebed":
                lakebed.load_table(str(table)).compact()
            else:
                self._referee.compact(table, full=True)
        return self._cell.writes[: 4 if self._has_twin else 3]


def _read_by(process: PeerProcess, table: Path, types: Types) -> Counter[str]:
    out = _rows_file(table)
    process.ask("read", table=str(table), out=str(out))
    rows = read_ipc(out)
    return count_arrow(rows, types) if rows.num_columns else Counter()


def _rows_file(table: Path) -> Path:
    """Where a peer puts the rows of a table."""
    return table.with_suffix(".out.arrow")


def gist(error: PeerError) -> str:
    """What a stack trace or a traceback says, in a line."""
    lines = [line for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    is_python = any(line.startswith("Traceback") or "Traceback" in line for line in lines)
    return (causes[-1] if causes else lines[-1] if is_python else lines[0])[:200]


def type_text(kind: Json) -> str:
    """A type of a schema file as text."""
    if isinstance(kind, str):
        return kind
    match kind["type"].split()[0]:
        case "ARRAY":
            return f"ARRAY<{type_text(kind['element'])}>"
        case "MAP":
            return f"MAP<{type_text(kind['key'])}, {type_text(kind['value'])}>"
        case _:
            fields = (f"{field['name']} {type_text(field['type'])}" for field in kind["fields"])
            return f"ROW<{', '.join(fields)}>"


def to_arrow(rows: Rows, table: lakebed.Table) -> pa.Table:
    """Rows of a cell as Arrow, with their kinds where the table has a key."""
    schema = to_arrow_schema(table.schema.fields)
    columns = {
        field.name: pa.array([_decode(row[place], field.type) for row in rows], field.type)
        for place, field in enumerate(schema, start=1)
    }
    if table.primary_keys:
        columns["_row_kind"] = pa.array([row[0] for row in rows])
    return pa.table(columns)


def _decode(value: Json, kind: pa.DataType) -> object:
    """An encoded value as Python's own."""
    if value is None:
        return None
    if pa.types.is_list(kind):
        return [_decode(element, kind.value_type) for element in value]
    if pa.types.is_map(kind):
        return [(_decode(k, kind.key_type), _decode(v, kind.item_type)) for k, v in value]
    if pa.types.is_struct(kind):
        return {f.name: _decode(value[f.name], f.type) for f in kind.fields}
    decoders: tuple[tuple[Callable[[pa.DataType], bool], Callable[[str], object]], ...] = (
        (pa.types.is_decimal, Decimal),
        (pa.types.is_date, dt.date.fromisoformat),
        (pa.types.is_time, dt.time.fromisoformat),
        (pa.types.is_timestamp, dt.datetime.fromisoformat),
        (pa.types.is_floating, float),
        (pa.types.is_binary, base64.b64decode),
    )
    decode = next((decode for fits, decode in decoders if fits(kind)), None)
    return decode(value) if decode is not None else value
