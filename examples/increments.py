"""Increments: what changed between two snapshots, with or without the kind of each change."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Commits four times, reads what the last three changed."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        schema = lakebed.schema([("id", "BIGINT NOT NULL"), ("state", "STRING")])
        table = catalog.create_table(
            "shop.orders", schema=schema, primary_key=["id"], options={"bucket": 1}
        )
        table.upsert(pa.table({"id": [1, 2], "state": ["new", "new"]}))
        table.upsert(pa.table({"id": [2, 3], "state": ["paid", "new"]}))
        table.upsert(pa.table({"id": [3], "state": ["paid"]}))
        table.delete(where="id = 1")

        changes = (1, 4)
        show("rows of commits 2 to 4", table.scan(incremental=changes).to_arrow())
        compared = table.scan(incremental=changes, incremental_mode="diff")
        show("what 4 has and 1 lacks", compared.to_arrow())
        audit_log = catalog.load_table("shop.orders$audit_log")
        show("rows with their kinds", audit_log.scan(incremental=changes).to_arrow())


def show(what: str, rows: pa.Table) -> None:
    """Prints rows in the order of their keys."""
    ordered = rows.sort_by([("id", "ascending"), ("state", "ascending")])
    print(what, [" ".join(map(str, row.values())) for row in ordered.to_pylist()])


if __name__ == "__main__":
    main()
