"""A branch on which a change is tried, which the table then takes over; and a rollback."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Changes prices on a branch, takes them over, and rolls one back."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        prices = catalog.create_table(
            "shop.prices",
            schema=lakebed.schema([("item", "STRING NOT NULL"), ("price", "INT")]),
            primary_key=["item"],
            options={"bucket": 1},
        )
        prices.upsert(pa.table({"item": ["pot", "pan"], "price": pa.array([10, 20], "int32")}))

        prices.create_tag("fork")
        prices.create_branch("sale", "fork")
        sale = catalog.load_table("shop.prices$branch_sale")
        sale.update({"price": "price / 2"})
        print("on the branch:", listed(sale), "in the table:", listed(prices))

        prices.fast_forward("sale")
        print("taken over:", listed(prices))
        prices.delete_branch("sale")

        prices.delete("item = 'pot'")
        print("by mistake:", listed(prices))
        back = prices.rollback(tag="fork")
        print("rolled back to snapshot", back.id, listed(prices))


def listed(table: lakebed.Table) -> list[str]:
    """Items and prices, in order."""
    rows = table.scan().to_arrow().to_pylist()
    return sorted(f"{row['item']} {row['price']}" for row in rows)


if __name__ == "__main__":
    main()
