"""What columns become when their type changed, as the real engine said it for each value."""

import datetime as dt
import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from datadriven.script import check_script
from lakebed.errors import InvalidDataError
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.arrow.typing import ArrowArray
from lakebed.format.casts.rules import cast_values, has_cast
from lakebed.format.type_json import type_from_json
from lakebed.format.types import DataType


def column_of(values: list[object], kind: pa.DataType) -> ArrowArray:
    """Values of JSON as Arrow has them; numbers with fractions, times and bytes are text there."""
    if isinstance(kind, pa.ListType | pa.StructType | pa.MapType):
        return pa.array([_nested(value, kind) for value in values], kind)
    if isinstance(kind, pa.Decimal128Type):
        return pa.array([None if v is None else Decimal(str(v)) for v in values], kind)
    if pa.types.is_binary(kind):
        return pa.array([None if v is None else bytes.fromhex(str(v)) for v in values], kind)
    if isinstance(kind, pa.TimestampType):
        texts = pa.array(values, pa.string())
        return texts.cast(pa.timestamp(kind.unit)).view(kind)
    if pa.types.is_time(kind):
        times = [None if v is None else dt.time.fromisoformat(str(v)) for v in values]
        return pa.array(times, kind)
    if pa.types.is_floating(kind) or pa.types.is_date(kind):
        return pa.array(values, pa.string()).cast(kind)
    return pa.array(values, kind)


def _nested(value: object, kind: pa.DataType) -> object:
    if value is None:
        return None
    assert isinstance(value, list)
    match kind:
        case pa.ListType():
            return column_of(value, kind.value_type).to_pylist()
        case pa.MapType():
            keys = column_of([key for key, _ in value], kind.key_type).to_pylist()
            items = column_of([item for _, item in value], kind.item_type).to_pylist()
            return list(zip(keys, items, strict=True))
        case pa.StructType():
            return {
                field.name: column_of([part], field.type)[0].as_py()
                for field, part in zip(kind, value, strict=True)
            }
        case _:
            raise TypeError(kind)


def _json(column: ArrowArray) -> list[str]:
    kind = column.type
    values: Sequence[object]
    if isinstance(kind, pa.TimestampType):
        values = _moments(column.cast(pa.int64()), kind.unit)
    elif kind == pa.date32():
        values = [None if m is None else m[:-19] for m in _moments(column.cast(pa.int32()), "D")]
    else:
        values = column.to_pylist()
    return [json.dumps(_plain(value), ensure_ascii=False) for value in values]


def _moments(counts: ArrowArray, unit: str) -> list[str | None]:
    """Times with nanoseconds, of years that Python has no date for too."""
    finest = "ns" if unit == "ns" else "us"
    missing = "" if unit == "ns" else "000"
    moments = np.asarray(counts.fill_null(0)).astype(f"M8[{unit}]").astype(f"M8[{finest}]")
    texts = [str(moment).replace("T", " ") + missing for moment in moments]
    is_null = np.asarray(counts.is_null())
    return [None if null else text for text, null in zip(texts, is_null, strict=True)]


def _plain(value: object) -> object:
    match value:
        case float():
            return repr(value)
        case Decimal():
            return f"{value:f}"
        case bytes():
            return value.hex()
        case dt.time():
            return value.isoformat("milliseconds")
        case _:
            return value


def _type(text: str) -> DataType:
    return type_from_json(json.loads(text) if text.startswith("{") else text)


def cast(told: tuple[str, ...]) -> list[str]:
    """Each value by itself, and then those that become something all at once."""
    header, *lines = told
    pair, _, zone = header.partition(" in ")
    source, target = map(_type, pair.split(" -> "))
    time_zone = ZoneInfo(zone or "UTC")
    values = [json.loads(line) for line in lines]
    column = column_of([None, *values, None], to_arrow_type(source))
    answers = []
    good = []
    for index in range(1, len(values) + 1):
        try:
            found = cast_values(column.slice(index, 1), source, target, time_zone=time_zone)
        except InvalidDataError:
            answers.append("error")
            continue
        good.append(index)
        assert found.type == to_arrow_type(target)
        answers += _json(found)
    together = column.take(pa.array([0, *good, 0], pa.int64())).slice(1)
    whole = cast_values(together, source, target, time_zone=time_zone)
    assert _json(whole) == [*(answers[index - 1] for index in good), "null"]
    return answers


def rules(told: tuple[str, ...]) -> list[str]:
    pairs = [map(_type, line.split(" -> ")) for line in told]
    return ["cast" if has_cast(source, target) else "none" for source, target in pairs]


def test_casts_give_what_the_real_engine_gives() -> None:
    path = Path(__file__).with_name("casts.txt")
    check_script(path, {"cast": cast, "rules": rules}, rewrite=False)
