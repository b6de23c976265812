"""Random lives of tables with deletion vectors against a model that is a dict of visible rows."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.format.arrow.typing import python_values
from lakebed.format.schema_definition import schema
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog
from support.index_files import unnamed_files

Act = tuple[str, tuple[int, int]]

CONDITIONS: list[tuple[str, Callable[[int, int], bool]]] = [
    ("id < 6", lambda key, _: key < 6),
    ("id >= 20 AND id < 50", lambda key, _: 20 <= key < 50),
    ("v < 2", lambda _, v: v < 2),
    ("id > 60 OR v = 3", lambda key, v: key > 60 or v == 3),
]
ACTS = st.tuples(
    st.sampled_from(
        ["write", "write", "delete", "update", "compact full", "compact minor", "truncate"]
    ),
    st.tuples(st.integers(0, 80), st.integers(1, 30)),
)
SETTINGS = st.fixed_dictionaries(
    {
        "deletion-vectors.bitmap64": st.sampled_from(["true", "false"]),
        "deletion-vector.index-file.target-size": st.sampled_from(["1 b", "60 b", "2 mb"]),
        "compaction.min.file-num": st.sampled_from(["2", "3"]),
        "compaction.delete-ratio-threshold": st.sampled_from(["0", "0.5"]),
        "compaction.small-file-ratio": st.sampled_from(["0", "0.7"]),
        "target-file-row-num": st.sampled_from(["7", "1000"]),
        "num-levels": st.sampled_from(["2", "3", "5"]),
        "num-sorted-run.compaction-trigger": st.sampled_from(["1", "3"]),
        "write-only": st.sampled_from(["true", "false"]),
    }
)
APPEND = {"unaware": {"bucket": "-1"}, "bucketed": {"bucket": "2", "bucket-key": "id"}}
KEYED = {
    "deduplicate": {"bucket": "1"},
    "sums": {
        "bucket": "1",
        "merge-engine": "aggregation",
        "fields.v.aggregate-function": "sum",
    },
}


@dataclass
class Life:
    """A table and what it must show.

    Attributes:
        table: The table.
        store: Its store.
        shown: The rows that a scan finds.
        past: Those of each snapshot.
        written: The rows of a table with a key, with those that wait for a compaction.
    """

    table: Table
    store: MemoryFileIO
    shown: Counter[tuple[int, int]] = field(default_factory=Counter)
    past: dict[int, Counter[tuple[int, int]]] = field(default_factory=dict)
    written: dict[int, int] = field(default_factory=dict)

    def check(self) -> None:
        snapshot = self.table.latest_snapshot()
        found = rows_in(self.table)
        assert found == self.shown
        assert self.table.scan().count() == self.shown.total()
        if snapshot is not None:
            self.past[snapshot.id] = self.shown.copy()

    def check_history(self) -> None:
        for snapshot_id, rows in self.past.items():
            assert rows_in(self.table, snapshot_id) == rows
        assert unnamed_files(self.table, self.store) == set()


def rows_in(table: Table, snapshot_id: int | None = None) -> Counter[tuple[int, int]]:
    found = table.scan(snapshot_id=snapshot_id).to_arrow()
    columns = (python_values(found[name]) for name in ("id", "v"))
    return Counter(zip(*columns, strict=True))


def live_of(options: dict[str, str], *, is_keyed: bool) -> Life:
    store = MemoryFileIO()
    catalog = open_catalog(store, options={"lakebed.merge.memory": "1 kb"})
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        schema=schema([("id", "INT NOT NULL"), ("v", "INT")]),
        primary_key=["id"] if is_keyed else [],
        options={"deletion-vectors.enabled": "true", **options},
    )
    return Life(table, store)


def data_of(start: int, count: int, v: int) -> pa.Table:
    ids = pa.array(range(start, start + count), pa.int32())
    return pa.table({"id": ids, "v": pa.array([v] * count, pa.int32())})


@given(kind=st.sampled_from(sorted(APPEND)), options=SETTINGS, acts=st.lists(ACTS, max_size=12))
@settings(max_examples=15, deadline=None)
def test_an_append_table_shows_what_was_written_and_not_deleted(
    kind: str, options: dict[str, str], acts: list[Act]
) -> None:
    life = live_of({**options, **APPEND[kind]}, is_keyed=False)
    for step, (act, (start, count)) in enumerate(acts):
        match act:
            case "write":
                life.table.append(data_of(start, count, step))
                life.shown.update((key, step) for key in range(start, start + count))
            case "delete":
                condition, matches = CONDITIONS[start % len(CONDITIONS)]
                life.table.delete(condition)
                life.shown = Counter({row: n for row, n in life.shown.items() if not matches(*row)})
            case "update":
                condition, matches = CONDITIONS[start % len(CONDITIONS)]
                life.table.update({"v": "v + id - 3"}, condition)
                after: Counter[tuple[int, int]] = Counter()
                for (key, v), n in life.shown.items():
                    after[key, v + key - 3 if matches(key, v) else v] += n
                life.shown = after
            case "truncate":
                life.table.truncate()
                life.shown.clear()
            case _:
                life.table.compact("full" if act == "compact full" else "minor")
        life.check()
    life.check_history()


def change_some(life: Life, act: str, number: int) -> None:
    """Deletes rows that are shown, or updates those that are written."""
    condition, matches = CONDITIONS[number % len(CONDITIONS)]
    if act == "delete":
        life.table.delete(condition)
        for row in life.shown:
            if matches(*row):
                life.written.pop(row[0], None)
    else:
        life.table.update({"v": "v + id - 3"}, condition)
        for key, v in life.written.items():
            life.written[key] = v + key - 3 if matches(key, v) else v


@given(
    kind=st.sampled_from(sorted(KEYED)),
    options=SETTINGS,
    merges=st.booleans(),
    acts=st.lists(ACTS, max_size=12),
)
@settings(max_examples=15, deadline=None)
def test_a_table_with_a_key_shows_each_key_as_its_last_compaction_left_it(
    *, kind: str, options: dict[str, str], merges: bool, acts: list[Act]
) -> None:
    merging = {"deletion-vectors.merge-on-read": "true"} if merges else {}
    life = live_of({**options, **KEYED[kind], **merging}, is_keyed=True)
    waits = options["write-only"] == "true" and not merges
    for step, (act, (start, count)) in enumerate(acts):
        match act:
            case "write":
                life.table.upsert(data_of(start, count, step))
                for key in range(start, start + count):
                    older = life.written.get(key, 0) if kind == "sums" else 0
                    life.written[key] = older + step
            case "delete" | "update" if kind == "deduplicate":
                change_some(life, act, start)
            case "truncate":
                life.table.truncate()
                life.written.clear()
                life.shown.clear()
            case "compact full" | "compact minor":
                life.table.compact("full" if act == "compact full" else "minor")
            case _:
                pass
        if not waits or act.startswith("compact"):
            life.shown = Counter(life.written.items())
        life.check()
    life.check_history()
