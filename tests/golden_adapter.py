"""Lakebed as a reader of the golden corpus.

`tests/golden/check.py` loads this file and asks `read` for every query of the corpus. Dates and
timestamps leave as text, because Python's own types end at microseconds and at the year 9999, and
variants as JSON; every other value is Python's.
"""

import os
import time
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

import lakebed
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.type_text import parse_type
from lakebed.format.types import AtomicType, DataField, TypeRoot
from lakebed.format.variant import variant_to_json

os.environ["TZ"] = "UTC"
time.tzset()

VARIANT = to_arrow_type(parse_type("VARIANT"))


def read(
    table_path: str,
    *,
    snapshot: int | None = None,
    tag: str | None = None,
    filter_sql: str | None = None,
    columns: list[str] | None = None,
    system_table: str | None = None,
    incremental: dict[str, int | str] | None = None,
) -> list[dict[str, object]]:
    """The rows of one query."""
    table = lakebed.load_table(f"{table_path}${system_table}" if system_table else table_path)
    rows = table.scan(
        columns=columns,
        where=filter_sql,
        snapshot_id=snapshot,
        tag=tag,
        incremental=(incremental["start"], incremental["end"]) if incremental else None,
        incremental_mode=str(incremental.get("mode", "auto")) if incremental else "auto",
    ).to_arrow()
    if system_table is not None:
        rows = _as_spark_shows(rows, table.schema.fields)
    variants = [field.name for field in rows.schema if field.type == VARIANT]
    return [
        {**row, **{name: _json(row[name]) for name in variants}} for row in plain(rows).to_pylist()
    ]


def _as_spark_shows(rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """Rows of a system table: TIME as milliseconds, timestamps to microseconds, CHAR padded.

    All system tables of the corpus were asked of Spark, which shows values so.
    """
    for index, name in enumerate(rows.schema.names):
        kind = next((field.type for field in fields if field.name == name), None)
        if isinstance(kind, AtomicType) and kind.root is TypeRoot.CHAR:
            padded = pc.utf8_rpad(rows.column(name), width=kind.length or 0)
            rows = rows.set_column(index, rows.schema.field(name), padded)
        elif pa.types.is_timestamp(rows.schema.field(name).type):
            cut = pc.floor_temporal(rows.column(name), unit="microsecond")
            rows = rows.set_column(index, rows.schema.field(name), cut)
    return rows.cast(
        pa.schema([field.with_type(_type_in_spark(field.type)) for field in rows.schema]),
        safe=False,
    )


def _type_in_spark(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_time(kind):
        return pa.int32()
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    return kind


def plain(rows: pa.Table) -> pa.Table:
    """The same rows with dates and timestamps as text, however deep they sit."""
    return rows.cast(pa.schema([field.with_type(_plain_type(field.type)) for field in rows.schema]))


def _json(variant: dict[str, bytes] | None) -> str | None:
    return None if variant is None else variant_to_json(variant["value"], variant["metadata"])


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_temporal(kind) and not pa.types.is_time(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain_type(kind.value_type)))
    if pa.types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_type(kind.item_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain_type(field.type)) for field in kind])
    return kind
