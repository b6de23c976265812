"""What a cell's table must hold, worked out row by row, apart from all code under test.

Values stay encoded as JSON. Rows of one key are merged at once, from the oldest to the newest.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from conformance.cells import ROWS, Cell, Rows
from lakebed.lsm.merge import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from support.merge_oracle import (
    LAST_NON_NULL_VALUE,
    LAST_VALUE,
    SUM,
    AggregationOracle,
    FirstValue,
    Function,
    GroupOracle,
    PartialUpdateOracle,
)
from support.section_in_memory import ENDS, KeyValue

Json = Any
Values = dict[str, Json]
Files = dict[int, KeyValue]

KINDS = {"+I": INSERT, "-U": UPDATE_BEFORE, "+U": UPDATE_AFTER, "-D": DELETE}
MAX = Function(lambda a, b: b if a is None else a if b is None else max(a, b), lambda a, _: a)
KEY = Function(lambda _, key: key, lambda _, key: key)
ANY = Function(lambda a, b: b if a is None else a if b is None else a or b, lambda a, _: a)


def expected_rows(cell: Cell, writes: Sequence[Rows], *, compacted: int) -> list[list[Json]]:
    """The rows that a table shows after some of its cell's writes.

    Args:
        cell: The cell.
        writes: The writes: two before the schema change, and further ones after it.
        compacted: How many of them are compacted into one file.
    """
    commits = [
        [(row[0], _values(cell, row, number)) for row in rows] for number, rows in enumerate(writes)
    ]
    if not cell.primary_key:
        return [list(values.values()) for rows in commits for _, values in rows]
    keys = {_key(cell, values): None for rows in commits for _, values in rows}
    histories: dict[str, list[list[KeyValue]]] = {key: [[] for _ in commits] for key in keys}
    for number, rows in enumerate(commits):
        for place, (kind, values) in enumerate(rows):
            row = KeyValue(key=0, sequence=number * ROWS + place, kind=KINDS[kind], values=values)
            histories[_key(cell, values)][number].append(row)
    merged = (_merge_commits(cell, history, compacted) for history in histories.values())
    shown = (row for row in merged if row is not None and row.kind not in ENDS)
    return [[row.values[name] for name in cell.columns_after] for row in shown]


def _values(cell: Cell, row: Sequence[Json], number: int) -> Values:
    """A row's values by the names of the columns after the schema change."""
    if number > 1:
        return dict(zip(cell.columns_after, row[1:], strict=True))
    return _after(dict(zip(cell.columns, row[1:], strict=True)), cell)


def _key(cell: Cell, values: Values) -> str:
    return json.dumps([values[name] for name in cell.primary_key])


def _merge_commits(cell: Cell, commits: list[list[KeyValue]], compacted: int) -> KeyValue | None:
    """The row of a key: a write buffer merges those of a commit, a reader those of its files."""
    if cell.options.get("ignore-delete"):
        commits = [[row for row in rows if row.kind not in ENDS] for rows in commits]
    moves = cell.choices["engine"] in {"deduplicate", "first-row"}
    if cell.choices["bucket"] == "cross-partition" and not moves:
        return _merge_across(cell, commits, compacted)
    files = {number: _merge(cell, rows) for number, rows in enumerate(commits) if rows}
    return _merge_files(cell, files, compacted)


def _merge_files(cell: Cell, files: Files, compacted: int) -> KeyValue | None:
    """The row of a key from those of its files, of which the first ones became one file."""
    older = [row for number, row in files.items() if number < compacted]
    newer = [row for number, row in files.items() if number >= compacted]
    together = [_merge(cell, older)] if older else []
    if cell.choices["engine"] == "first-row":
        # What is not compacted is not shown.
        newer = []
    rows = [row for row in together if row.kind not in ENDS] + newer
    return _merge(cell, rows) if rows else None


def _after(row: Values, cell: Cell) -> Values:
    """A row from before the schema change with the columns from after it."""
    match cell.change:
        case {"action": "addColumn"}:
            return row | {"added": None}
        case {"action": "renameColumn"}:
            row = row | {"renamed": row["v_text"]}
        case _:
            pass
    return {name: row[name] for name in cell.columns_after}


def _merge(cell: Cell, rows: list[KeyValue]) -> KeyValue:
    if cell.choices["sequence"] != "none":
        rows = _in_sequence(cell, rows)
    match cell.choices["engine"]:
        case "deduplicate":
            return rows[-1]
        case "first-row":
            return rows[0]
        case _:
            kind, values = _engine(cell).combine(rows)
            return KeyValue(key=0, sequence=rows[-1].sequence, kind=kind, values=values)


def _engine(cell: Cell) -> AggregationOracle | PartialUpdateOracle:
    columns = tuple(cell.columns_after)
    if cell.choices["engine"] == "aggregation":
        functions: dict[str, Function | FirstValue] = dict.fromkeys(columns, LAST_NON_NULL_VALUE)
        functions |= dict.fromkeys(cell.primary_key, KEY)
        functions |= {"a_sum": SUM, "a_max": MAX, "a_any": ANY}
        functions |= {"s": LAST_VALUE} if cell.choices["sequence"] != "none" else {}
        return AggregationOracle(functions)
    if cell.choices["engine"] == "sequence-group":
        return PartialUpdateOracle(columns, (GroupOracle(("g",), ("m_text", "m_day")),))
    removes = "partial-update.remove-record-on-delete" in cell.options
    return PartialUpdateOracle(columns, remove_record_on_delete=removes)


def _in_sequence(cell: Cell, rows: list[KeyValue]) -> list[KeyValue]:
    """The rows from the smallest value of the sequence field, nulls first; equal ones as came."""
    known = [row for row in rows if row.values["s"] is not None]
    descends = cell.choices["sequence"] == "descending"
    # Sorting is stable both ways.
    known.sort(key=lambda row: _rank(row.values["s"]), reverse=descends)
    return [row for row in rows if row.values["s"] is None] + known


def _rank(value: Json) -> Json:
    """What orders values: numbers are themselves, texts their bytes; times have as many digits."""
    return value.encode() if isinstance(value, str) else value


def _merge_across(cell: Cell, commits: list[list[KeyValue]], compacted: int) -> KeyValue | None:
    """The row of a key that is in one partition at a time, as long as it is there at all."""
    of_place: dict[str, Files] = {}
    place: dict[str, Json] = {}
    for number, rows in enumerate(commits):
        if not rows:
            continue
        stored = _merge_files(cell, of_place.get(json.dumps(place), {}), compacted)
        if stored is None or stored.kind in ENDS:
            # A writer knows the keys that it can read: a key that is gone begins anew.
            place = {name: rows[0].values[name] for name in cell.partition_by}
        moved = [replace(row, values={**row.values, **place}) for row in rows]
        of_place.setdefault(json.dumps(place), {})[number] = _merge(cell, moved)
    return _merge_files(cell, of_place.get(json.dumps(place), {}), compacted)
