"""Random lives of a table that is compacted, against a model of plain Python.

A seed is a table and a life: upserts of every row kind, deletes, overwrites, truncations, and
compactions as the options say or in full, alone or while another commits. What must hold:

* the table reads as the model after each step, and each snapshot as it did when it was made;
* the changelog of `lookup` and `full-compaction`, replayed row by row, takes back exactly what it
  told before, and tells what the model holds;
* a compaction that meets a rival's upsert or delete is committed; where a rival took its files it
  is refused, and leaves no file;
* after a compaction files stand where readers and later compactions look for them.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import pyarrow as pa

from lakebed.format.manifest import entries_from_columns
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from support.append_histories import AppendHistory
from support.compaction_model import (
    COLUMNS,
    ENGINES,
    IDS,
    Model,
    Replayed,
    State,
    Values,
    first,
    key_of,
    state_of,
    without,
)
from support.lives import Life, Rival, Step, outcome

LEVELS = 3
_APPEND_EVERY = 4
_VECTORS_SHARE = 0.4
CHOICES: dict[str, tuple[str | None, ...]] = {
    "bucket": ("1", "2"),
    "num-sorted-run.compaction-trigger": ("2", "3"),
    "target-file-size": (None, "1 b", "2 kb"),
    "target-file-row-num": (None, "3"),
    "file.format": ("parquet", "orc", "avro"),
    "file.format.per.level": (None, "0:avro", "0:avro,1:orc,2:parquet"),
    "write-buffer-size": (None, "1 b"),
    "write-buffer-spillable": (None, "false"),
    "manifest.merge-min-count": (None, "2"),
    "compaction.force-rewrite-all-files": (None, None, "true"),
    "compaction.total-size-threshold": (None, None, None, "1 kb"),
    "compaction.optimization-interval": (None, None, None, "40 ms"),
    "compaction.force-up-level-0": (None, None, "true"),
}
VECTOR_CHOICES = {
    "deletion-vectors.bitmap64": ("true", "false"),
    "deletion-vector.index-file.target-size": ("1 b", "2 mb"),
}


class History(Life[State]):
    """A table with a primary key and its model.

    Attributes:
        engine: Its merge engine.
        producer: Its changelog producer.
        with_vectors: Whether compactions mark rows in deletion vectors.
        options: The table's options.
        model: What is written to it.
    """

    def __init__(
        self,
        seed: int,
        *,
        engine: str | None = None,
        producer: str | None = None,
        may_mark: bool = True,
    ) -> None:
        """Makes the table of a seed, still empty.

        Args:
            seed: The seed.
            engine: Which of `ENGINES`; one that is drawn where None.
            producer: Its changelog producer, too.
            may_mark: Whether deletion vectors may be drawn.
        """
        super().__init__(seed)
        chance = self.chance
        name = engine or chance.choice(list(ENGINES))
        self.engine = ENGINES[name]
        self.producer = producer or chance.choice(self.engine.producers)
        self.with_vectors = (
            may_mark
            and self.producer != "full-compaction"
            and self.engine.fold is not first
            and chance.random() < _VECTORS_SHARE
        )
        ignored = chance.choice([(), ("b",)])
        skips_same = self.producer in {"lookup", "full-compaction"} and chance.random() < 0.5
        self.options = self._options(skips_same=skips_same, ignored=ignored)
        self.log.append(f"{name}, {self.options}")
        self.table = self.create("db.t", COLUMNS, self.options, primary_key=["id", "p"])
        self._twin: Table | None = None
        self._twin_state: tuple[Snapshot | None, State] = (None, {})
        if self.engine.fold is None:
            twin = {**self.engine.options, "bucket": "1", "write-only": "true"}
            self._twin = self.create("db.twin", COLUMNS, twin, primary_key=["id", "p"])
        looks_up = self.with_vectors or self.producer == "lookup"
        self.model = Model(self.engine, chance, looks_up=looks_up)
        # What was there when files last left level 0: some tables show that alone.
        self._compacted: State = {}
        compared = [name for name, _ in COLUMNS if not skips_same or name not in ignored]
        self._replayed = Replayed(
            compared, skips_same=skips_same, keeps_kinds=self.engine.fold is first
        )

    def _options(self, *, skips_same: bool, ignored: Sequence[str]) -> dict[str, str]:
        options = {
            **self.engine.options,
            **self.drawn(CHOICES),
            "changelog-producer": self.producer,
            "num-levels": str(LEVELS),
            "write-only": "true",
        }
        if skips_same:
            options["changelog-producer.row-deduplicate"] = "true"
            if ignored:
                options["changelog-producer.row-deduplicate-ignore-fields"] = ",".join(ignored)
        if self.with_vectors:
            options |= {"deletion-vectors.enabled": "true", **self.drawn(VECTOR_CHOICES)}
        return options

    def steps(self) -> dict[Step, int]:
        """Writes of every kind, compactions, expiry."""
        return {
            self.upsert: 8,
            self.upsert_beside_a_compaction: 2,
            self.compact_and_check: 5,
            self.compact_beside_a_rival: 3,
            self.overwrite: 1,
            self.truncate: 1,
            self.expire: 1,
            self.delete: 2 if self.engine.deletes else 0,
        }

    def rivals(self) -> dict[Rival, bool]:
        """Upserts and deletes bring files; the others take some."""
        kept: dict[Rival, bool] = {self.upsert: True}
        if self.engine.deletes:
            kept[self.delete] = True
        taken = (self.compact_and_check, self.overwrite, self.truncate)
        return {**kept, **dict.fromkeys(taken, False)}

    def upsert(self, table: Table | None = None) -> None:
        """Writes rows of any kind that the engine takes."""
        changes = self._change()
        self.committed((table or self.table).upsert(changes))
        self._check_input(changes)

    def upsert_beside_a_compaction(self) -> None:
        """Begins to write, compacts meanwhile, and commits what is written."""
        self.log.append("upsert begun; beside it:")
        with self.table.writer() as writer:
            self.compact_and_check(self.elsewhere())
            self.check()
            changes = self._change()
            writer.upsert(changes)
        self.committed(writer.snapshot)
        self._check_input(changes)

    def delete(self, table: Table | None = None) -> None:
        """Deletes by a condition."""
        limit = self.chance.randrange(IDS)
        self.log.append(f"delete id < {limit}")
        self.model.delete_below(limit, seen=self.visible())
        self.committed((table or self.table).delete(f"id < {limit}"))

    def overwrite(self, table: Table | None = None) -> None:
        """Replaces all rows, or those of a partition."""
        partition = self.drawn_partition()
        self.drop(partition)
        data = self.model.fill(partition or {})
        self.log.append(f"overwrite {partition} {data.to_pylist()}")
        if self._twin is not None:
            self._twin.overwrite(data, partition)
        self.committed((table or self.table).overwrite(data, partition))

    def truncate(self, table: Table | None = None) -> None:
        """Deletes all rows, or those of a partition."""
        partition = self.drawn_partition()
        self.log.append(f"truncate {partition}")
        self.drop(partition)
        if self._twin is not None:
            self._twin.truncate(partition)
        self.committed((table or self.table).truncate(partition))

    def compact_and_check(self, table: Table | None = None) -> None:
        """Compacts, as the options say or in full."""
        self.compact(table)

    def compact(self, table: Table | None = None, *, is_full: bool | None = None) -> bool:
        """Compacts, and looks where files stand and what was told."""
        is_full = super().compact(table, is_full=is_full)
        if self.producer == "lookup" or (self.producer == "full-compaction" and is_full):
            expected = {key: self._replayed.seen(row) for key, row in self.state().items()}
            assert self._replayed.rows == expected, "the changelog does not say what there is"
        levels = self._levels()
        if is_full:
            assert levels <= {LEVELS - 1}, f"files on {levels} after a full compaction"
        if self.producer == "lookup" or self._hides_level_0:
            assert 0 not in levels, "files are left at level 0"
        return is_full

    def compacted(self, planned: State) -> None:
        """Readers of some tables see now what these rows were, but for partitions gone since."""
        self._compacted = without(planned, self.dropped)

    def _change(self) -> pa.Table:
        changes = self.model.change()
        self.log.append(f"upsert {changes.to_pylist()}")
        if self._twin is not None:
            self._twin.upsert(changes)
        return changes

    def drop(self, partition: Mapping[str, str] | None) -> Collection[str]:
        """Forgets partitions, and what was told of them: nobody tells what an overwrite took."""
        gone = super().drop(partition)
        self.model.drop(gone)
        self._compacted = without(self._compacted, gone)
        self._replayed.rows = without(self._replayed.rows, gone)
        return gone

    def state(self) -> State:
        """What the table holds."""
        if self._twin is None:
            return dict(self.model.rows)
        snapshot = self._twin.latest_snapshot()
        if snapshot != self._twin_state[0]:
            self._twin_state = snapshot, state_of(self._twin.scan().to_arrow())
        return dict(self._twin_state[1])

    def visible(self) -> State:
        """What of that readers see."""
        return dict(self._compacted) if self._hides_level_0 else self.state()

    def read(self, snapshot_id: int | None = None) -> State:
        """What readers see."""
        return state_of(self.table.scan(snapshot_id=snapshot_id).to_arrow())

    @property
    def _hides_level_0(self) -> bool:
        return self.with_vectors or self.engine.fold is first

    def committed(self, snapshot: Snapshot | None) -> None:
        """Remembers what a snapshot shows, and replays what a compaction told."""
        super().committed(snapshot)
        if snapshot is None or snapshot.commit_kind is not CommitKind.COMPACT:
            return
        if snapshot.changelog_manifest_list:
            self.counts["changelogs"] += 1
            self._replayed.take(self.changelog(snapshot))

    def changelog(self, snapshot: Snapshot) -> list[Values]:
        """The changes that a snapshot tells of, their kinds in `rowkind`."""
        log = self.catalog.load_table("db.t$audit_log")
        span = (snapshot.id - 1, snapshot.id)
        rows = log.scan(incremental=span, incremental_mode="changelog").to_arrow()
        listed: list[Values] = rows.to_pylist()
        return listed

    def _check_input(self, changes: pa.Table) -> None:
        """The changelog of an upsert is what came, for each key in the order in which it came."""
        snapshot = self.table.latest_snapshot()
        if self.producer != "input" or snapshot is None:
            return
        came = [{"rowkind": row.pop("_row_kind"), **row} for row in changes.to_pylist()]
        assert sorted(self.changelog(snapshot), key=key_of) == sorted(came, key=key_of)

    def _levels(self) -> set[int]:
        parts = self.table.parts()
        snapshot = parts.snapshots.latest()
        assert snapshot is not None
        live = parts.manifests.live(snapshot, partitions=EveryPartition())
        return {entry.file.level for entry in entries_from_columns(live)}


def run_history(seed: int) -> tuple[Counter[str], list[str]]:
    """Lives the life of a seed: every fourth is of a table without a key.

    Returns:
        How much was tried, and what went wrong, with the life up to there.
    """
    if seed % _APPEND_EVERY:
        return outcome(History(seed))
    return outcome(AppendHistory(seed))
