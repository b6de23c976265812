"""Rows that are tried out on a branch and then added to the table, and a table made anew."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Loads a day on a branch, merges it, and replaces the table by one with other columns."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("web")
        columns = lakebed.schema([("page", "STRING"), ("hits", "INT")])
        visits = catalog.create_table("web.visits", schema=columns)
        visits.append(counted("home", 3))

        visits.create_tag("fork")
        visits.create_branch("load", "fork")
        load = catalog.load_table("web.visits$branch_load")
        load.append(counted("shop", 5))
        visits.append(counted("help", 1))
        print("in the table:", pages(visits), "on the branch:", pages(load))
        visits.merge_branch("load")
        print("merged:", pages(visits))
        print("merged again:", visits.merge_branch("load"))

        other = lakebed.schema([("page", "STRING NOT NULL"), ("seconds", "DOUBLE")])
        visits = catalog.replace_table("web.visits", schema=other, primary_key=["page"])
        print("replaced:", pages(visits), "and before:", visits.scan(snapshot_id=3).count())


def counted(page: str, hits: int) -> pa.Table:
    """One row."""
    return pa.table({"page": [page], "hits": pa.array([hits], "int32")})


def pages(table: lakebed.Table) -> list[str]:
    """The pages, in order."""
    return sorted(row["page"] for row in table.scan(["page"]).to_arrow().to_pylist())


if __name__ == "__main__":
    main()
