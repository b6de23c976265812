"""Compaction: what it would do, what it does, and the changelog that comes of it."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Writes three times, looks at the plan, compacts, and reads what changed."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        table = catalog.create_table(
            "shop.orders",
            schema=lakebed.schema([("id", "BIGINT NOT NULL"), ("state", "STRING")]),
            primary_key=["id"],
            options={"bucket": 1, "write-only": True, "changelog-producer": "full-compaction"},
        )
        table.upsert(pa.table({"id": [1, 2], "state": ["new", "new"]}))
        table.compact()
        table.upsert(pa.table({"id": [2, 3], "state": ["paid", "new"]}))
        table.delete(where="id = 1")

        for step in table.compact(dry_run=True).to_pylist():
            print(f"{step['files']} files to level {step['output_level']}: {step['why']}")
        snapshot = table.compact()
        if snapshot is None:
            raise SystemExit("there was nothing to compact")
        files = catalog.load_table("shop.orders$files").scan(columns=["level", "record_count"])
        print("files", files.to_arrow().to_pylist())
        changes = catalog.load_table("shop.orders$audit_log").scan(
            incremental=(snapshot.id - 1, snapshot.id), incremental_mode="changelog"
        )
        rows = changes.to_arrow().sort_by([("id", "ascending"), ("rowkind", "descending")])
        for row in rows.to_pylist():
            print(row["rowkind"], row["id"], row["state"])


if __name__ == "__main__":
    main()
