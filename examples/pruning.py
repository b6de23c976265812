"""Pruning: `explain()` says which files a scan leaves out; metadata tells counts and extremes.

    python examples/pruning.py /data/lake/shop.db/orders "id = 7" ...

Without arguments it reads a table with file indexes that the real Paimon wrote for Lakebed's tests.
"""

import sys
from pathlib import Path

import lakebed

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "warehouse" / "db.db"
CONDITIONS = ("id < 500", "color = 'purple'")


def main() -> None:
    """Explains a scan for each condition."""
    given = sys.argv[1:]
    table = lakebed.load_table(given[0] if given else str(GOLDEN / "append_index"))
    for condition in given[1:] or CONDITIONS:
        scan = table.scan(where=condition)
        print(f"{condition}: {scan.count()} rows")
        print(scan.explain())
    first, *_ = table.schema.names
    print(f"{first}: {table.scan().min(first)} to {table.scan().max(first)}, from metadata")


if __name__ == "__main__":
    main()
