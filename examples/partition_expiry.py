"""Partitions that expire by the day that they stand for, and partitions that are marked as done."""

import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

import lakebed


def main() -> None:
    """Keeps events for seven days, and tells when a day is complete."""
    today = datetime.now(UTC).date()
    days = [f"{today - timedelta(days=age):%Y%m%d}" for age in (30, 8, 6, 0)]
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = lakebed.load_catalog(warehouse=warehouse)
        catalog.create_database("web")
        events = catalog.create_table(
            "web.events",
            schema=lakebed.schema([("id", "BIGINT"), ("dt", "STRING")]),
            partition_by=["dt"],
            options={
                "partition.timestamp-formatter": "yyyyMMdd",
                "partition.timestamp-format.strict": True,
            },
        )
        events.append(pa.table({"id": range(len(days)), "dt": days}))

        expired = events.expire_partitions("7 d")
        print("days that went:", len(expired), expired == [{"dt": day} for day in days[:2]])
        print("rows left:", events.scan().count())
        try:
            events.append(pa.table({"id": [9], "dt": ["today"]}))
        except lakebed.errors.InvalidDataError as error:
            print("refused:", str(error).split(" by ")[0])

        events.mark_partition_done({"dt": days[2]})
        mark = Path(warehouse, "web.db", "events", f"dt={days[2]}", "_SUCCESS")
        print("done:", sorted(json.loads(mark.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
