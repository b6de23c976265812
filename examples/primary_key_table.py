"""A primary-key table: a row replaces the row with its key, and rows can be deleted."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Upserts, deletes, and reads what is left."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        schema = lakebed.schema([("id", "BIGINT NOT NULL"), ("state", "STRING"), ("total", "INT")])
        table = catalog.create_table(
            "shop.orders", schema=schema, primary_key=["id"], options={"bucket": 2}
        )

        table.upsert(rows([(1, "new", 10), (2, "new", 20), (3, "new", 30)]))
        table.upsert(rows([(2, "paid", 20), (4, "new", 40)]))
        table.delete(where="id = 3")

        for row in table.scan().to_arrow().sort_by("id").to_pylist():
            print(row)


def rows(orders: list[tuple[int, str, int]]) -> pa.Table:
    """Orders as an Arrow table; a pandas or polars frame would do as well."""
    numbers, states, totals = zip(*orders, strict=True)
    return pa.table({"id": numbers, "state": states, "total": pa.array(totals, pa.int32())})


if __name__ == "__main__":
    main()
