"""DELETE and UPDATE: rows of an append table are marked, and no file is rewritten."""

import tempfile

import pyarrow as pa

import lakebed
from lakebed.errors import InvalidDataError


def main() -> None:
    """Deletes and updates by conditions; an update that would not hold is refused."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        visits = catalog.create_table(
            "shop.visits",
            schema=lakebed.schema([("user", "STRING"), ("hits", "INT")]),
            options={"deletion-vectors.enabled": True},
        )
        visits.append(
            pa.table({"user": ["ada", "bob", "eve"], "hits": pa.array([1, 2, 3], "int32")})
        )
        visits.update({"hits": "hits * 10"}, where="user = 'bob'")
        visits.delete(where="user = 'eve'")
        print(visits.scan().to_arrow().sort_by("user").to_pylist())
        files = catalog.load_table("shop.visits$files").scan(columns=["record_count"]).to_arrow()
        print("rows of files", files.sort_by("record_count")["record_count"].to_pylist())

        orders = catalog.create_table(
            "shop.orders",
            schema=lakebed.schema([("id", "BIGINT NOT NULL"), ("state", "STRING"), ("at", "INT")]),
            primary_key=["id"],
            options={"bucket": 1, "sequence.field": "at"},
        )
        orders.upsert(pa.table({"id": [1], "state": ["paid"], "at": pa.array([5], "int32")}))
        try:
            orders.update({"state": "'new'", "at": 4}, where="id = 1")
        except InvalidDataError as error:
            print("refused:", str(error).partition(", not")[0])


if __name__ == "__main__":
    main()
