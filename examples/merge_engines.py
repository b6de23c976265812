"""Merge engines: how the rows of one key become one, in tables that Apache Paimon wrote.

    python examples/merge_engines.py /data/lake/shop.db/orders ...

Without arguments it reads tables that the real Paimon wrote for Lakebed's tests.
"""

import sys
from pathlib import Path

import lakebed

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "warehouse" / "db.db"
TABLES = ("pu_sequence_groups", "agg_retract", "first_row", "pk_sequence_field")


def main() -> None:
    """Shows the engine, the functions of columns, and the rows."""
    for path in sys.argv[1:] or [str(GOLDEN / name) for name in TABLES]:
        table = lakebed.load_table(path)
        print(Path(path).name, "is merged by", table.options.get("merge-engine", "deduplicate"))
        functions = lakebed.load_table(f"{path}$aggregation_fields")
        for row in functions.scan(where="function <> '[]'").to_arrow().to_pylist():
            print("  ", row["field_name"], row["function"])
        rows = table.scan().to_arrow().sort_by(table.primary_keys[0])
        for row in rows.slice(0, 3).to_pylist():
            print("  ", *row.values())


if __name__ == "__main__":
    main()
