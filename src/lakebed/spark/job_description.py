"""What do Spark's own pages call a job of ours while it runs?"""

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

# Spark hands settings of a session on to its jobs as properties, and shows this one of them.
_DESCRIPTION = "spark.job.description"


@contextmanager
def described(spark: SparkSession, text: str) -> Iterator[None]:
    """Describes the jobs that run in a `with` block."""
    before = spark.conf.get(_DESCRIPTION, None)
    spark.conf.set(_DESCRIPTION, text)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_DESCRIPTION)
        else:
            spark.conf.set(_DESCRIPTION, before)
