"""Random tables: from a seed to a schema and a history of writes, compactions and alterations.

The same seed gives the same table. Everything is data that the real Paimon carries out: see
`tools.peers.referee` for how schemas, changes and rows are written.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.engines import ENGINES, Engine
from conformance.kinds import CASTS, KEYS, KINDS, NESTED, PARTITIONS, with_ids

Json = Any

ROWS_MAX = 25
STEPS_MAX = 7
KEYS_MAX = 12
INDEXED = ("int", "bigint", "date", "smallint")
FREE_KINDS = tuple(kind for kind in KINDS if not kind.endswith("_small"))


@dataclass(frozen=True, slots=True)
class Write:
    """One commit, beside the rows that are there or over them; each row has its kind first."""

    rows: tuple[list[Json], ...]
    overwrites: bool = False


@dataclass(frozen=True, slots=True)
class Compact:
    """A compaction of every bucket."""

    is_full: bool


@dataclass(frozen=True, slots=True)
class Alter:
    """Schema changes in one step."""

    changes: tuple[dict[str, Json], ...]


Step = Write | Compact | Alter


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomTable:
    """What is made from a seed.

    Attributes:
        seed: The seed.
        schema: The first schema.
        steps: What happens to it.
        columns: Names and kinds of the columns at the end.
    """

    seed: int
    schema: dict[str, Json]
    steps: tuple[Step, ...]
    columns: dict[str, str]

    def describe(self) -> str:
        """The table as a text to be read when it fails."""
        schema = self.schema
        fields = ", ".join(f"{field['name']} {_text(field['type'])}" for field in schema["fields"])
        options = ", ".join(f"{key}={value}" for key, value in schema["options"].items())
        head = [
            f"random table of seed {self.seed}",
            f"  columns {fields}",
            f"  key {schema['primaryKeys']}, partition {schema['partitionKeys']}",
            f"  options {options}",
        ]
        return "\n".join([*head, *(f"  {_tell(step)}" for step in self.steps)])


def _tell(step: Step) -> str:
    match step:
        case Write(rows, overwrites):
            return "\n    ".join(["overwrite" if overwrites else "write", *map(str, rows)])
        case Compact(is_full):
            return f"compact {'all' if is_full else 'some'}"
        case Alter(changes):
            return "\n    ".join(["alter", *map(str, changes)])


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def make_table(seed: int) -> RandomTable:
    """The table of a seed."""
    rng = random.Random(seed)
    return _Maker(rng).make(seed)


class _Maker:
    """The columns as they change along the history, and the choices that stay."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._fresh = 0
        self._has_key = rng.random() < 0.9
        engine = rng.choice(ENGINES) if self._has_key else _append
        self._engine = engine(rng)
        self._options = self._engine.options | _layout(rng, self._engine, has_key=self._has_key)
        self._partition = {"p": rng.choice(PARTITIONS)} if rng.random() < 0.4 else {}
        keys = {f"k{i}": rng.choice(self._keys()) for i in range(rng.choice((1, 1, 1, 2, 3)))}
        self._options |= _layout_of_keys(rng, keys, has_key=self._has_key)
        self._key = self._partition | keys if self._has_key else {}
        self._columns = self._partition | keys | self._engine.columns
        for _ in range(rng.randint(1, 4)):
            self._columns[self._fresh_name()] = rng.choice(self._free_kinds())
        # Files keep a column as it was, so a cast must do from whatever the column has been.
        self._past: dict[str, set[str]] = {}
        values = [KINDS[kind].values for kind in self._identity().values()]
        self._identities = [tuple(map(rng.choice, values)) for _ in range(KEYS_MAX)]

    def make(self, seed: int) -> RandomTable:
        schema = {
            "fields": [
                {"id": index, "name": name, "type": self._type(name, index)}
                for index, name in enumerate(self._columns)
            ],
            "partitionKeys": list(self._partition),
            "primaryKeys": list(self._key),
            "options": self._options,
            "comment": None,
        }
        further = (self._step() for _ in range(self._rng.randint(1, STEPS_MAX)))
        steps = (self._write(), *further)
        return RandomTable(seed=seed, schema=schema, steps=steps, columns=dict(self._columns))

    def _step(self) -> Step:
        chance = self._rng.random()
        if chance < 0.2 and self._has_key:
            return Compact(is_full=self._rng.random() < 0.5)
        if chance < 0.4:
            return self._alter()
        return self._write()

    def _write(self) -> Write:
        count = self._rng.randint(1, ROWS_MAX)
        rows = tuple(self._row() for _ in range(count))
        return Write(rows, overwrites=self._rng.random() < 0.1)

    def _row(self) -> list[Json]:
        """A row whose key, or what stands for it, is one of few."""
        identity = dict(zip(self._identity(), self._rng.choice(self._identities), strict=True))
        values = [
            identity[name] if name in identity else self._value(kind)
            for name, kind in self._columns.items()
        ]
        return [self._rng.choice(self._engine.row_kinds), *values]

    def _identity(self) -> dict[str, str]:
        return self._key or self._partition

    def _value(self, kind: str) -> Json:
        return None if self._rng.random() < 0.25 else self._rng.choice(KINDS[kind].values)

    def _type(self, name: str, index: int) -> Json:
        kind = KINDS[self._columns[name]].type
        if name in self._key:
            return f"{kind} NOT NULL"
        return with_ids(kind, index)

    def _keys(self) -> tuple[str, ...]:
        """Paimon's lookup of a key, which some layouts need, fails on bytes."""
        options = self._options
        looks_up = (
            options.get("merge-engine") == "first-row"
            or options.get("changelog-producer") == "lookup"
            or "deletion-vectors.enabled" in options
        )
        return tuple(kind for kind in KEYS if kind != "bytes" or not looks_up)

    def _free_kinds(self) -> list[str]:
        """The kinds of column that the file formats hold: Avro has no nanoseconds."""
        has_avro = "avro" in "".join(self._options.values())
        return [kind for kind in FREE_KINDS if kind != "timestamp_9" or not has_avro]

    def _fresh_name(self) -> str:
        self._fresh += 1
        return f"v{self._fresh}"

    def _alter(self) -> Alter:
        changes = [self._add, self._drop, self._rename, self._cast, self._cast, self._move]
        picked: list[Callable[[], dict[str, Json]]] = self._rng.choices(
            changes, k=self._rng.randint(1, 2)
        )
        return Alter(tuple(change() for change in picked))

    def _free(self) -> list[str]:
        """The columns that no option speaks of."""
        return [name for name in self._columns if name.startswith("v")]

    def _add(self) -> dict[str, Json]:
        name, kind = self._fresh_name(), self._rng.choice(self._free_kinds())
        self._columns[name] = kind
        return {
            "action": "addColumn",
            "fieldNames": [name],
            "dataType": KINDS[kind].type,
            "comment": None,
            "move": None,
        }

    def _drop(self) -> dict[str, Json]:
        if len(self._free()) < 2:
            return self._add()
        name = self._rng.choice(self._free())
        del self._columns[name]
        return {"action": "dropColumn", "fieldNames": [name]}

    def _rename(self) -> dict[str, Json]:
        old, new = self._rng.choice(self._free()), self._fresh_name()
        self._columns = {new if n == old else n: kind for n, kind in self._columns.items()}
        self._past[new] = self._past.pop(old, set())
        return {"action": "renameColumn", "fieldNames": [old], "newName": new}

    def _cast(self) -> dict[str, Json]:
        name = self._rng.choice(self._free())
        if self._columns[name] in NESTED:
            self._columns[name], change = NESTED[self._columns[name]]
            return change | {"fieldNames": [name, *change["fieldNames"]]}
        past = self._past.setdefault(name, set()) | {self._columns[name]}
        targets = set(self._free_kinds()).intersection(*(CASTS.get(kind, ()) for kind in past))
        if not targets:
            return self._add()
        self._past[name], self._columns[name] = past, self._rng.choice(sorted(targets))
        return {
            "action": "updateColumnType",
            "fieldNames": [name],
            "newDataType": KINDS[self._columns[name]].type,
            "keepNullability": True,
        }

    def _move(self) -> dict[str, Json]:
        name, first = self._rng.choice(self._free()), next(iter(self._columns))
        if name == first:
            return self._add()
        kinds = {first: self._columns[first], name: self._columns[name]}
        self._columns = kinds | self._columns
        return {
            "action": "updateColumnPosition",
            "move": {"fieldName": name, "referenceFieldName": first, "type": "AFTER"},
        }


def _append(_: random.Random) -> Engine:
    """A table without a key: every row stays."""
    return Engine(row_kinds=("+I",))


def _layout(rng: random.Random, engine: Engine, *, has_key: bool) -> dict[str, str]:
    """How rows are laid out in files; but for what is hidden in level 0, it must not show."""
    file_format = rng.choice(("parquet", "parquet", "orc", "avro"))
    options = {"file.format": file_format}
    codecs = ("snappy", "zstd") if file_format == "avro" else ("none", "snappy", "zstd", "lz4")
    choices = [
        (0.5, {"write-only": "true"}),
        (0.2, {"metadata.stats-mode": rng.choice(("none", "counts", "truncate(4)", "full"))}),
        (0.2, {"file.compression": rng.choice(codecs)}),
    ]
    if has_key:
        options["bucket"] = rng.choice(("1", "2", "3", "-1"))
        options["num-sorted-run.compaction-trigger"] = str(rng.randint(2, 5))
        choices += [
            (0.2, {"data-file.thin-mode": "true"}),
            (0.1, {"file.format.per.level": "0:avro", "file.compression": "zstd"}),
        ]
    if has_key and engine.options.get("merge-engine") != "first-row":
        producers = ("none", "input", "lookup")
        vectors = {"deletion-vectors.enabled": "true", "write-only": "false"}
        choices += [
            (0.1, {"changelog-producer": rng.choice((*producers, "full-compaction"))}),
            (0.15, vectors | {"changelog-producer": rng.choice(producers)}),
        ]
    for chance, choice in choices:
        if rng.random() < chance:
            options |= choice
    return options


def _layout_of_keys(rng: random.Random, keys: dict[str, str], *, has_key: bool) -> dict[str, str]:
    """What is laid out by some column: the buckets of a table without a key, and file indexes."""
    options: dict[str, str] = {}
    if not has_key and rng.random() < 0.5:
        options |= {"bucket": "2", "bucket-key": next(iter(keys))}
    indexed = [name for name, kind in keys.items() if kind in INDEXED]
    if indexed and rng.random() < 0.3:
        index = rng.choice(("bloom-filter", "bitmap", "range-bitmap"))
        options[f"file-index.{index}.columns"] = indexed[0]
    return options
