"""Random lives of small tables against a model that is a dict, or a list where there is no key.

Tiny budgets make every path that a large table takes be taken: spills, rolled files, merges by key
range, merged manifests.
"""

from collections import Counter
from collections.abc import Callable

import pyarrow as pa
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.table import Table
from support.effects import open_catalog, reopen
from support.store_listing import orphans, snapshot_ids

Row = tuple[int, str | None, int | None, str | None]  # id, dt, n, v

DAYS = ["d1", "d2", "d/3 "]
ROWS = st.tuples(
    st.integers(-3, 12),
    st.sampled_from(DAYS),
    st.none() | st.integers(-100, 100),
    st.none() | st.sampled_from(["", "a", "abc" * 20, "ż🦆"]),
)
COMMITS = st.lists(ROWS, max_size=25)
CONDITIONS: dict[str, Callable[[Row], bool]] = {
    "id = 3": lambda row: row[0] == 3,
    "id > 6 AND n IS NOT NULL": lambda row: row[0] > 6 and row[2] is not None,
    "dt = 'd2'": lambda row: row[1] == "d2",
    "dt <> 'd2' AND id < 2": lambda row: row[1] != "d2" and row[0] < 2,
    "n < 0": lambda row: row[2] is not None and row[2] < 0,
    "v = '' OR n = 7": lambda row: row[3] == "" or row[2] == 7,
    "v IS NULL": lambda row: row[3] is None,
    "v LIKE 'abc%'": lambda row: row[3] is not None and row[3].startswith("abc"),
    "NOT (n >= 0)": lambda row: row[2] is not None and row[2] < 0,
    "id IN (1, 5, 9) OR dt = 'd/3 '": lambda row: row[0] in {1, 5, 9} or row[1] == "d/3 ",
}
UPDATES: dict[str, tuple[dict[str, object], Callable[[Row], Row]]] = {
    "a count": (
        {"n": "n + 1"},
        lambda row: (row[0], row[1], None if row[2] is None else row[2] + 1, row[3]),
    ),
    "each from another": (
        {"v": "CAST(n AS STRING)", "n": "id * 2 - 1"},
        lambda row: (row[0], row[1], row[0] * 2 - 1, None if row[2] is None else str(row[2])),
    ),
    "constants": ({"n": None, "v": "'new'"}, lambda row: (row[0], row[1], None, "new")),
}
MOVES: dict[str, tuple[dict[str, object], Callable[[Row], Row]]] = {
    "a partition": ({"dt": "'d2'"}, lambda row: (row[0], "d2", row[2], row[3])),
    "a bucket": ({"id": "-id"}, lambda row: (-row[0], row[1], row[2], row[3])),
    "both": ({"dt": "v", "id": 4}, lambda row: (4, row[3], row[2], row[3])),
}
SETTINGS = st.fixed_dictionaries(
    {
        "write-buffer-size": st.sampled_from(["1 b", "600 b", "1 mb"]),
        "target-file-row-num": st.sampled_from(["2", "7", "1000"]),
        "manifest.merge-min-count": st.sampled_from(["2", "30"]),
        "manifest.full-compaction-threshold-size": st.sampled_from(["1 b", "16 mb"]),
        "source.split.target-size": st.sampled_from(["1 b", "128 mb"]),
        "metadata.stats-mode": st.sampled_from(["none", "counts", "truncate(2)", "full"]),
    }
)


class TableLife(RuleBasedStateMachine):
    """What any table does; the model is a multiset of rows."""

    is_keyed: bool

    @initialize(
        options=SETTINGS,
        buckets=st.sampled_from([1, 3, -1]),
        is_partitioned=st.booleans(),
        memory=st.sampled_from(["1 b", "1 kb", "64 mb"]),
        has_vectors=st.booleans(),
    )
    def make(
        self,
        *,
        options: dict[str, str],
        buckets: int,
        is_partitioned: bool,
        memory: str,
        has_vectors: bool,
    ) -> None:
        self.store = MemoryFileIO()
        catalog = open_catalog(self.store, options={"lakebed.merge.memory": memory})
        catalog.create_database("db")
        count = abs(buckets) if self.is_keyed else buckets
        given = {**options, "bucket": str(count)}
        if not self.is_keyed and count > 0:
            given["bucket-key"] = "id"
        if not self.is_keyed and has_vectors:
            given["deletion-vectors.enabled"] = "true"
        self.table: Table = catalog.create_table(
            "db.t",
            schema=schema([("id", "INT"), ("dt", "STRING"), ("n", "BIGINT"), ("v", "STRING")]),
            primary_key=["id", "dt"] if self.is_keyed else [],
            partition_by=["dt"] if is_partitioned else [],
            options=given,
        )
        self.is_partitioned = is_partitioned
        self.rows: list[Row] = []
        self.past: dict[int, list[Row]] = {}
        self.seed = 100

    @rule(rows=COMMITS)
    def append(self, rows: list[Row]) -> None:
        self._commit(self.table.append(_arrow(rows)), self._added(self.rows, rows))

    @rule(commits=st.lists(COMMITS, min_size=1, max_size=3))
    def write_in_several_calls(self, commits: list[list[Row]]) -> None:
        after = self.rows
        with self.table.writer() as writer:
            for rows in commits:
                writer.append(_arrow(rows))
                after = self._added(after, rows)
        self._commit(writer.snapshot, after)

    @rule(where=st.sampled_from(list(CONDITIONS)))
    def delete(self, where: str) -> None:
        left = [row for row in self.rows if not CONDITIONS[where](row)]
        self._commit(self.table.delete(where), left)

    @rule(
        change=st.sampled_from(list(UPDATES)), where=st.none() | st.sampled_from(list(CONDITIONS))
    )
    def update(self, change: str, where: str | None) -> None:
        self._update(UPDATES[change], where)

    @rule(rows=COMMITS)
    def overwrite(self, rows: list[Row]) -> None:
        self._commit(self.table.overwrite(_arrow(rows)), self._added([], rows))

    @rule(rows=COMMITS)
    def overwrite_found_partitions(self, rows: list[Row]) -> None:
        days = {row[1] for row in rows}
        kept = [row for row in self.rows if row[1] not in days]
        if not self.is_partitioned:
            kept = [] if rows else self.rows
        snapshot = self.table.overwrite(_arrow(rows), partition="dynamic")
        self._commit(snapshot, self._added(kept, rows))

    @rule(rows=COMMITS, day=st.sampled_from(DAYS))
    def overwrite_one_partition(self, rows: list[Row], day: str) -> None:
        if not self.is_partitioned:
            return
        moved: list[Row] = [(row[0], day, row[2], row[3]) for row in rows]
        kept = [row for row in self.rows if row[1] != day]
        snapshot = self.table.overwrite(_arrow(rows).drop_columns(["dt"]), partition={"dt": day})
        self._commit(snapshot, self._added(kept, moved))

    @rule()
    def truncate(self) -> None:
        self._commit(self.table.truncate(), [])

    @rule()
    def reopen_elsewhere(self) -> None:
        self.seed += 1
        self.table = reopen(self.table, self.store, seed=self.seed)

    @rule(where=st.sampled_from(list(CONDITIONS)))
    def look_for_some(self, where: str) -> None:
        wanted = [row for row in self.rows if CONDITIONS[where](row)]
        scan = self.table.scan(where=where)
        assert _multiset(scan.to_arrow()) == Counter(wanted)
        assert scan.count() == len(wanted)
        values = self.table.scan(columns=["v"], where=where).to_arrow()["v"].to_pylist()
        assert Counter(values) == Counter(row[3] for row in wanted)

    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        if self.past:
            snapshot_id = data.draw(st.sampled_from(sorted(self.past)))
            scan = self.table.scan(snapshot_id=snapshot_id)
            assert _multiset(scan.to_arrow()) == Counter(self.past[snapshot_id])

    @invariant()
    def reads_as_the_model(self) -> None:
        if not hasattr(self, "table"):
            return
        scan = self.table.scan()
        assert _multiset(scan.to_arrow()) == Counter(self.rows)
        assert scan.count() == len(self.rows)
        assert snapshot_ids(self.store, self.table.location) == sorted(self.past)

    def teardown(self) -> None:
        if hasattr(self, "table"):
            assert orphans(self.table, self.store) == set()

    def _update(
        self, change: tuple[dict[str, object], Callable[[Row], Row]], where: str | None
    ) -> None:
        assigned, changed = change
        is_chosen = [where is None or CONDITIONS[where](row) for row in self.rows]
        after: list[Row] = [
            changed(row) if chosen else row
            for row, chosen in zip(self.rows, is_chosen, strict=True)
        ]
        snapshot = self.table.update(assigned, where)
        assert (snapshot is not None) == any(is_chosen)
        self._commit(snapshot, after)

    def _commit(self, snapshot: object, rows: list[Row]) -> None:
        if snapshot is None:
            assert Counter(rows) == Counter(self.rows)
            return
        # Behind the commit of the rows there may be one of their compaction.
        made, *later = (each for each in self.table.snapshots() if each.id > len(self.past))
        assert made == snapshot
        assert [each.commit_kind for each in later] in ([], [CommitKind.COMPACT])
        self.rows = rows
        self.past |= {each.id: rows for each in (made, *later)}

    def _added(self, rows: list[Row], new: list[Row]) -> list[Row]:
        raise NotImplementedError


class KeyedLife(TableLife):
    """A row replaces the one of its key."""

    is_keyed = True

    @rule(rows=COMMITS, kinds=st.lists(st.sampled_from(["+I", "-U", "+U", "-D"]), min_size=25))
    def change(self, rows: list[Row], kinds: list[str]) -> None:
        by_key = {row[:2]: row for row in self.rows}
        for row, kind in zip(rows, kinds, strict=False):
            if kind in {"-U", "-D"}:
                by_key.pop(row[:2], None)
            else:
                by_key[row[:2]] = row
        column = pa.array(kinds[: len(rows)], pa.string())
        snapshot = self.table.upsert(_arrow(rows).append_column("_row_kind", column))
        self._commit(snapshot, list(by_key.values()))

    def _added(self, rows: list[Row], new: list[Row]) -> list[Row]:
        return list({row[:2]: row for row in [*rows, *new]}.values())


class AppendLife(TableLife):
    """Rows are added."""

    is_keyed = False

    @rule(change=st.sampled_from(list(MOVES)), where=st.none() | st.sampled_from(list(CONDITIONS)))
    def move(self, change: str, where: str | None) -> None:
        self._update(MOVES[change], where)

    def _added(self, rows: list[Row], new: list[Row]) -> list[Row]:
        return [*rows, *new]


_COLUMNS: list[tuple[str, pa.DataType]] = [
    ("id", pa.int32()),
    ("dt", pa.string()),
    ("n", pa.int64()),
    ("v", pa.string()),
]
_SCHEMA = pa.schema(_COLUMNS)


def _arrow(rows: list[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) or [()] * 4
    arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=_SCHEMA)


def _multiset(table: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))


SMALL = settings(
    max_examples=15,
    stateful_step_count=12,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


class TestKeyedLife(KeyedLife.TestCase):  # type: ignore[misc, valid-type]  # made by hypothesis
    settings = SMALL


class TestAppendLife(AppendLife.TestCase):  # type: ignore[misc, valid-type]  # made by hypothesis
    settings = SMALL
