"""Upkeep: rows laid out for filters, indexes and manifests made anew, old snapshots expired."""

import tempfile

import pyarrow as pa

import lakebed


def main() -> None:
    """Sorts a table by two columns, gives it an index, and lets what is old go."""
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("shop")
        events = catalog.create_table(
            "shop.events",
            schema=lakebed.schema([("user", "INT"), ("day", "INT"), ("what", "STRING")]),
            options={"target-file-row-num": 100, "file-index.bloom-filter.columns": "what"},
        )
        for part in range(4):
            numbers = range(part, 1600, 4)
            events.append(
                pa.table(
                    {
                        "user": pa.array([number % 40 for number in numbers], "int32"),
                        "day": pa.array([number // 40 for number in numbers], "int32"),
                        "what": [f"event {number}" for number in numbers],
                    }
                )
            )

        def files_read(where: str) -> int:
            return sum(len(split.file_paths) for split in events.scan(where=where).plan().splits)

        print("files read before:", files_read("user = 7"), files_read("day = 7"))
        events.compact(order_strategy="zorder", order_by=["user", "day"])
        print("files read after:", files_read("user = 7"), files_read("day = 7"))
        print("by the bloom filter:", files_read("what = 'event 281'"))

        print("every file has its index:", events.rewrite_file_index() is None)
        manifests = catalog.load_table("shop.events$manifests")
        print("manifests before:", manifests.scan().count())
        events.compact_manifest()
        print("manifests after:", manifests.scan().count())
        print("snapshots expired:", events.expire_snapshots(retain_max=1, retain_min=1))
        print("rows:", events.scan().count())


if __name__ == "__main__":
    main()
