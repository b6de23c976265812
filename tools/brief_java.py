"""How does Java run for the few minutes that a test lasts?

Its second compiler pays off later than tests end, and takes cores that they need: a quarter of
their time. Benchmarks have none of it.
"""

import os

VARIABLE = "SPARK_SUBMIT_OPTS"
"""An environment variable: options for each JVM that PySpark starts."""
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def use_brief_java() -> None:
    """Has the JVMs that this process and its children start for Spark compile once."""
    os.environ.setdefault(VARIABLE, BRIEF)
