"""The aggregate functions of nested values, as a fold over Python values: one row after the other.

This is the meaning that the vectorised functions are held to. Rows are `(value, takes back)`, from
old to new; arrays are lists, maps lists of pairs, rows of nested tables dicts.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lakebed.format.arrow.typing import python_values
from lakebed.lsm.functions.groups import Aggregate, Segments
from support.columns import sliced_array_of

Row = tuple[Any, bool]
Step = Callable[[Any, Any], Any]

_LIMITLESS = 2**31 - 1


def fold(rows: Sequence[Row], add: Step, take_back: Step | None = None) -> object:
    result: Any = None
    for value, takes_back in rows:
        if takes_back:
            assert take_back is not None
            result = take_back(result, value)
        else:
            result = add(result, value)
    return result


def is_blank(text: str | None) -> bool:
    return text is None or not text.strip(" \t\n\u2003")


def listagg(delimiter: str, *, distinct: bool) -> Step:
    def add(result: str | None, value: str | None) -> str | None:
        if is_blank(value):
            return result
        if is_blank(result):
            return value
        assert result is not None
        assert value is not None
        if not distinct:
            return result + delimiter + value
        there = set(result.split(delimiter or " "))
        for token in value.split(delimiter or " "):
            if not is_blank(token) and token not in there:
                there.add(token)
                result += delimiter + token
        return result

    return add


def collect(*, distinct: bool) -> tuple[Step, Step]:
    def add(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if result is None and value is None:
            return None
        if not distinct:
            return [*(result or []), *(value or [])]
        elements: list[Any] = []
        for element in [*(result or []), *(value or [])]:
            if element not in elements:
                elements.append(element)
        return elements

    def take_back(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if result is None or not value:
            return result
        gone, left = list(value), []
        for element in result:
            if element in gone:
                gone.remove(element)
            else:
                left.append(element)
        return left

    return add, take_back


def merge_map() -> tuple[Step, Step]:
    def add(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if result is None or value is None:
            return value if result is None else result
        return list({**dict(result), **dict(value)}.items())

    def take_back(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if result is None or not value:
            return result
        return [(key, kept) for key, kept in result if key not in dict(value)]

    return add, take_back


def merge_map_with_keytime(time: str) -> Step:
    def add(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if result is None or value is None:
            return value if result is None else result
        entries = dict(result)
        for key, row in value:
            if row is None:
                entries.pop(key, None)
            elif row[time] is not None:
                there = entries.get(key) or {time: None}
                if there[time] is None or _utf16(row[time]) > _utf16(there[time]):
                    entries[key] = row
        return list(entries.items())

    return add


def nested_update(
    key: tuple[str, ...] = (), sequence: tuple[str, ...] = (), limit: int = _LIMITLESS
) -> tuple[Step, Step]:
    if not key:
        return _nested_append(limit)

    def add(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if value is None:
            return result
        table = {_fields(row, key): row for row in result or []}
        for row in (row for row in value if row is not None):
            there = table.get(_fields(row, key))
            if there is None:
                if len(table) < limit:
                    table[_fields(row, key)] = row
            elif _age(row, sequence) >= _age(there, sequence):
                table[_fields(row, key)] = row
        return list(table.values())

    def take_back(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if result is None or value is None:
            return result
        gone = {_fields(row, key) for row in value if row is not None}
        return [row for row in result if _fields(row, key) not in gone]

    return add, take_back


def _nested_append(limit: int) -> tuple[Step, Step]:
    def add(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if value is None:
            return result
        there = result or []
        rows = [row for row in value if row is not None]
        return [*there, *rows[: max(limit - len(there), 0)]]

    def take_back(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if result is None or value is None:
            return result
        return [row for row in result if row not in value]

    return add, take_back


def nested_partial_update(key: tuple[str, ...]) -> Step:
    def add(result: list[Any] | None, value: list[Any] | None) -> list[Any] | None:
        if value is None:
            return result
        table: dict[Any, Any] = {}
        for row in [*(result or []), *value]:
            if row is not None:
                there = table.setdefault(_fields(row, key), dict.fromkeys(row))
                there.update({name: part for name, part in row.items() if part is not None})
        return list(table.values())

    return add


def _fields(row: dict[str, Any], names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _age(row: dict[str, Any], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Sorts rows by these fields, nulls first."""
    return [(False,) if row[name] is None else (True, row[name]) for name in names]


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-be")


def folded(aggregate: Aggregate, rows: Sequence[Sequence[Row]], kind: pa.DataType) -> list[object]:
    """What a vectorised function makes of these segments, in arrays that begin amid buffers."""
    flat = [row for segment in rows for row in segment]
    lengths = np.array([len(segment) for segment in rows], np.intp)
    retract = np.array([takes_back for _, takes_back in flat], np.bool_)
    segments = Segments(np.cumsum(lengths) - lengths, len(flat), retract if retract.any() else None)
    results = aggregate(sliced_array_of([value for value, _ in flat], kind), segments)
    results.validate(full=True)
    assert results.type == kind
    return python_values(results)
