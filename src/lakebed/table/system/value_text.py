"""How the values of keys, bounds and partitions are written as text in system tables.

Keys and bounds show the value as the format holds it: a DATE is its day number, a TIME its
milliseconds, a TIMESTAMP ISO 8601 in as few digits as do. Partitions show what a cast to text
gives. Of bytes the format's own engine prints an object's place in memory, which says nothing; here
they are `<binary>`.
"""

import datetime as dt
from collections.abc import Sequence

import pyarrow as pa

from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.typing import (
    ArrowArray,
    ArrowColumn,
    encode_dictionary,
    nulls,
    python_values,
    scalar_of,
    taken,
)
from lakebed.format.binary_row.codec import decode_rows
from lakebed.format.binary_row.layout import one_array
from lakebed.format.partition_path import partition_value_text
from lakebed.format.predicate.evaluation_text import text_of_decimals, text_of_floats
from lakebed.format.types import DataField

NULL_TEXT = "null"
BINARY_TEXT = "<binary>"


def stored_text(values: ArrowArray) -> ArrowArray:
    """The text of each value as the format holds it; null stays null."""
    kind = values.type
    text: ArrowArray
    if pa.types.is_null(kind):
        text = nulls(len(values), pa.string())
    elif pa.types.is_timestamp(kind):
        text = _iso_text(values)
    elif pa.types.is_date32(kind) or pa.types.is_time32(kind):
        text = pc.cast(pc.cast(values, pa.int32()), pa.string())
    elif pa.types.is_floating(kind):
        text = text_of_floats(values)
    elif pa.types.is_decimal(kind):
        text = text_of_decimals(values)
    elif pa.types.is_binary(kind):
        shown = scalar_of(BINARY_TEXT, pa.string())
        text = pc.if_else(values.is_valid(), shown, scalar_of(None, pa.string()))
    else:
        text = pc.cast(values, pa.string())
    return text


def _iso_text(values: ArrowArray) -> ArrowArray:
    """`2024-01-31T23:59`, then seconds and fractions in threes of digits if there are any."""
    unit = values.type.unit
    local = pc.cast(values, pa.timestamp(unit)) if values.type.tz else values
    text = pc.strftime(local, format="%Y-%m-%dT%H:%M:%S")
    if unit != "s":
        text = pc.replace_substring_regex(text, r"\.?(?:000)+\z", "")
    plain: ArrowArray = pc.replace_substring_regex(text, r"(T\d\d:\d\d):00\z", r"\1")
    return plain


def list_text(columns: Sequence[ArrowArray]) -> ArrowArray:
    """`[a, b]` of the texts in each row."""
    parts: list[object] = ["["]
    for index, column in enumerate(columns):
        parts += [", ", column] if index else [column]
    return _joined([*parts, "]"])


def map_text(columns: Sequence[tuple[str, ArrowArray]]) -> ArrowArray:
    """`{a=1, b=2}` of names and the texts in each row, in the order given."""
    parts: list[object] = []
    for index, (name, column) in enumerate(columns):
        parts += [f"{', ' if index else '{'}{name}=", column]
    return _joined([*parts, "}"])


def _joined(parts: Sequence[object]) -> ArrowArray:
    text: ArrowArray = pc.binary_join_element_wise(
        *parts, "", null_handling="replace", null_replacement=NULL_TEXT
    )
    return text


def row_texts(
    rows: ArrowColumn, fields: Sequence[DataField], *, time_zone: dt.tzinfo
) -> ArrowArray:
    """`{p1, 2024-01-31}` of serialized rows of partition columns, of which few are distinct."""
    encoded = encode_dictionary(one_array(rows))
    types = [field.type for field in fields]
    columns = decode_rows(encoded.dictionary, types, source="partition")
    values = zip(*map(python_values, columns), strict=True)
    texts = [f"{{{', '.join(cast_texts(row, fields, time_zone=time_zone))}}}" for row in values]
    shown = pa.array(texts if fields else ["{}"] * len(encoded.dictionary), pa.string())
    return taken(shown, encoded.indices.to_numpy())


def cast_texts(
    values: Sequence[object], fields: Sequence[DataField], *, time_zone: dt.tzinfo
) -> list[str]:
    """What a cast to text gives of the values of one row, `null` for null."""
    return [
        NULL_TEXT
        if value is None
        else partition_value_text(value, field, legacy=False, time_zone=time_zone)
        for value, field in zip(values, fields, strict=True)
    ]
