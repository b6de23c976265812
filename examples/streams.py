"""A table as a stream, in one process: what is there, what changes, and a consumer that goes on."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Follows a table with a changelog, and then as a consumer that comes back."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        orders = catalog.create_table(
            "shop.orders",
            schema=lakebed.schema([("id", "INT NOT NULL"), ("state", "STRING")]),
            primary_key=["id"],
            options={"bucket": "1", "changelog-producer": "lookup"},
        )
        orders.upsert(states({1: "new", 2: "new"}))
        print("mailer:", told(orders, consumer_id="mailer"))

        orders.upsert(states({1: "paid", 3: "new"}))
        orders.delete("id = 2")
        print("mailer again:", told(orders, consumer_id="mailer"))
        print("all there is now:", told(orders))

        # A writer that is run again, as after a crash, commits nothing twice.
        for _ in range(2):
            with orders.writer(user="import", identifier=1) as writer:
                writer.upsert(states({4: "new"}))
        print("commits of the import:", [s.commit_user for s in orders.snapshots()].count("import"))


def states(rows: dict[int, str]) -> pa.Table:
    """Orders with their states."""
    return pa.table({"id": pa.array(rows, pa.int32()), "state": list(rows.values())})


def told(table: lakebed.Table, consumer_id: str | None = None) -> list[str]:
    """What a stream says until now."""
    rows = [
        row
        for batch in table.stream(consumer_id=consumer_id, until="latest")
        for row in batch.to_pylist()
    ]
    return [f"{row['_row_kind']} {row['id']} {row['state']}" for row in rows]


if __name__ == "__main__":
    main()
