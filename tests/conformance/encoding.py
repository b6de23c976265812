"""The values of every reader as one kind of JSON: that of the golden answers.

Lakebed and pypaimon-rust give Arrow rows; the real Paimon's Java API gives JSON in which just the
order of a MAP's pairs is left open. Types come as in a schema file.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from golden_adapter import plain
from support.golden_answers import SparkType, encode

Json = Any

NAMES = {
    "INTEGER": "int",
    "CHAR": "string",
    "VARCHAR": "string",
    "BYTES": "binary",
    "VARBINARY": "binary",
    "TIMESTAMP": "timestamp_ntz",
    "TIMESTAMP_LTZ": "timestamp",
}


def spark_type(kind: Json) -> SparkType:
    """The type of a schema file as the golden encoding names it."""
    if isinstance(kind, str):
        return _atomic_type(kind)
    match kind["type"].split()[0]:
        case "ARRAY":
            return SparkType("array", (("", spark_type(kind["element"])),))
        case "MAP":
            return SparkType(
                "map", (("", spark_type(kind["key"])), ("", spark_type(kind["value"])))
            )
        case "MULTISET":
            return SparkType("map", (("", spark_type(kind["element"])), ("", SparkType("int"))))
        case _:
            fields = ((field["name"], spark_type(field["type"])) for field in kind["fields"])
            return SparkType("struct", tuple(fields))


def _atomic_type(text: str) -> SparkType:
    text = text.removesuffix(" NOT NULL")
    name = re.split(r"[ (]", text)[0]
    if name == "DECIMAL":
        return SparkType(text.lower().replace(" ", ""))
    if text.endswith("WITH LOCAL TIME ZONE"):
        return SparkType("timestamp")
    return SparkType(NAMES.get(name, name.lower()))


def count_arrow(
    rows: pa.Table, types: Mapping[str, SparkType], *, unordered: Collection[str] = ()
) -> Counter[str]:
    """Rows of Arrow as a multiset of texts.

    Args:
        rows: The rows.
        types: The type of each column, in their order.
        unordered: ARRAY columns in which the order of elements means nothing.
    """
    return _count(encode_rows(rows, types), types, unordered)


def encode_rows(rows: pa.Table, types: Mapping[str, SparkType]) -> list[list[Json]]:
    """Rows of Arrow with values as the referee takes and gives them."""
    return [
        [encode(row[name], kind) for name, kind in types.items()]
        for row in plain(rows.select(list(types))).to_pylist()
    ]


def count_java(
    rows: Iterable[Sequence[Json]],
    types: Mapping[str, SparkType],
    *,
    unordered: Collection[str] = (),
) -> Counter[str]:
    """Rows of the Java API as a multiset of texts; the arguments are those of `count_arrow`."""
    kinds = list(types.values())
    encoded = (
        [sort_maps(value, kind) for value, kind in zip(row, kinds, strict=True)] for row in rows
    )
    return _count(encoded, types, unordered)


def _count(
    rows: Iterable[list[Json]], names: Iterable[str], unordered: Collection[str]
) -> Counter[str]:
    indexes = [index for index, name in enumerate(names) if name in unordered]
    texts: Counter[str] = Counter()
    for row in rows:
        for index in indexes:
            row[index] = row[index] and sorted(row[index], key=json.dumps)
        texts[json.dumps(row, sort_keys=True, ensure_ascii=False)] += 1
    return texts


def sort_maps(value: Json, kind: SparkType) -> Json:
    """The value with the pairs of every MAP in the order of the golden answers."""
    if value is None:
        return None
    match kind.name:
        case "array":
            return [sort_maps(element, kind.inside[0][1]) for element in value]
        case "map":
            (_, key), (_, item) = kind.inside
            pairs = [[sort_maps(k, key), sort_maps(v, item)] for k, v in value]
            return sorted(pairs, key=lambda pair: json.dumps(pair, sort_keys=True))
        case "struct":
            return {name: sort_maps(value[name], inner) for name, inner in kind.inside}
        case _:
            return value
