"""A check: a table proves itself, and a copy of it with a damaged file does not."""

import shutil
import tempfile
from pathlib import Path

import pyarrow as pa

import lakebed


def main() -> None:
    """Makes a table, damages a copy, and has the damage found."""
    with tempfile.TemporaryDirectory() as directory:
        catalog = lakebed.load_catalog(warehouse=f"{directory}/lake")
        catalog.create_database("shop")
        orders = catalog.create_table(
            "shop.orders",
            schema=lakebed.schema([("id", "INT NOT NULL"), ("state", "STRING")]),
            primary_key=["id"],
            options={"bucket": "1"},
        )
        for state in ("new", "paid"):
            ids = pa.array(range(100), "int32")
            orders.upsert(pa.table({"id": ids, "state": [state] * 100}))

        findings = orders.check()
        print("clean:", findings.is_clean, findings.files, "files,", findings.rows, "rows")

        copy = Path(directory, "copy")
        shutil.copytree(orders.location.removeprefix("file://"), copy)
        first, second = sorted((copy / "bucket-0").iterdir())
        first.write_bytes(second.read_bytes())
        second.unlink()
        for found in lakebed.load_table(str(copy)).check().errors:
            print(found.what, "to repair:", found.repair)


if __name__ == "__main__":
    main()
