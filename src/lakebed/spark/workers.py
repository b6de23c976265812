"""Can Spark's Python workers import Lakebed? Asked once a session, before the first task that must.

Without asking, a user whose workers run another Python than the driver meets a ModuleNotFoundError
deep inside a Spark trace, at the first action on a frame.
"""

import re
import sys
from collections.abc import Iterator

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakebed.errors import LakebedError
from lakebed.spark.registry import Registry

_MISSING = re.compile(r"ModuleNotFoundError: (No module named \S+)")


def check_workers(spark: SparkSession, registry: Registry) -> None:
    """Refuses a session whose workers cannot import Lakebed.

    Raises:
        LakebedError: Says what is missing and what to set.
    """
    if registry.has_checked_workers:
        return
    try:
        spark.range(1).mapInArrow(_same, "id bigint").collect()
    except PySparkException as error:
        missing = _MISSING.search(str(error))
        if missing is None:
            raise
        raise LakebedError(
            f"Spark's Python workers cannot import lakebed ({missing[1]}): they run another Python "
            f"than this one. Set PYSPARK_PYTHON, for instance to {sys.executable}, before the "
            "session starts, or install lakebed there; on Spark Connect in the server's Python"
        ) from error
    registry.has_checked_workers = True


def _same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sent by name, so a worker has to import this module to run it."""
    yield from batches
