"""What is asked of a table while its files are damaged, and which files each question looks at."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

import pyarrow as pa

from fuzz.specimens import Specimen
from lakebed.errors import LakebedError
from lakebed.format.arrow.typing import ArrowChunks
from lakebed.storage.file_io import FileStatus
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.system.registry import SYSTEM_TABLES, VIEW_TABLES
from lakebed.table.table import Table
from support.effects import WAREHOUSE, open_catalog
from support.golden_answers import golden_queries

LOCATION = f"{WAREHOUSE}/db.db/t"

Rows = str
"""Rows as text, in order: values of any type are compared with themselves, NaN too."""

Read = Callable[[MemoryFileIO], Rows]


class WatchedFileIO(MemoryFileIO):
    """Files in memory of one age, which note what is looked at."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(clock=lambda: 0)
        for path, data in files.items():
            self.write(f"{LOCATION}/{path}", data)
        self.looked_at: set[str] = set()

    def read(self, path: str) -> bytes:
        self._note(path)
        return super().read(path)

    def read_range(self, path: str, *, offset: int, length: int) -> bytes:
        self._note(path)
        return super().read_range(path, offset=offset, length=length)

    def open_input(self, path: str) -> pa.NativeFile:
        self._note(path)
        return super().open_input(path)

    def exists(self, path: str) -> bool:
        self._note(path)
        return super().exists(path)

    def list(self, path: str) -> list[FileStatus]:
        found = super().list(path)
        for status in found:
            self._note(status.path)
        return found

    def _note(self, path: str) -> None:
        self.looked_at.add(path.removeprefix(f"{LOCATION}/"))


@dataclass(frozen=True, slots=True)
class Question:
    """A read of a specimen, and what comes of it while nothing is damaged.

    Attributes:
        name: For a report.
        read: Opens the table in a store and reads.
        rows: The right answer.
        paths: Files that were looked at.
    """

    name: str
    read: Read = field(repr=False)
    rows: Rows = field(repr=False)
    paths: frozenset[str] = field(repr=False)


@cache
def questions_of(specimen: Specimen) -> tuple[Question, ...]:
    """Everything that is asked of a specimen and that can be answered."""
    found = []
    for name, read in _reads(specimen).items():
        store = WatchedFileIO(specimen.files)
        try:
            rows = read(store)
        except LakebedError:
            continue  # asks for what the specimen no longer has, or was never to be answered
        found.append(Question(name, read, rows, frozenset(store.looked_at)))
    return tuple(found)


def _reads(specimen: Specimen) -> dict[str, Read]:
    reads: dict[str, Read] = {
        "count": lambda store: str(_open(store).scan().count()),
        "explain": lambda store: _open(store).scan().explain(),
    }
    for name in (*SYSTEM_TABLES, *VIEW_TABLES):
        reads[f"${name}"] = _asking({"system_table": name})
    for branch in specimen.branches:
        reads[f"$branch_{branch}$tags"] = _asking({"system_table": f"branch_{branch}$tags"})
    for query in golden_queries(specimen.golden):
        reads.setdefault(json.dumps(query.args), _asking(query.args))
    return reads


def _asking(args: Mapping[str, object]) -> Read:
    incremental = args.get("incremental")
    given: dict[str, object] = {
        "columns": args.get("columns"),
        "where": args.get("filter_sql"),
        "snapshot_id": args.get("snapshot"),
        "tag": args.get("tag"),
    }
    if isinstance(incremental, dict):
        given["incremental"] = (incremental["start"], incremental["end"])
        given["incremental_mode"] = incremental.get("mode", "auto")
    suffix = f"${args['system_table']}" if args.get("system_table") else ""

    def read(store: MemoryFileIO) -> Rows:
        scan: Callable[..., object] = _open(store, suffix).scan
        return str(_columns(scan(**given)))

    return read


def _open(store: MemoryFileIO, suffix: str = "") -> Table:
    return open_catalog(store).load_table(f"db.t{suffix}")


def _columns(scan: object) -> list[str]:
    to_arrow: Callable[[], pa.Table] = getattr(scan, "to_arrow")  # noqa: B009 - any kind of scan
    rows = to_arrow()
    # Arrow's own text: Python has no dates of the year 10000, which a file may hold.
    return [f"{rows.schema}", *map(_text, rows.columns)]


def _text(column: ArrowChunks) -> str:
    window = max(len(column), 1)
    return column.combine_chunks().to_string(window=window, container_window=1 << 20)
