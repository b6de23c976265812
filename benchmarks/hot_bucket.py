"""Does one bucket with most of the rows stall a write in Spark? 5 M rows into 16 buckets.

The same number of rows three times: spread evenly; 90 % of them in one bucket; 90 % of them of one
key in a hundred, where an upsert keeps only the last of each key.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from benchmarks.datasets import CACHE, COLUMNS, orders
from benchmarks.harness import Contender, Effort, Outcome, Target, alternate
from benchmarks.spark_session import attached_session
from lakebed.format.bucket import assign_buckets
from lakebed.format.types import AtomicType, TypeRoot

BUCKETS = 16
FILES = 4
HOT_SHARE = 0.9
AT_MOST = 1.3
EVEN = "spread evenly"
HOT_BUCKET = "90 % in one bucket"
HOT_KEYS = "90 % of 1 % of the keys"

Keys = npt.NDArray[np.int64]


def run(effort: Effort) -> list[Outcome]:
    """Each of the two, beside the same number of rows that are spread evenly."""
    row_count = 5 * effort.run_rows
    sources = {
        name: _source(f"hot-{index}-{row_count}", make, row_count=row_count)
        for index, (name, make) in enumerate(_KEYS.items())
    }
    with attached_session(CACHE / "hot") as spark:
        spark.sql("CREATE DATABASE IF NOT EXISTS lake.db")
        contenders = [
            Contender(name=name, measure=partial(_seconds, spark, source))
            for name, source in sources.items()
        ]
        figures = alternate(contenders, effort=effort)
    return [
        Outcome(
            name=f"Spark write, {name}",
            figures={name: figures[name], EVEN: figures[EVEN]},
            targets=(Target(of=EVEN, at_most=AT_MOST),),
        )
        for name in (HOT_BUCKET, HOT_KEYS)
    ]


def _seconds(spark: SparkSession, source: Path) -> float:
    """One append into a table that has no rows yet."""
    columns = ", ".join(f"{name} {kind}" for name, kind in _sql_types())
    spark.sql("DROP TABLE IF EXISTS lake.db.hot")
    spark.sql(
        f"CREATE TABLE lake.db.hot ({columns}) TBLPROPERTIES ('primary-key' = 'id',"
        f" 'bucket' = '{BUCKETS}', 'write-only' = 'true')"
    )
    rows = spark.read.parquet(str(source))
    started = time.perf_counter()
    rows.writeTo("lake.db.hot").append()
    return time.perf_counter() - started


def _sql_types() -> list[tuple[str, str]]:
    names = {pa.int64(): "BIGINT", pa.int32(): "INT", pa.float64(): "DOUBLE", pa.string(): "STRING"}
    return [(name, names[kind] + " NOT NULL" * (name == "id")) for name, kind in COLUMNS]


def _source(name: str, make: Callable[[int], Keys], *, row_count: int) -> Path:
    """Parquet files of the rows, made when they are missing."""
    directory = CACHE / name
    if not directory.exists():
        scratch = directory.with_suffix(".new")
        scratch.mkdir(parents=True, exist_ok=True)
        rows = orders(0, row_count=row_count).set_column(0, "id", pa.array(make(row_count)))
        for index in range(FILES):
            part = rows.slice(index * row_count // FILES, row_count // FILES)
            pq.write_table(part, scratch / f"{index}.parquet", compression="zstd")
        scratch.rename(directory)
    return directory


def _even(row_count: int) -> Keys:
    return np.random.default_rng(1).permutation(2 * row_count)[:row_count].astype(np.int64)


def _in_one_bucket(row_count: int) -> Keys:
    candidates = np.arange(2 * BUCKETS * row_count, dtype=np.int64)
    kind = AtomicType(root=TypeRoot.BIGINT, nullable=False)
    buckets = assign_buckets(
        [pa.array(candidates)], [kind], total_buckets=BUCKETS, function="default"
    )
    random = np.random.default_rng(2)
    hot = random.permutation(candidates[buckets == 0])[: round(HOT_SHARE * row_count)]
    cold = random.permutation(candidates[buckets != 0])[: row_count - len(hot)]
    return random.permutation(np.concatenate([hot, cold]))


def _of_few_keys(row_count: int) -> Keys:
    random = np.random.default_rng(3)
    few = random.integers(0, row_count // 100, round(HOT_SHARE * row_count))
    others = random.integers(0, row_count, row_count - len(few))
    return random.permutation(np.concatenate([few, others]))


_KEYS = {EVEN: _even, HOT_BUCKET: _in_one_bucket, HOT_KEYS: _of_few_keys}
