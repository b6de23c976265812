"""How is work on many values spread over Spark's tasks, instead of over threads of the driver?"""

import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from lakebed.errors import LakebedError
from lakebed.spark.registry import Registry
from lakebed.spark.worker import RESULT_COLUMN, RunCalls
from lakebed.spark.workers import check_workers, map_rows

Found = TypeVar("Found")

FEW_VALUES = 16
"""What the driver has worked off before a Spark job has begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpread:
    """Calls a function for each of many values in tasks (`table.spreading.Spread`).

    What is called may be called again: a task that fails is run anew.

    Attributes:
        spark: The session.
        registry: The session's registry.
        tasks: How many tasks, at most.
        few_values: Up to how many values the driver does itself.
    """

    spark: SparkSession
    registry: Registry
    tasks: int
    few_values: int = FEW_VALUES

    def __call__(self, work: Callable[[Any], Found], values: Iterable[Any], /) -> list[Found]:
        """As `map`.

        Raises:
            LakebedError: The first call that failed.
        """
        every = list(values)
        if len(every) <= self.few_values:
            return list(map(work, every))
        check_workers(self.spark, self.registry)
        count = min(self.tasks, len(every))
        groups = tuple(pickle.dumps(every[number::count]) for number in range(count))
        numbers = self.spark.range(0, count, 1, count)
        run = RunCalls(pickle.dumps(work), groups)
        rows = map_rows(numbers, run, f"{RESULT_COLUMN} BINARY").collect()
        # Written by our own tasks.
        results = [pickle.loads(row[0]) for row in rows]
        for result in results:
            if isinstance(result, LakebedError):
                raise result
        found: dict[int, list[Found]] = dict(results)
        return [found[place % count][place // count] for place in range(len(every))]
