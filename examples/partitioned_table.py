"""A partitioned table: a query on the partition column opens that partition's files alone."""

import tempfile
from pathlib import Path

import pyarrow as pa

import lakebed


def main() -> None:
    """Writes three days, reads one."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("logs")
        schema = lakebed.schema([("day", "STRING"), ("host", "STRING"), ("hits", "BIGINT")])
        table = catalog.create_table("logs.hits", schema=schema, partition_by=["day"])

        days = ["2026-01-01", "2026-01-02", "2026-01-03"]
        table.append(pa.table({"day": days, "host": ["a", "b", "c"], "hits": [1, 2, 3]}))

        print(table.scan(where="day = '2026-01-02'").to_arrow().to_pylist())
        for path in sorted(Path(warehouse).glob("logs.db/hits/day=*")):
            print(path.name)


if __name__ == "__main__":
    main()
