"""Random lives of tables without a primary key, against a model that counts equal rows.

Appends, deletes and updates, by deletion vectors or by rewritten files, overwrites, truncations,
and compactions, alone or while another commits, and expiry. A compaction that meets a rival's
append is committed; where a rival changed its files it is refused, and leaves no file.
"""

from collections import Counter
from collections.abc import Callable

import pyarrow as pa

from lakebed.table.table import Table
from support.lives import PARTITIONS, Life, Rival, Step

Row = tuple[int, str, int | None]
Bag = Counter[Row]

COLUMNS = [("id", "INT NOT NULL"), ("p", "STRING NOT NULL"), ("a", "INT")]
_IDS = 12
_SHAPES: tuple[dict[str, str], ...] = (
    {"bucket": "-1"},
    {"bucket": "1", "bucket-key": "id"},
    {"bucket": "2", "bucket-key": "id"},
)
_CHOICES: dict[str, tuple[str | None, ...]] = {
    "deletion-vectors.enabled": (None, "true"),
    "deletion-vectors.bitmap64": (None, "true"),
    "deletion-vector.index-file.target-size": ("1 b", "2 mb"),
    "compaction.min.file-num": ("2", "3"),
    "compaction.delete-ratio-threshold": ("0", "0.5"),
    "compaction.small-file-ratio": ("0", "0.7"),
    "target-file-row-num": (None, "4"),
    "target-file-size": (None, "1 b", "2 kb"),
    "file.format": ("parquet", "orc", "avro"),
    "manifest.merge-min-count": (None, "2"),
}
_CONDITIONS: tuple[tuple[str, Callable[[Row], bool]], ...] = (
    ("id < 4", lambda row: row[0] < 4),
    ("id >= 8 AND a > 1", lambda row: row[0] >= 8 and (row[2] or 0) > 1),
    ("a IS NULL", lambda row: row[2] is None),
    ("p = 'x' OR id = 5", lambda row: row[1] == "x" or row[0] == 5),
)


class AppendHistory(Life[Bag]):
    """A table without a primary key and its model.

    Attributes:
        rows: How often each row is there.
    """

    def __init__(self, seed: int) -> None:
        """Makes the table of a seed, still empty."""
        super().__init__(seed)
        options = {**self.chance.choice(_SHAPES), **self.drawn(_CHOICES), "write-only": "true"}
        self.log.append(f"no key, {options}")
        self.table = self.create("db.t", COLUMNS, options)
        self.rows: Bag = Counter()

    def steps(self) -> dict[Step, int]:
        """Writes of every kind, compactions, expiry."""
        return {
            self.append: 8,
            self.append_beside_a_compaction: 2,
            self.delete: 3,
            self.update: 3,
            self.compact_again: 4,
            self.compact_beside_a_rival: 4,
            self.overwrite: 1,
            self.truncate: 1,
            self.expire: 1,
        }

    def rivals(self) -> dict[Rival, bool]:
        """Only an append brings rows and changes no file."""
        taken = (self.delete, self.update, self.compact_again, self.overwrite, self.truncate)
        return {self.append: True, **dict.fromkeys(taken, False)}

    def state(self) -> Bag:
        """What the table holds."""
        return self.rows.copy()

    def read(self, snapshot_id: int | None = None) -> Bag:
        """What readers see."""
        found = self.table.scan(snapshot_id=snapshot_id).to_arrow().to_pylist()
        return Counter((row["id"], row["p"], row["a"]) for row in found)

    def append(self, table: Table | None = None) -> None:
        """Adds rows."""
        data = self._data({})
        self.committed((table or self.table).append(data))

    def append_beside_a_compaction(self) -> None:
        """Begins to write, compacts meanwhile, and commits what is written."""
        self.log.append("append begun; beside it:")
        with self.table.writer() as writer:
            self.compact(self.elsewhere())
            self.check()
            writer.append(self._data({}))
        self.committed(writer.snapshot)

    def delete(self, table: Table | None = None) -> None:
        """Deletes by a condition."""
        condition, matches = self.chance.choice(_CONDITIONS)
        self.log.append(f"delete {condition}")
        self.rows = Counter({row: n for row, n in self.rows.items() if not matches(row)})
        self.committed((table or self.table).delete(condition))

    def update(self, table: Table | None = None) -> None:
        """Changes rows by a condition."""
        condition, matches = self.chance.choice(_CONDITIONS)
        self.log.append(f"update {condition}")
        rows: Bag = Counter()
        for (id_, p, a), count in self.rows.items():
            is_changed = matches((id_, p, a)) and a is not None
            rows[id_, p, a + 1 if is_changed and a is not None else a] += count
        self.rows = rows
        self.committed((table or self.table).update({"a": "a + 1"}, where=condition))

    def overwrite(self, table: Table | None = None) -> None:
        """Replaces all rows, or those of a partition."""
        partition = self.drawn_partition()
        self._forget(partition)
        self.log.append(f"overwrite {partition}")
        self.committed((table or self.table).overwrite(self._data(partition or {}), partition))

    def truncate(self, table: Table | None = None) -> None:
        """Deletes all rows, or those of a partition."""
        partition = self.drawn_partition()
        self._forget(partition)
        self.log.append(f"truncate {partition}")
        self.committed((table or self.table).truncate(partition))

    def compact_again(self, table: Table | None = None) -> None:
        """Compacts, as the options say or in full."""
        self.compact(table)

    def _forget(self, partition: dict[str, str] | None) -> None:
        gone = self.drop(partition)
        self.rows = Counter({row: n for row, n in self.rows.items() if row[1] not in gone})

    def _data(self, partition: dict[str, str]) -> pa.Table:
        """Draws rows, which are written here already."""
        chance = self.chance
        rows = [
            (
                chance.randrange(_IDS),
                partition.get("p") or chance.choice(PARTITIONS),
                chance.choice([None, 0, 1, 2, 3]),
            )
            for _ in range(chance.randint(1, 12))
        ]
        self.log.append(f"rows {rows}")
        self.rows.update(rows)
        ids, partitions, values = zip(*rows, strict=True)
        kinds = [pa.int32(), pa.string(), pa.int32()]
        columns = zip((ids, partitions, values), kinds, strict=True)
        return pa.table([pa.array(column, kind) for column, kind in columns], ["id", "p", "a"])
