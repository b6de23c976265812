"""The cells of what Lakebed writes: which choices there are, and what a cell's table is made of.

A cell is a row of a pairwise array; with its seed it becomes a schema, five writes and one schema
change between them. Everything is data, written as `tools.peers.referee` takes it.
"""

import functools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.kinds import KINDS
from conformance.pairwise import Rule, make_array

Json = Any
Rows = tuple[list[Json], ...]

ARRAY_CELLS = 160
KEYS = 8
ROWS = 12
ADDED = ("+I", "+U")
# With microseconds, which the library that writes ORC gets wrong before 1970.
BEFORE_1970 = "1901-01-01T00:00:00.000001"
EVERY_KIND = ("+I", "+I", "+U", "-U", "-D")

FACTORS = {
    "key": (
        *("int", "bigint", "string", "bytes", "decimal", "decimal_wide", "date", "timestamp_6"),
        *("timestamp_ltz", "int+string", "date+varchar+smallint"),
    ),
    "engine": (
        *("append", "deduplicate", "partial-update", "sequence-group", "aggregation"),
        "first-row",
    ),
    "bucket": ("unaware", "default", "mod", "hive", "dynamic", "cross-partition", "postpone"),
    "format": ("parquet", "avro", "orc", "mixed"),
    "partition": ("none", "text", "date+int"),
    "evolution": ("none", "add", "rename", "drop", "widen"),
    "rows": ("added", "changed"),
    "sequence": ("none", "field", "descending"),
    "changelog": ("none", "input"),
    "files": ("plain", "thin", "full", "counts", "none", "bloom"),
    "compaction": ("by Java", "by Lakebed"),
}
_KEYED = FACTORS["engine"][1:]
RULES = (
    Rule("engine", ("append",), "bucket", ("unaware", "default", "mod", "hive")),
    Rule("engine", ("append",), "rows", ("added",)),
    Rule("engine", ("append", "first-row"), "sequence", ("none",)),
    Rule("engine", ("append", "first-row"), "changelog", ("none",)),
    Rule("engine", ("append",), "files", ("plain", "full", "counts", "none", "bloom")),
    Rule("engine", _KEYED, "bucket", FACTORS["bucket"][1:]),
    Rule("engine", ("first-row",), "rows", ("added",)),
    # The real Paimon cannot look bytes up, and this engine must.
    Rule("engine", ("first-row",), "key", tuple(key for key in FACTORS["key"] if key != "bytes")),
    Rule("bucket", ("mod",), "key", ("int", "bigint")),
    Rule("bucket", ("hive",), "key", tuple(k for k in FACTORS["key"] if "timestamp" not in k)),
    Rule("bucket", ("cross-partition",), "partition", ("text", "date+int")),
    Rule("bucket", ("cross-partition",), "sequence", ("none",)),
    # The referee compacts them itself, whatever Paimon would pick.
    Rule("bucket", ("unaware",), "compaction", ("by Java",)),
)

PARTITIONS: Mapping[str, Mapping[str, tuple[Json, ...]]] = {
    "none": {},
    "text": {"p": ("plain", "a b/c=d:e%f", "%41", "żółć", "a+b")},
    "date+int": {"p": ("1969-12-31", "2024-02-29"), "q": (-1, 20)},
}
PARTITION_TYPES = {"text": ("STRING",), "date+int": ("DATE", "INT")}
FREE = tuple(
    name for name in KINDS if not name.endswith(("_small", "_wide")) and name != "timestamp_9"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One combination and what is made of it.

    Attributes:
        seed: Its seed.
        choices: The choice of each factor.
        columns: Types of the columns as JSON, in order, before the change.
        primary_key: The key, with partition columns where it must have them.
        partition_by: The partition columns.
        options: Table options.
        writes: Rows before the change, twice, and after it, three times; each has its kind first.
        change: The schema change; None for none.
    """

    seed: int
    choices: Mapping[str, str]
    columns: Mapping[str, Json]
    primary_key: tuple[str, ...]
    partition_by: tuple[str, ...]
    options: Mapping[str, str]
    writes: tuple[Rows, Rows, Rows, Rows, Rows]
    change: Mapping[str, Json] | None

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return "/".join(self.choices.values())

    @property
    def columns_after(self) -> list[str]:
        """Names of the columns after the change."""
        return _names_after(list(self.columns), self.change)

    def describe(self) -> str:
        """The cell as a text to be read when it fails."""
        head = [f"cell of seed {self.seed}: {self.name}", f"  columns {dict(self.columns)}"]
        head += [f"  key {self.primary_key}, partition {self.partition_by}"]
        head += [f"  options {dict(self.options)}", f"  change {self.change}"]
        writes = ["\n    ".join(["  write", *map(str, rows)]) for rows in self.writes]
        return "\n".join([*head, *writes])

    def schema(self) -> dict[str, Json]:
        """The schema as the referee takes it, with the field ids that a builder of Paimon gives."""
        counter = iter(range(10_000))
        return {
            "fields": [
                {"id": next(counter), "name": name, "type": _with_ids(kind, counter)}
                for name, kind in self.columns.items()
            ],
            "partitionKeys": list(self.partition_by),
            "primaryKeys": list(self.primary_key),
            "options": dict(self.options),
            "comment": None,
        }


def make_cell(seed: int) -> Cell:
    """The cell of a seed: seeds from 1 on go through one array after the other."""
    number, place = divmod(seed - 1, ARRAY_CELLS)
    return _Maker(seed, _array(number)[place]).make()


@functools.cache
def _array(number: int) -> list[dict[str, str]]:
    return make_array(FACTORS, RULES, count=ARRAY_CELLS, seed=number)[:ARRAY_CELLS]


class _Maker:
    """Makes the table of one cell."""

    def __init__(self, seed: int, choices: Mapping[str, str]) -> None:
        self._seed = seed
        self._choices = choices
        self._rng = random.Random(f"cell {seed}")
        self._keys = {f"k{i}": kind for i, kind in enumerate(choices["key"].split("+"))}
        self._kinds = self._keys | self._values()
        self._change = _change(choices["evolution"])
        self._partition = PARTITIONS[choices["partition"]]
        kinds = self._keys.values()
        drawn = (tuple(map(self._draw, kinds)) for _ in range(KEYS))
        self._identities = list(dict.fromkeys(drawn))

    def make(self) -> Cell:
        choices, is_keyed = self._choices, self._choices["engine"] != "append"
        crosses = choices["bucket"] == "cross-partition"
        partition = dict(
            zip(self._partition, PARTITION_TYPES.get(choices["partition"], ()), strict=True)
        )
        key = () if not is_keyed else (*(() if crosses else partition), *self._keys)
        kinds = {name: KINDS[kind].type for name, kind in self._kinds.items()}
        return Cell(
            seed=self._seed,
            choices=choices,
            columns={
                name: f"{kind} NOT NULL" if name in key else kind
                for name, kind in (partition | kinds).items()
            },
            primary_key=key,
            partition_by=tuple(partition),
            options=self._options(),
            writes=(
                *(self._rows(), self._rows()),
                *(self._rows(later=True), self._rows(later=True), self._rows(later=True)),
            ),
            change=self._change,
        )

    def _values(self) -> dict[str, str]:
        rng, engine = self._rng, self._choices["engine"]
        values = {"v_text": "string", "v_int": "int", "v_real": "double", "x": rng.choice(FREE)}
        if self._choices["sequence"] != "none":
            values["s"] = rng.choice(("int", "bigint", "timestamp_6", "string"))
        if engine == "sequence-group":
            values |= {"g": "bigint", "m_text": "string", "m_day": "date"}
        if engine == "aggregation":
            values |= {"a_sum": "bigint_small", "a_max": "int", "a_any": "boolean"}
        return values

    def _rows(self, *, later: bool = False) -> Rows:
        names = {"p", "q"} & set(self._partition)
        kinds = {**dict.fromkeys(sorted(names), ""), **self._kinds}
        columns = _names_after(list(kinds), self._change) if later else list(kinds)
        # Among rows of one commit the real Paimon's write buffer forgets that an order descends.
        once = self._choices["sequence"] == "descending"
        every = range(len(self._identities))
        places = self._rng.sample(every, len(every)) if once else self._rng.choices(every, k=ROWS)
        return tuple(self._row(columns, place) for place in places)

    def _row(self, columns: list[str], at: int) -> list[Json]:
        rng = self._rng
        row = dict(zip(self._keys, self._identities[at], strict=True))
        moves = self._choices["bucket"] == "cross-partition"
        for name, values in self._partition.items():
            row[name] = rng.choice(values) if moves else values[at % len(values)]
        if self._choices["engine"] == "append" or moves:
            row |= {name: None for name in self._partition if rng.random() < 0.2}
        kinds: tuple[str, ...] = EVERY_KIND if self._choices["rows"] == "changed" else ADDED
        if self._choices["engine"] == "append":
            kinds = ("+I",)
        if moves and self._choices["engine"] not in {"deduplicate", "first-row"}:
            # A -D takes back the partition columns, too, which are folded with the others; no twin
            # of Java's says what of them comes back.
            kinds = ADDED
        return [rng.choice(kinds), *(row[n] if n in row else self._value(n) for n in columns)]

    def _value(self, name: str) -> Json:
        if self._rng.random() < 0.25:
            return None
        return self._draw({"renamed": "string", "added": "date"}.get(name) or self._kinds[name])

    def _draw(self, kind: str) -> Json:
        """A value; for ORC none that Lakebed refuses, whose test is elsewhere."""
        values = KINDS[kind].values
        if self._choices["format"] == "orc":
            values = tuple(value for value in values if value != BEFORE_1970)
        return self._rng.choice(values)

    def _options(self) -> dict[str, str]:
        choices = self._choices
        options = {
            "write-only": "true",
            **_BUCKETS[choices["bucket"]],
            **_FORMATS[choices["format"]],
            **_FILES[choices["files"]],
            **self._engine_options(),
        }
        if choices["engine"] == "append" and choices["bucket"] != "unaware":
            options["bucket-key"] = ",".join(self._keys)
        if choices["sequence"] != "none":
            options["sequence.field"] = "s"
        if choices["sequence"] == "descending":
            options["sequence.field.sort-order"] = "descending"
        if choices["changelog"] != "none":
            options["changelog-producer"] = choices["changelog"]
        return options

    def _engine_options(self) -> dict[str, str]:
        changed = self._choices["rows"] == "changed"
        match self._choices["engine"]:
            case "append" | "deduplicate":
                return {}
            case "first-row":
                return {"merge-engine": "first-row"}
            case "partial-update":
                key = self._rng.choice(_DELETES)
                return {"merge-engine": "partial-update", **({key: "true"} if changed else {})}
            case "sequence-group":
                group = {"fields.g.sequence-group": "m_text,m_day"}
                return {"merge-engine": "partial-update", **group}
            case _:
                options = {"merge-engine": "aggregation"}
                for column, function in _FUNCTIONS.items():
                    options[f"fields.{column}.aggregate-function"] = function
                    if changed and function != "sum":
                        options[f"fields.{column}.ignore-retract"] = "true"
                return options


_DELETES = ("ignore-delete", "partial-update.remove-record-on-delete")
_FUNCTIONS = {"a_sum": "sum", "a_max": "max", "a_any": "bool_or"}
_BUCKETS: dict[str, dict[str, str]] = {
    "unaware": {},
    "default": {"bucket": "3"},
    "mod": {"bucket": "3", "bucket-function.type": "mod"},
    "hive": {"bucket": "3", "bucket-function.type": "hive"},
    "dynamic": {"bucket": "-1"},
    "cross-partition": {"bucket": "-1"},
    "postpone": {"bucket": "-2"},
}
_FORMATS: dict[str, dict[str, str]] = {
    "parquet": {"file.format": "parquet"},
    "avro": {"file.format": "avro"},
    "orc": {"file.format": "orc"},
    "mixed": {"file.format": "parquet", "file.format.per.level": "0:avro"},
}
_FILES: dict[str, dict[str, str]] = {
    "plain": {},
    "thin": {"data-file.thin-mode": "true"},
    "full": {"metadata.stats-mode": "full"},
    "counts": {"metadata.stats-mode": "counts"},
    "none": {"metadata.stats-mode": "none"},
    "bloom": {"file-index.bloom-filter.columns": "v_int"},
}


def _change(evolution: str) -> dict[str, Json] | None:
    changes: dict[str, dict[str, Json]] = {
        "add": {
            "action": "addColumn",
            "fieldNames": ["added"],
            "dataType": "DATE",
            "comment": None,
            "move": None,
        },
        "rename": {"action": "renameColumn", "fieldNames": ["v_text"], "newName": "renamed"},
        "drop": {"action": "dropColumn", "fieldNames": ["v_real"]},
        "widen": {
            "action": "updateColumnType",
            "fieldNames": ["v_int"],
            "newDataType": "BIGINT",
            "keepNullability": True,
        },
    }
    return changes.get(evolution)


def _names_after(names: list[str], change: Mapping[str, Json] | None) -> list[str]:
    match change:
        case {"action": "addColumn"}:
            return [*names, "added"]
        case {"action": "renameColumn"}:
            return ["renamed" if name == "v_text" else name for name in names]
        case {"action": "dropColumn"}:
            return [name for name in names if name != "v_real"]
        case _:
            return names


def _with_ids(kind: Json, counter: Iterator[int]) -> Json:
    """The type with ids for the fields inside, in the order in which they are met."""
    if isinstance(kind, str):
        return kind
    inside = {
        key: _with_ids(value, counter)
        for key, value in kind.items()
        if key in {"element", "key", "value"}
    }
    if "fields" in kind:
        inside["fields"] = [
            {"id": next(counter), "name": field["name"], "type": _with_ids(field["type"], counter)}
            for field in kind["fields"]
        ]
    return {**kind, **inside}
