"""System tables: what a table says of its commits, files and partitions, read like any table."""

import tempfile

import pyarrow as pa

import lakebed
from lakebed.catalog.catalog import Catalog


def main() -> None:
    """Writes twice, then looks behind the table."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("logs")
        schema = lakebed.schema([("day", "STRING"), ("host", "STRING"), ("hits", "INT")])
        table = catalog.create_table("logs.hits", schema=schema, partition_by=["day"])
        table.append(hits("2026-01-01", [1, 2, 3]))
        table.append(hits("2026-01-02", [40, 50]))

        show(catalog, "logs.hits$snapshots", ["snapshot_id", "commit_kind", "delta_record_count"])
        show(catalog, "logs.hits$partitions", ["partition", "record_count", "file_count"])
        show(catalog, "logs.hits$files", ["partition", "level", "max_value_stats"])
        show(catalog, "logs.hits$manifests", ["num_added_files", "min_partition_stats"])
        show(catalog, "sys.tables", ["table_name", "partitioned", "primary_key"])

        files = catalog.load_table("logs.hits$files")
        print("files of snapshot 1:", files.scan(snapshot_id=1).count())
        print("files with many rows:", files.scan(where="record_count > 2").count())


def show(catalog: Catalog, name: str, columns: list[str]) -> None:
    """Prints some columns of a system table, in the order of the first two."""
    rows = catalog.load_table(name).scan(columns).to_arrow()
    ordered = rows.sort_by([(column, "ascending") for column in columns[:2]])
    print(name, *(tuple(row.values()) for row in ordered.to_pylist()))


def hits(day: str, counts: list[int]) -> pa.Table:
    """One row a host."""
    hosts = [f"host{number}" for number in range(len(counts))]
    columns = {"day": [day] * len(counts), "host": hosts, "hits": pa.array(counts, pa.int32())}
    return pa.table(columns)


if __name__ == "__main__":
    main()
