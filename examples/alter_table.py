"""Schemas: a table whose columns change while its rows stay.

python examples/alter_table.py
"""

import tempfile
from decimal import Decimal

import pyarrow as pa

import lakebed
from lakebed import changes


def write(table: lakebed.Table, row: dict[str, object]) -> None:
    """Appends a row; what it leaves out is null, or the column's default."""
    table.append(pa.Table.from_pylist([row], table.scan().schema))


def main() -> None:
    """Renames, widens, adds, moves and drops columns, and reads the rows from before."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        columns = [("id", "INT"), ("price", "INT"), ("place", "ROW<street STRING, zip INT>")]
        orders = catalog.create_table(
            "shop.orders", schema=lakebed.schema(columns), primary_key=["id"]
        )
        write(orders, {"id": 1, "price": 20, "place": {"street": "Elm", "zip": 12345}})

        orders = catalog.alter_table(
            "shop.orders",
            [
                changes.RenameColumn("price", "total"),
                changes.ChangeColumnType("total", "DECIMAL(10, 2)"),
                changes.AddColumn("state", "STRING", default="new", position=changes.After("id")),
                changes.AddColumn(("place", "city"), "STRING"),
                changes.DropColumn(("place", "zip")),
                changes.SetOption("snapshot.num-retained.min", 5),
                changes.SetComment("what was ordered"),
            ],
        )
        write(orders, {"id": 2, "total": Decimal("7.50"), "place": {"city": "Ulm"}})
        for row in orders.scan().to_arrow().sort_by("id").to_pylist():
            print(*row.values())
        (was,) = orders.scan(snapshot_id=1).to_arrow().to_pylist()
        print("as it was:", *was.values())


if __name__ == "__main__":
    main()
