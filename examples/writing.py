"""Writing: merge engines, buckets that grow, changelogs, formats and indexes of files.

    python examples/writing.py /data/lake

Without an argument the warehouse is a temporary directory.
"""

import sys
import tempfile
from pathlib import Path

import pyarrow as pa

import lakebed


def main(warehouse: str) -> None:
    """Writes three tables and shows what became of the rows."""
    catalog = lakebed.load_catalog(warehouse=warehouse)
    catalog.create_database("shop", ignore_if_exists=True)

    # Sums of what is sold a day; no number of buckets: they grow as keys come.
    sales = catalog.create_table(
        "shop.sales",
        schema=lakebed.schema([("item", "STRING"), ("day", "STRING"), ("sold", "BIGINT")]),
        primary_key=["item", "day"],
        partition_by=["day"],
        options={"merge-engine": "aggregation", "fields.sold.aggregate-function": "sum"},
    )
    sales.upsert(pa.table({"item": ["pot", "pan"], "day": ["mon", "mon"], "sold": [2, 1]}))
    sales.upsert(pa.table({"item": ["pot", "pot"], "day": ["mon", "tue"], "sold": [3, 1]}))
    show("sales", sales)
    sales.drop_partitions([{"day": "mon"}])
    show("sales without monday", sales)

    # Two sources, each with some of the columns; the changelog keeps what they sent.
    orders = catalog.create_table(
        "shop.orders",
        schema=lakebed.schema([("id", "BIGINT"), ("state", "STRING"), ("total", "BIGINT")]),
        primary_key=["id"],
        options={"bucket": 1, "merge-engine": "partial-update", "changelog-producer": "input"},
    )
    orders.upsert(pa.table({"id": [1, 2], "state": ["new", "new"]}))
    orders.upsert(pa.table({"id": [1], "total": [30]}))
    show("orders", orders)
    changes = orders.scan(incremental=(0, 2), incremental_mode="changelog").to_arrow()
    print("rows that came:", changes.num_rows)

    # Another format, and an index that spares files without the value.
    visits = catalog.create_table(
        "shop.visits",
        schema=lakebed.schema([("id", "BIGINT"), ("page", "STRING")]),
        primary_key=["id"],
        options={"bucket": 2, "file.format": "orc", "file-index.bloom-filter.columns": "page"},
    )
    visits.upsert(pa.table({"id": list(range(100)), "page": [f"page {i}" for i in range(100)]}))
    files = catalog.load_table("shop.visits$files").scan(columns=["bucket", "file_format"])
    print("files:", sorted(tuple(row.values()) for row in files.to_arrow().to_pylist()))
    print("found:", visits.scan(where="page = 'page 7'").to_arrow().to_pylist())


def show(title: str, table: lakebed.Table) -> None:
    """Prints the rows by key."""
    rows = table.scan().to_arrow().sort_by([(key, "ascending") for key in table.primary_keys])
    print(title, [tuple(row.values()) for row in rows.to_pylist()])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1] if len(sys.argv) > 1 else Path(scratch).as_uri())
