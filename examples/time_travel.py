"""Time travel: every commit makes a snapshot, and any snapshot can be read, by id or by time."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Commits twice, reads both states."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("db")
        schema = lakebed.schema([("id", "INT NOT NULL"), ("name", "STRING")])
        table = catalog.create_table(
            "db.people", schema=schema, primary_key=["id"], options={"bucket": 1}
        )

        table.upsert(people([1, 2], ["Ada", "Grace"]))
        table.upsert(people([2], ["Grace Hopper"]))

        for snapshot in table.snapshots():
            names = table.scan(columns=["name"], snapshot_id=snapshot.id).to_polars()
            print(snapshot.id, sorted(names["name"]))

        first = table.snapshots()[0].time_millis
        print("then:", table.scan(where="id = 2", timestamp=first).to_arrow().to_pylist())
        # Any scan option of the format says the same.
        options = {"scan.timestamp-millis": first}
        print("then:", table.scan(where="id = 2", options=options).to_arrow().to_pylist())


def people(ids: list[int], names: list[str]) -> pa.Table:
    """People as an Arrow table."""
    return pa.table({"id": pa.array(ids, pa.int32()), "name": names})


if __name__ == "__main__":
    main()
