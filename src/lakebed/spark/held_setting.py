"""A setting of a session that some actions need for as long as they run."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession


class HeldSetting:
    """Set when the first of concurrent actions begins, and set back when the last one ends."""

    def __init__(self, key: str, value: str) -> None:
        """Names the setting and what it must be."""
        self._key = key
        self._value = value
        self._lock = threading.Lock()
        self._holders = 0
        self._before: str | None = None

    @contextmanager
    def held(self, spark: SparkSession) -> Iterator[None]:
        """Keeps the setting for the length of a `with` block."""
        with self._lock:
            if self._holders == 0:
                self._before = spark.conf.get(self._key, None)
                spark.conf.set(self._key, self._value)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0 and self._before is None:
                    spark.conf.unset(self._key)
                elif self._holders == 0 and self._before is not None:
                    spark.conf.set(self._key, self._before)
