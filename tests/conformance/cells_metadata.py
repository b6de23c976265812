"""Does Lakebed's table say in its metadata what the real Paimon's says that had the same rows?

Schemas and snapshots are compared as the JSON that lies there, manifests entry by entry as Paimon's
own classes read them, and so are the schemas inside Avro files and the columns of data files. What
cannot be equal is listed in `FREE`, with the reason; all else must be.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.orc
import pyarrow.parquet as pq

from tools.peers.referee import Referee

Json = Any

_FRESH_NAME = "a fresh name, or one of many"
_BYTES = "how long a file gets depends on the library that encodes it"
_WHEN = "when it was written"
FREE = {
    "schema": {"timeMillis": _WHEN},
    "snapshot": {
        "commitUser": _FRESH_NAME,
        "baseManifestList": _FRESH_NAME,
        "deltaManifestList": _FRESH_NAME,
        "changelogManifestList": _FRESH_NAME,
        "indexManifest": _FRESH_NAME,
        "baseManifestListSize": _BYTES,
        "deltaManifestListSize": _BYTES,
        "changelogManifestListSize": _BYTES,
        "timeMillis": _WHEN,
    },
    "manifest": {"_FILE_NAME": _FRESH_NAME, "_FILE_SIZE": _BYTES},
    "file": {"_FILE_NAME": _FRESH_NAME, "_FILE_SIZE": _BYTES, "_CREATION_TIME": _WHEN},
    "changelog": dict.fromkeys(
        ("_EXTRA_FILES", "_EMBEDDED_FILE_INDEX"), "1.4.2 gives changelog files indexes, 2.0.0 none"
    ),
    "index": {"_FILE_NAME": _FRESH_NAME, "_FILE_SIZE": _BYTES},
}
# What a snapshot says since 2.0.0: its own identity, who wrote it, and what was asked for.
SINCE_2 = ("uuid", "writerVersion", "operation")


@dataclass(frozen=True, slots=True)
class Difference:
    """One value that differs.

    Attributes:
        place: The file and the field.
        java: What the real Paimon wrote.
        lakebed: What Lakebed wrote.
    """

    place: str
    java: Json
    lakebed: Json

    def __str__(self) -> str:
        """The difference in a line."""
        return f"{self.place}: Java {json.dumps(self.java)}, Lakebed {json.dumps(self.lakebed)}"


def compare(ours: Path, theirs: Path, referee: Referee) -> list[Difference]:
    """Every difference between what two tables say, but for what is free."""
    found = list(compare_files(ours, theirs, "schema"))
    found += compare_files(ours, theirs, "snapshot")
    mine, java = referee.metadata(ours), referee.metadata(theirs)
    unbounded = {
        # 1.4.2 keeps no bounds of BYTES in Parquet, 2.0.0 does.
        "": _columns_of(theirs, "BYTES"),
        # ORC's own bounds of floats depend on where among the rows a NaN stands.
        ".orc": _columns_of(theirs, "FLOAT", "DOUBLE"),
    }
    for snapshot in java:
        place = f"snapshot {snapshot}"
        parts = (_comparable(each.get(snapshot, {}), unbounded) for each in (java, mine))
        found += _differences(place, *parts)
    found += _differences("directories and hints", _places(theirs), _places(ours))
    found += _compare_avro(ours, theirs)
    found += _compare_data(ours, theirs, mine=mine, java=java)
    return found


def compare_files(ours: Path, theirs: Path, kind: str) -> Iterator[Difference]:
    """The JSON files of schemas or of snapshots."""
    names = sorted(path.name for path in (theirs / kind).glob(f"{kind}-*"))
    found = sorted(path.name for path in (ours / kind).glob(f"{kind}-*"))
    if names != found:
        yield Difference(place=f"{kind}/", java=names, lakebed=found)
        return
    for name in names:
        java, mine = (_load(directory / kind / name, kind) for directory in (theirs, ours))
        yield from _differences(name, java, mine)


def _load(path: Path, kind: str) -> Json:
    document = json.loads(path.read_text(encoding="utf-8"))
    return {
        name: "" if name in FREE[kind] and value is not None else value
        for name, value in document.items()
        if name not in SINCE_2
    }


def _places(table: Path) -> list[str]:
    """Directories, which name partitions and buckets, and the hint that each commit gives.

    The other one, `EARLIEST`, is given when snapshots expire, which compactions by Java try.
    """
    places = (path for path in table.rglob("*") if path.is_dir() or path.name == "LATEST")
    return sorted(str(path.relative_to(table)) for path in places)


def _columns_of(table: Path, *types: str) -> set[str]:
    """Columns that have one of these types in some schema."""
    schemas = (json.loads(path.read_bytes()) for path in (table / "schema").iterdir())
    return {
        field["name"]
        for schema in schemas
        for field in schema["fields"]
        if str(field["type"]).startswith(types)
    }


def _comparable(parts: Mapping[str, Json], unbounded: Mapping[str, set[str]]) -> Json:
    """A snapshot's manifests without what is free, entries in one order."""
    made: dict[str, Json] = {
        name: [
            {**_without(manifest, "manifest"), "entries": _entries(manifest["entries"], unbounded)}
            for manifest in parts[name]
        ]
        for name in ("base", "delta", "changelog")
        if name in parts
    }
    for manifest in made.get("changelog", ()):
        for entry in manifest["entries"]:
            entry["_FILE"] = _without(entry["_FILE"], "changelog")
    if "index" in parts:
        made["index"] = sorted((_without(e, "index") for e in parts["index"]), key=_text)
    return made


def _entries(entries: list[Json], unbounded: Mapping[str, set[str]]) -> list[Json]:
    made = []
    for entry in sorted(entries, key=_rank):
        decoded = json.loads(json.dumps(entry["decoded"]))
        bounds = [
            decoded[stats][end]
            for stats in ("key stats", "value stats")
            if stats in decoded
            for end in ("min", "max")
        ]
        file_name = entry["_FILE"]["_FILE_NAME"]
        free = {n for end, names in unbounded.items() if file_name.endswith(end) for n in names}
        is_free = any(name in bound for bound in bounds for name in free)
        for bound in bounds:
            for name in free:
                bound.pop(name, None)
        bare = {**entry, "decoded": decoded, "_FILE": _file(entry["_FILE"])}
        made.append(_without_raw(bare) if is_free else bare)
    return made


def _file(file: Json) -> Json:
    """A file's metadata without what is free; of its extra files, how their names go on."""
    extra = [name.removeprefix(file["_FILE_NAME"]) for name in file["_EXTRA_FILES"]]
    return _without(file | {"_EXTRA_FILES": extra}, "file")


def _rank(entry: Json) -> tuple[Json, ...]:
    file = entry["_FILE"]
    return (
        *(entry["_KIND"], entry["_PARTITION"], entry["_BUCKET"], file["_LEVEL"]),
        *(file["_MIN_SEQUENCE_NUMBER"], file["_SCHEMA_ID"]),
    )


def _without(row: Json, kind: str) -> Json:
    return {name: value for name, value in row.items() if name not in FREE[kind]}


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _differences(place: str, java: Json, mine: Json) -> Iterator[Difference]:
    """What differs, down to the field."""
    if isinstance(java, dict) and "decoded" in java and java["decoded"] != mine["decoded"]:
        java, mine = _without_raw(java), _without_raw(mine)
    if isinstance(java, dict) and isinstance(mine, dict):
        for name in [*java, *(name for name in mine if name not in java)]:
            if name not in java or name not in mine:
                values = (each.get(name, "absent") for each in (java, mine))
                yield Difference(f"{place}.{name}", *values)
            else:
                yield from _differences(f"{place}.{name}", java[name], mine[name])
    elif isinstance(java, list) and isinstance(mine, list) and len(java) == len(mine):
        for index, pair in enumerate(zip(java, mine, strict=True)):
            yield from _differences(f"{place}[{index}]", *pair)
    elif _is_text(java) and _is_text(mine):
        yield Difference(
            place,
            [line for line in java if line not in mine],
            [line for line in mine if line not in java],
        )
    elif java != mine or type(java) is not type(mine):
        yield Difference(place=place, java=java, lakebed=mine)


def _without_raw(entry: Json) -> Json:
    """An entry without the rows in it that are bytes, for they are there decoded as well."""
    file = {**entry["_FILE"], **dict.fromkeys(("_MIN_KEY", "_MAX_KEY"), "")}
    for name in ("_KEY_STATS", "_VALUE_STATS"):
        file[name] = {"_NULL_COUNTS": file[name]["_NULL_COUNTS"]}
    return {**entry, "_FILE": file, "_PARTITION": ""}


def _is_text(value: Json) -> bool:
    """Whether it is the lines of a file's description, of which those that differ say enough."""
    return isinstance(value, list) and all(isinstance(line, str) for line in value)


def _compare_avro(ours: Path, theirs: Path) -> Iterator[Difference]:
    """The schemas in manifests, lists of them and index manifests."""
    for kind in ("manifest-list-", "manifest-", "index-manifest-"):
        java, mine = (_avro_schema(directory, kind) for directory in (theirs, ours))
        yield from compare_types(kind, java, mine)


def _avro_schema(table: Path, kind: str) -> Json:
    names = (
        path for path in (table / "manifest").iterdir() if re.match(kind + r"[0-9a-f]", path.name)
    )
    first = next(names, None)
    return avro_header(first)["avro.schema"] if first else None


def compare_types(place: str, java: Json, mine: Json) -> Iterator[Difference]:
    """Two Avro schemas; fields that 1.4.2 lacks may follow, if they need not be there."""
    if isinstance(java, list) and isinstance(mine, list) and len(java) == len(mine):
        for one, other in zip(java, mine, strict=True):
            yield from compare_types(place, one, other)
    elif isinstance(java, dict) and isinstance(mine, dict) and "fields" in java:
        known = len(java["fields"])
        yield from _differences(
            place, java | {"fields": ""}, {**mine, "fields": "" if "fields" in mine else None}
        )
        for one, other in zip(java["fields"], mine.get("fields", ()), strict=False):
            inside = f"{place}.{one['name']}"
            yield from _differences(inside, one | {"type": ""}, other | {"type": ""})
            yield from compare_types(inside, one["type"], other["type"])
        for field in mine.get("fields", ())[known:]:
            if field["type"][0] != "null" or field.get("default", "") is not None:
                yield Difference(place=place, java="absent", lakebed=field)
    else:
        yield from _differences(place, java, mine)


def avro_header(path: Path) -> dict[str, Json]:
    """The metadata of an Avro file, with its schema parsed."""
    data, at = path.read_bytes(), 4
    header: dict[str, Json] = {}

    def number() -> int:
        nonlocal at
        shift = result = 0
        while True:
            byte = data[at]
            at += 1
            result |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return (result >> 1) ^ -(result & 1)

    def text() -> str:
        nonlocal at
        size = number()
        at += size
        return data[at - size : at].decode("utf-8")

    while count := number():
        if count < 0:
            number()
        for _ in range(abs(count)):
            name = text()
            header[name] = text()
    header["avro.schema"] = json.loads(header["avro.schema"])
    return header


def _compare_data(
    ours: Path, theirs: Path, *, mine: Mapping[str, Json], java: Mapping[str, Json]
) -> Iterator[Difference]:
    """The columns of data files, in the order in which manifests are compared."""
    for snapshot, parts in java.items():
        for kind in ("delta", "changelog"):
            files, found = (
                [
                    (entry, directory)
                    for manifest in each.get(kind, ())
                    for entry in sorted(manifest["entries"], key=_rank)
                    if entry["_KIND"] == 0
                ]
                for each, directory in ((parts, theirs), (mine.get(snapshot, {}), ours))
            )
            for (entry, _), (entry_of_mine, _) in zip(files, found, strict=False):
                shapes = [
                    _shape(directory, each["_FILE"]["_FILE_NAME"])
                    for directory, each in ((theirs, entry), (ours, entry_of_mine))
                ]
                place = f"{kind} file of snapshot {snapshot}"
                is_avro = all(isinstance(shape, dict) for shape in shapes)
                yield from (compare_types if is_avro else _differences)(place, *shapes)


def _shape(table: Path, name: str) -> Json:
    """The columns of a data file as its own format writes them."""
    path = next(table.rglob(name))
    match path.suffix:
        case ".parquet":
            # Before the columns stands the address of an object, then a name that means nothing.
            lines = str(pq.ParquetFile(path).schema).split("\n")[2:]
            # Old readers wanted the pairs of a map marked so; Arrow does not.
            return [line.replace(" key_value (Map) {", " key_value {") for line in lines]
        case ".avro":
            return avro_header(path)["avro.schema"]
        case ".orc":
            return str(pyarrow.orc.ORCFile(path).schema).split("\n")
        case suffix:
            return suffix
