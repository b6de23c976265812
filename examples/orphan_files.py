"""Orphan files: what a writer that died left is found and deleted, and lost files are let go."""

import os
import tempfile
from pathlib import Path

import pyarrow as pa

import lakebed

DAY_SECONDS = 24 * 60 * 60


def main() -> None:
    """Leaves a file as a writer does that dies, cleans, then loses a file and goes on without."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        orders = catalog.create_table("shop.orders", schema=lakebed.schema([("id", "INT")]))
        for start in (0, 10):
            orders.append(pa.table({"id": pa.array(range(start, start + 10), "int32")}))

        data = sorted(Path(warehouse).rglob("bucket-0/data-*"))
        left = data[0].with_name("data-6a09e667-bb67-4e85-8ae5-3c6ef372fe72-0.parquet")
        left.write_bytes(data[0].read_bytes())
        print("too young to tell:", orders.remove_orphan_files(dry_run=True).num_rows)
        two_days_ago = left.stat().st_mtime - 2 * DAY_SECONDS
        os.utime(left, (two_days_ago, two_days_ago))
        orphans = orders.remove_orphan_files(dry_run=True)
        print("orphans:", [Path(str(path)).name for path in orphans["path"].to_pylist()])
        print("deleted:", orders.remove_orphan_files().num_rows, not left.exists())
        print("rows:", orders.scan().count())

        data[0].unlink()
        print("lost files:", len(orders.remove_unexisting_files(dry_run=True)))
        orders.remove_unexisting_files()
        print("rows left:", orders.scan().count())


if __name__ == "__main__":
    main()
