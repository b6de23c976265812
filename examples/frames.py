"""Frames in, frames out: polars, pandas and Arrow, by batch where a table is large."""

import tempfile

import pandas as pd
import polars as pl

import lakebed


def main() -> None:
    """Writes a polars and a pandas frame, reads all three kinds."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("db")
        schema = lakebed.schema([("city", "STRING"), ("people", "BIGINT")])
        table = catalog.create_table("db.cities", schema=schema)

        table.append(pl.DataFrame({"city": ["Oslo", "Lima"], "people": [700_000, None]}))
        table.append(pd.DataFrame({"city": ["Accra"], "people": [2_500_000]}))

        print(table.scan(where="people IS NOT NULL").to_polars().sort("people").to_dicts())
        print(
            table.scan(where="people > 1000000 OR city = 'Lima'")
            .to_pandas()
            .city.sort_values()
            .tolist()
        )
        print(sum(batch.num_rows for batch in table.scan().to_batches()), "rows by batch")


if __name__ == "__main__":
    main()
