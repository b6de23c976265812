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

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa

from lakebed.errors import CommitConflictError, LakebedError
from lakebed.format.data_file_meta import DataFileMeta
from lakebed.format.manifest import entries_from_columns
from lakebed.format.schema_definition import schema
from lakebed.format.snapshot import CommitKind, Snapshot
from lakebed.storage.memory import MemoryFileIO
from lakebed.table.compaction.job import CompactionJob
from lakebed.table.metadata.partitions import EveryPartition
from lakebed.table.table import Table
from lakebed.table.writing.commit_message import CommitMessage
from support.compaction_model import (
    COLUMNS,
    ENGINES,
    IDS,
    PARTITIONS,
    Model,
    Replayed,
    State,
    Values,
    first,
    key_of,
    state_of,
    without,
)
from support.effects import open_catalog, reopen
from support.store_listing import data_files

LEVELS = 3
_STEP_COUNT = 10
_LOOKS_BACK = 3
_FULL_SHARE = 0.4
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


class History:
    """One table and its model.

    Attributes:
        engine: Its merge engine.
        producer: Its changelog producer.
        is_partitioned: Whether `p` is a partition column.
        options: The table's options.
        table: The table.
        model: What is written to it.
        counts: How much was tried.
        log: What was done, a line a step.
    """

    def __init__(
        self, seed: int, *, engine: str | None = None, producer: str | None = None
    ) -> None:
        """Makes the table of a seed, still empty.

        Args:
            seed: The seed.
            engine: Which of `ENGINES`; one that is drawn where None.
            producer: Its changelog producer, too.
        """
        chance = self._chance = random.Random(seed)
        name = engine or chance.choice(list(ENGINES))
        self.engine = ENGINES[name]
        self.producer = producer or chance.choice(self.engine.producers)
        self.is_partitioned = chance.random() < 0.5
        self._store = MemoryFileIO()
        memory = chance.choice(["1 b", "2 kb", "64 mb"])
        self._catalog = open_catalog(self._store, options={"lakebed.merge.memory": memory})
        self._catalog.create_database("db")
        ignored = chance.choice([(), ("b",)])
        skips_same = self.producer in {"lookup", "full-compaction"} and chance.random() < 0.5
        self.options = self._options(skips_same=skips_same, ignored=ignored)
        self.log = [f"{name}, {self.is_partitioned=}, {memory=}, {self.options}"]
        self.counts: Counter[str] = Counter()
        self.table = self._create("db.t", self.options)
        self._twin: Table | None = None
        if self.engine.fold is None:
            twin = {**self.engine.options, "bucket": "1", "write-only": "true"}
            self._twin = self._create("db.twin", twin)
        self.model = Model(self.engine, chance, looks_up=self.producer == "lookup")
        # What was there when files last left level 0: a first-row table shows that alone.
        self._compacted: State = {}
        self._past: dict[int, State] = {}
        self._dropped: set[str] = set()
        compared = [name for name, _ in COLUMNS if not skips_same or name not in ignored]
        self._replayed = Replayed(compared, skips_same=skips_same, keeps_kinds=self._hides_level_0)
        self._process = 100

    def _options(self, *, skips_same: bool, ignored: Sequence[str]) -> dict[str, str]:
        drawn = {key: self._chance.choice(values) for key, values in CHOICES.items()}
        options = {
            **self.engine.options,
            **{key: value for key, value in drawn.items() if value is not None},
            "changelog-producer": self.producer,
            "num-levels": str(LEVELS),
            "write-only": "true",
        }
        if skips_same:
            options["changelog-producer.row-deduplicate"] = "true"
            if ignored:
                options["changelog-producer.row-deduplicate-ignore-fields"] = ",".join(ignored)
        return options

    def _create(self, name: str, options: Mapping[str, str]) -> Table:
        return self._catalog.create_table(
            name,
            schema=schema(COLUMNS),
            primary_key=["id", "p"],
            partition_by=["p"] if self.is_partitioned else [],
            options=options,
        )

    def run(self) -> None:
        """Lives; an `AssertionError` says what went wrong."""
        steps: dict[Callable[[], None], int] = {
            self.upsert: 8,
            self.upsert_beside_a_compaction: 2,
            self.compact: 5,
            self.compact_beside_a_rival: 3,
            self.overwrite: 1,
            self.truncate: 1,
            self.delete: 2 if self.engine.deletes else 0,
        }
        self.upsert()
        for step in self._chance.choices(list(steps), list(steps.values()), k=_STEP_COUNT):
            step()
            self._check()
        self.compact(is_full=True)
        self._check()
        for snapshot_id in self._chance.sample(list(self._past), min(len(self._past), _LOOKS_BACK)):
            rows = self.table.scan(snapshot_id=snapshot_id).to_arrow()
            assert state_of(rows) == self._past[snapshot_id], f"snapshot {snapshot_id} changed"
        assert self._data_files() == self._committed_files(), "files are left or missing"

    def upsert(self, table: Table | None = None) -> None:
        """Writes rows of any kind that the engine takes."""
        changes = self._change()
        self._committed((table or self.table).upsert(changes))
        self._check_input(changes)

    def upsert_beside_a_compaction(self) -> None:
        """Begins to write, compacts meanwhile, and commits what is written."""
        self.log.append("upsert begun; beside it:")
        with self.table.writer() as writer:
            self.compact(self._elsewhere())
            self._check()
            changes = self._change()
            writer.upsert(changes)
        self._committed(writer.snapshot)
        self._check_input(changes)

    def delete(self, table: Table | None = None) -> None:
        """Deletes by a condition."""
        limit = self._chance.randrange(IDS)
        self.log.append(f"delete id < {limit}")
        self.model.delete_below(limit)
        self._committed((table or self.table).delete(f"id < {limit}"))

    def overwrite(self, table: Table | None = None) -> None:
        """Replaces all rows, or those of a partition."""
        partition = self._partition()
        self._drop(partition)
        data = self.model.fill(partition or {})
        self.log.append(f"overwrite {partition} {data.to_pylist()}")
        if self._twin is not None:
            self._twin.overwrite(data, partition)
        self._committed((table or self.table).overwrite(data, partition))

    def truncate(self, table: Table | None = None) -> None:
        """Deletes all rows, or those of a partition."""
        partition = self._partition()
        self.log.append(f"truncate {partition}")
        self._drop(partition)
        if self._twin is not None:
            self._twin.truncate(partition)
        self._committed((table or self.table).truncate(partition))

    def compact(self, table: Table | None = None, *, is_full: bool | None = None) -> None:
        """Compacts, and looks where files stand and what was told."""
        if is_full is None:
            is_full = self._chance.random() < _FULL_SHARE
        self.log.append("compact" + " in full" * is_full)
        self._compacted = self._state()
        parts = (table or self.table).parts()
        snapshot = CompactionJob.of(parts, EveryPartition(), is_full=is_full).carry_out()
        self.counts["compactions"] += snapshot is not None
        self._committed(snapshot)
        if self.producer == "lookup" or (self.producer == "full-compaction" and is_full):
            expected = {key: self._replayed.seen(row) for key, row in self._state().items()}
            assert self._replayed.rows == expected, "the changelog does not say what there is"
        levels = self._levels()
        if is_full:
            assert levels <= {LEVELS - 1}, f"files on {levels} after a full compaction"
        if self.producer == "lookup" or self._hides_level_0:
            assert 0 not in levels, "files are left at level 0"

    def compact_beside_a_rival(self) -> None:
        """Plans a compaction and runs it, lets a rival commit, and commits it."""
        is_full = self._chance.random() < _FULL_SHARE
        job = CompactionJob.of(self.table.parts(), EveryPartition(), is_full=is_full)
        planned = self._state()
        messages = job.run()
        keeps_files = [self.upsert, *([self.delete] if self.engine.deletes else [])]
        rival = self._chance.choice([*keeps_files, self.compact, self.overwrite, self.truncate])
        self.log.append(f"compaction{' in full' * is_full} begun; beside it:")
        self._dropped.clear()
        rival(self._elsewhere())
        if not job.compactions:
            return
        try:
            snapshot = job.commit(messages)
        except CommitConflictError:
            self.counts["compactions refused"] += 1
            self.log.append("the compaction was refused")
            written = {each.file_name for message in messages for each in new_files(message)}
            assert not written & self._data_files(), "a refused compaction left files"
            assert rival not in keeps_files, "a compaction was refused although no file was taken"
            return
        self.counts["compactions beside a rival"] += 1
        self.log.append("the compaction was committed")
        self._compacted = without(planned, self._dropped)
        self._committed(snapshot)

    def _elsewhere(self) -> Table:
        """The table in another process."""
        self._process += 1
        return reopen(self.table, self._store, seed=self._process)

    def _change(self) -> pa.Table:
        changes = self.model.change()
        self.log.append(f"upsert {changes.to_pylist()}")
        if self._twin is not None:
            self._twin.upsert(changes)
        return changes

    def _partition(self) -> dict[str, str] | None:
        if not self.is_partitioned or self._chance.random() < 0.3:
            return None
        return {"p": self._chance.choice(PARTITIONS)}

    def _drop(self, partition: Mapping[str, str] | None) -> None:
        """Forgets partitions, and what was told of them: nobody tells what an overwrite took."""
        gone = PARTITIONS if partition is None else partition.values()
        self._dropped.update(gone)
        self.model.drop(gone)
        self._compacted = without(self._compacted, gone)
        self._replayed.rows = without(self._replayed.rows, gone)

    def _state(self) -> State:
        """What the table holds."""
        if self._twin is None:
            return dict(self.model.rows)
        return state_of(self._twin.scan().to_arrow())

    def _visible(self) -> State:
        """What of that readers see."""
        return dict(self._compacted) if self._hides_level_0 else self._state()

    @property
    def _hides_level_0(self) -> bool:
        return self.engine.fold is first

    def _committed(self, snapshot: Snapshot | None) -> None:
        """Remembers what a snapshot shows, and replays what a compaction told."""
        if snapshot is None:
            return
        self.counts["commits"] += 1
        self._past[snapshot.id] = self._visible()
        if snapshot.commit_kind is CommitKind.COMPACT and snapshot.changelog_manifest_list:
            self.counts["changelogs"] += 1
            self._replayed.take(self.changelog(snapshot))

    def changelog(self, snapshot: Snapshot) -> list[Values]:
        """The changes that a snapshot tells of, their kinds in `rowkind`."""
        log = self._catalog.load_table("db.t$audit_log")
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

    def _check(self) -> None:
        assert state_of(self.table.scan().to_arrow()) == self._visible(), "rows are wrong"

    def _data_files(self) -> set[str]:
        found = data_files(self._store, self.table.location)
        return {path.rpartition("/")[2] for path in found}

    def _committed_files(self) -> set[str]:
        """Every file that a commit brought: none ever expires."""
        manifests = self.table.parts().manifests
        return {
            entry.file.file_name
            for snapshot in self.table.snapshots()
            for files in (manifests.delta_files(snapshot), manifests.changelog_files(snapshot))
            for entry in entries_from_columns(manifests.entries(files))
        }

    def _levels(self) -> set[int]:
        parts = self.table.parts()
        snapshot = parts.snapshots.latest()
        assert snapshot is not None
        live = parts.manifests.live(snapshot, partitions=EveryPartition())
        return {entry.file.level for entry in entries_from_columns(live)}


def new_files(message: CommitMessage) -> list[DataFileMeta]:
    """The files that a compaction wrote; one that only rose to another level was there before."""
    replaced = {file.file_name for file in message.deleted_files}
    files = [*message.new_files, *message.changelog_files]
    return [file for file in files if file.file_name not in replaced]


def run_history(seed: int) -> tuple[Counter[str], list[str]]:
    """Lives the life of a seed.

    Returns:
        How much was tried, and what went wrong, with the life up to there.
    """
    history = History(seed)
    try:
        history.run()
    except (AssertionError, LakebedError) as error:
        return history.counts, [f"{type(error).__name__}: {error}", *history.log]
    return history.counts, []
