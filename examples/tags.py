"""Tags: a snapshot that stays when others expire, renamed, replaced and deleted."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Keeps the state of a table under a name, and lets it go again."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        orders = catalog.create_table(
            "shop.orders",
            schema=lakebed.schema([("id", "INT NOT NULL"), ("state", "STRING")]),
            primary_key=["id"],
            options={"bucket": 1},
        )

        def write(state: str) -> None:
            orders.upsert(pa.table({"id": pa.array([1], "int32"), "state": [state]}))

        def states(tag: str) -> list[str | None]:
            return orders.scan(columns=["state"], tag=tag).to_arrow()["state"].to_pylist()

        write("new")
        orders.create_tag("draft")
        write("paid")
        orders.create_tag("audit", time_retained="365 d")
        write("sent")

        print("snapshots expired:", orders.expire_snapshots(retain_max=1, retain_min=1))
        print("draft:", states("draft"), "audit:", states("audit"))

        orders.rename_tag("draft", "first")
        orders.replace_tag("audit")
        print("first:", states("first"), "audit:", states("audit"))

        orders.delete_tag("first")
        print("expired tags:", orders.expire_tags(older_than="2100-01-01"))
        print("tags:", catalog.load_table("shop.orders$tags").scan().count())
        print("now:", orders.scan().to_arrow().to_pylist())


if __name__ == "__main__":
    main()
