"""Paimon's connector 0.9.0 on PySpark 3.5 behind the operations of `tools.peers`, and SQL.

It runs in its own environment. Rows go through Parquet files, which Spark's own reader and writer
know: beside a connector's work that costs little, but it is part of the seconds of a read or write.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq
from answers import answer
from pyspark.sql import SparkSession
from serving import Answer, Stopwatch, load_rows, save_rows, serve

EXTENSIONS = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"


def start(*, settings: dict[str, str]) -> Answer:
    """Starts the session that the other operations use."""
    builder = SparkSession.builder.config("spark.sql.extensions", EXTENSIONS)
    builder.config(map=settings).getOrCreate()
    return None


def sql(*, statement: str) -> Answer:
    """Carries out a statement, to its last row."""
    session = SparkSession.getActiveSession()
    with Stopwatch() as watch:
        rows = session.sql(statement).collect()
    return {"seconds": watch.seconds, "rows": [list(row) for row in rows]}


def tell(*, text: str, is_python: bool) -> Answer:
    """Carries out a statement or a Python program; an error is an answer, too."""
    return answer(SparkSession.getActiveSession(), text, is_python=is_python)


def write(*, table: str, data: str) -> Answer:
    """Appends or upserts the rows of an Arrow file in one commit."""
    session, rows = SparkSession.getActiveSession(), load_rows(data)
    with TemporaryDirectory() as scratch:
        path = str(Path(scratch) / "rows.parquet")
        pq.write_table(rows, path)
        with Stopwatch() as watch:
            session.read.parquet(path).write.format("paimon").mode("append").save(table)
    return {"seconds": watch.seconds, "rows": rows.num_rows}


def read(*, table: str, out: str | None = None) -> Answer:
    """Reads the whole table."""
    session = SparkSession.getActiveSession()
    with TemporaryDirectory() as scratch:
        with Stopwatch() as watch:
            frame = session.read.format("paimon").load(table)
            frame.write.mode("overwrite").parquet(scratch)
        rows = pq.read_table(scratch)
    save_rows(rows, out)
    return {"seconds": watch.seconds, "rows": rows.num_rows}


if __name__ == "__main__":
    serve({"start": start, "sql": sql, "tell": tell, "write": write, "read": read})
