"""What the real engine answered about the golden tables, and how rows are compared with it.

The answers are JSON: numbers and booleans as they are, but NaN and infinities as text; decimals,
dates, times and timestamps as text; bytes in base64; maps as lists of pairs.
"""

import base64
import json
import math
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

EXPECTED = Path(__file__).parents[1] / "golden" / "expected"
_PLENTY = Context(prec=80)


@dataclass(frozen=True)
class GoldenQuery:
    """One question and its answer.

    Attributes:
        table: Name of the table.
        id: Name of the question.
        args: Keyword arguments of the reader.
        columns: Names and Spark types.
        rows: The answer, encoded.
        unordered: Array columns whose order means nothing.
    """

    table: str
    id: str
    args: dict[str, Any]
    columns: list[tuple[str, str]]
    rows: list[list[Any]]
    unordered: frozenset[str]

    @property
    def kind(self) -> str:
        """What is asked: `latest`, `snapshot`, `filter`, `columns`, or another word."""
        given = {name for name, value in self.args.items() if value is not None}
        if not given:
            return "latest"
        for name, kind in (("snapshot", "snapshot"), ("columns", "columns")):
            if name in given and not given & {"tag", "system_table", "incremental"}:
                return kind
        return "filter" if given == {"filter_sql"} else "other"

    def difference(self, rows: Sequence[Mapping[str, object]]) -> str | None:
        """None when the rows are the answer, as a multiset; else how they differ."""
        names = [name for name, _ in self.columns]
        for row in rows[:1]:
            if list(row) != names and set(row) != set(names):
                return f"columns {sorted(row)} for {sorted(names)}"
        types = [parse_type(kind) for _, kind in self.columns]
        return self.difference_of_encoded(
            [encode(row[n], t) for n, t in zip(names, types, strict=True)] for row in rows
        )

    def difference_of_encoded(self, rows: Iterable[Sequence[Any]]) -> str | None:
        """The same for values that are encoded already, in the order of the columns."""
        wanted = Counter(self._canonical(row) for row in self.rows)
        found = Counter(self._canonical(row) for row in rows)
        if wanted == found:
            return None
        lacking, surplus = wanted - found, found - wanted
        return f"lacks {list(lacking)[:2]}, has {list(surplus)[:2]} too many"

    def _canonical(self, row: Sequence[Any]) -> str:
        values = [
            sorted(value, key=json.dumps) if value and name in self.unordered else value
            for value, (name, _) in zip(row, self.columns, strict=True)
        ]
        return json.dumps(values, sort_keys=True, ensure_ascii=False)


def golden_queries(table: str) -> Iterator[GoldenQuery]:
    """The answered questions about a table."""
    document = json.loads((EXPECTED / f"{table}.json").read_text(encoding="utf-8"))
    for query in document["queries"]:
        if "rows" in query:
            yield GoldenQuery(
                table=table,
                id=query["id"],
                args=query["args"],
                columns=[tuple(column) for column in query["columns"]],
                rows=query["rows"],
                unordered=frozenset(document.get("unordered", ())),
            )


@dataclass(frozen=True)
class SparkType:
    """A Spark type: its name, and the types inside with their names, if it has any."""

    name: str
    inside: tuple[tuple[str, "SparkType"], ...] = ()


def parse_type(text: str) -> SparkType:
    """Reads `map<int,struct<a:string>>`."""
    name, bracket, rest = text.strip().partition("<")
    if not bracket:
        return SparkType(name)
    members = _split(rest.removesuffix(">"))
    if name != "struct":
        return SparkType(name, tuple(("", parse_type(member)) for member in members))
    pairs = (member.split(":", 1) for member in members)
    return SparkType(name, tuple((field.strip(), parse_type(kind)) for field, kind in pairs))


def _split(text: str) -> list[str]:
    members, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            members.append(text[start:index])
            start = index + 1
    return [*members, text[start:]]


def encode(value: Any, kind: SparkType) -> Any:  # noqa: ANN401 - values of any type
    """A value as the answers have it."""
    if value is None:
        return None
    name = kind.name
    match name:
        case "array":
            return [encode(each, kind.inside[0][1]) for each in value]
        case "map":
            pairs = [[encode(k, kind.inside[0][1]), encode(v, kind.inside[1][1])] for k, v in value]
            return sorted(pairs, key=lambda pair: json.dumps(pair, sort_keys=True))
        case "struct":
            return {field: encode(value[field], inner) for field, inner in kind.inside}
        case "float" | "double":
            return _encode_float(value, is_single=name == "float")
        case "binary":
            return base64.b64encode(value).decode()
        case "time":
            whole, _, fraction = str(value).partition(".")
            return f"{whole}.{fraction[:3]:0<3}"
        case _:
            return _encode_plain(value, name)


def _encode_plain(value: Any, name: str) -> Any:  # noqa: ANN401 - values of any type
    if name.startswith("decimal"):
        scale = int(name.removesuffix(")").rsplit(",", 1)[1])
        return format(value.quantize(Decimal(1).scaleb(-scale), context=_PLENTY), "f")
    if name.startswith("timestamp"):
        return _encode_timestamp(value, is_utc=name == "timestamp")
    return value


def _encode_float(value: float, *, is_single: bool) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    single: float = struct.unpack("f", struct.pack("f", value))[0]
    return single if is_single else value


def _encode_timestamp(text: str, *, is_utc: bool) -> str:
    """From Arrow's text; at least six digits of fraction, no zeros beyond them."""
    day, _, clock = text.removesuffix("Z").partition(" ")
    whole, _, fraction = clock.partition(".")
    digits = f"{fraction:0<6}"
    digits = digits[:6] + digits[6:].rstrip("0")
    return f"{day}T{whole}.{digits}{'Z' if is_utc else ''}"
