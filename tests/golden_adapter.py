"""Lakebed as a reader of the golden corpus.

`tests/golden/check.py` loads this file and asks `read` for every query of the corpus. Dates and
timestamps leave as text, because Python's own types end at microseconds and at the year 9999;
every other value is Python's.
"""

import os
import time

import pyarrow as pa

import lakebed

os.environ["TZ"] = "UTC"
time.tzset()


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
    return plain(rows).to_pylist()


def plain(rows: pa.Table) -> pa.Table:
    """The same rows with dates and timestamps as text, however deep they sit."""
    return rows.cast(pa.schema([field.with_type(_plain_type(field.type)) for field in rows.schema]))


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
