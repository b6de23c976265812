"""Tags and branches: a name for a moment, and another line of snapshots over the same files.

    python examples/tags_and_branches.py /data/lake/shop.db/orders

Without an argument it reads a table that the real Paimon wrote for Lakebed's tests.
"""

import sys
from pathlib import Path

import lakebed

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "warehouse" / "db.db"


def main() -> None:
    """Reads the table as of each tag, and from each branch."""
    path = sys.argv[1] if len(sys.argv) > 1 else str(GOLDEN / "tags_branches")
    table = lakebed.load_table(path)
    print("now:", table.scan().count(), "rows")
    for name in names(f"{path}$tags", "tag_name"):
        print(f"as of tag {name}:", table.scan(tag=name).count(), "rows")
    for name in names(f"{path}$branches", "branch_name"):
        branch = lakebed.load_table(f"{path}$branch_{name}")
        print(f"on branch {name}:", branch.scan().count(), "rows")
        print("   its snapshots:", [snapshot.id for snapshot in branch.snapshots()])


def names(system_table: str, column: str) -> list[str]:
    """The values of a column of a system table, sorted."""
    return sorted(lakebed.load_table(system_table).scan(columns=[column]).to_polars()[column])


if __name__ == "__main__":
    main()
