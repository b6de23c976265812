"""Schema evolution: files of any older schema read through the one that is asked for.

    python examples/schema_evolution.py /data/lake/shop.db/orders

Without an argument it reads a table that the real Paimon wrote for Lakebed's tests.
"""

import sys
from pathlib import Path

import lakebed

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "warehouse" / "db.db"


def main() -> None:
    """Shows the columns of each snapshot, and what the oldest rows are through the newest."""
    path = sys.argv[1] if len(sys.argv) > 1 else str(GOLDEN / "evolve_pk")
    table = lakebed.load_table(path)
    for snapshot in table.snapshots():
        then = table.scan(snapshot_id=snapshot.id).schema
        columns = ", ".join(f"{field.name} {field.type}" for field in then)
        print(f"snapshot {snapshot.id}, schema {snapshot.schema_id}: {columns}")

    oldest = table.snapshots()[0].id
    for title, scan in (
        ("then:", table.scan(snapshot_id=oldest, where="id < 3")),
        ("now:", table.scan(where="id < 3")),
    ):
        print(title, *scan.to_arrow().sort_by("id").to_pylist(), sep="\n   ")


if __name__ == "__main__":
    main()
