"""How do rows of a frame get to Spark's Python workers, and can these import Lakebed?

The latter is asked once a session, before the first task that must. Without asking, a user whose
workers run another Python than the driver meets a ModuleNotFoundError deep inside a Spark trace, at
the first action on a frame.
"""

import re
import sys
from collections.abc import Callable

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lakebed.errors import LakebedError
from lakebed.spark.registry import Registry
from lakebed.spark.worker import Batches, Renamed, same_rows

_MISSING = re.compile(r"ModuleNotFoundError: (No module named \S+)")


def check_workers(spark: SparkSession, registry: Registry) -> None:
    """Refuses a session whose workers cannot import Lakebed.

    Raises:
        LakebedError: Says what is missing and what to set.
    """
    if registry.has_checked_workers:
        return
    try:
        spark.range(1).mapInArrow(same_rows, "id bigint").collect()
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


def map_rows(
    frame: DataFrame, function: Callable[[Batches], Batches], schema: StructType | str
) -> DataFrame:
    """`mapInArrow` of columns with any names.

    PySpark does not quote the names by which it looks columns up, and so misses those that have
    dots or backticks.

    Args:
        frame: The rows.
        function: What is done to the rows of a task.
        schema: What comes out.
    """
    columns = tuple(frame.columns)
    plain = frame.toDF(*(f"_{index}" for index in range(len(columns))))
    return plain.mapInArrow(Renamed(function, columns), schema)
