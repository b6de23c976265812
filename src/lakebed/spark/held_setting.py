"""A setting of a session that some actions need for as long as they run."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


class HeldSetting:
    """Set when the first of concurrent actions begins, and set back when the last one ends.

    Spark runs each stream in a copy of its session, with settings of its own: an action in another
    copy than those that run waits for them.
    """

    def __init__(self, key: str, value: str) -> None:
        """Names the setting and what it must be."""
        self._key = key
        self._value = value
        self._changed = threading.Condition()
        self._holders = 0
        self._before: str | None = None
        self._holder: SparkSession | None = None

    @contextmanager
    def held(self, spark: SparkSession) -> Iterator[None]:
        """Keeps the setting for the length of a `with` block."""
        self._hold(spark)
        try:
            yield
        finally:
            self._release()

    def _hold(self, spark: SparkSession) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._holders or self._is_set(spark))
            if self._holders == 0:
                self._before = spark.conf.get(self._key, None)
                self._holder = spark
                spark.conf.set(self._key, self._value)
            self._holders += 1

    def _is_set(self, spark: SparkSession) -> bool:
        return bool(spark.conf.get(self._key, None) == self._value)

    def _release(self) -> None:
        with self._changed:
            self._holders -= 1
            if self._holders == 0 and self._holder is not None:
                if self._before is None:
                    self._holder.conf.unset(self._key)
                else:
                    self._holder.conf.set(self._key, self._before)
                self._holder = None
                self._changed.notify_all()
