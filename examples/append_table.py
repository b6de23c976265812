"""An append table: rows go in, rows come out, and only the files that matter are opened."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Creates, appends, scans."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        schema = lakebed.schema([("id", "BIGINT"), ("item", "STRING"), ("price", "DOUBLE")])
        table = catalog.create_table("shop.sales", schema=schema)

        table.append(pa.table({"id": [1, 2], "item": ["tea", "cup"], "price": [4.5, 7.0]}))
        table.append(pa.table({"id": [3], "item": ["pot"], "price": [21.0]}))

        scan = table.scan(columns=["item", "price"], where="price > 5 AND item LIKE 'p%'")
        print(scan.to_arrow().to_pylist())
        print("all rows:", table.scan().count())


if __name__ == "__main__":
    main()
