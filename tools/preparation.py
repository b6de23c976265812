"""Makes what stages of `.ci/run` take from package registries, so that none waits inside its share.

On a new machine this takes minutes; where `.cache` has everything, it only compares digests.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

from tools.older_pyspark import older_pyspark
from tools.peers.environments import ENVIRONMENTS, peer_python
from tools.peers.java import KAFKA_SPARK, PAIMON_SPARK, PROGRAMS
from tools.services import azure, gcs, s3
from tools.spark_classes import options_with_classes
from tools.tpch.data import TEST_SCALE, generated


def things() -> Iterator[tuple[str, Callable[[], object]]]:
    """What is made, each by its name."""
    for name in ENVIRONMENTS:
        yield f"environment of {name}", partial(peer_python, name)
    yield "an older PySpark", older_pyspark
    for program in PROGRAMS:
        yield f"Java program {program.main}", program.command
    yield "JARs of paimon-spark", PAIMON_SPARK.fetch
    yield "JARs of Spark's connector to Kafka", KAFKA_SPARK.fetch
    yield "an archive of Spark's classes", options_with_classes
    yield "rows of TPC-H", partial(generated, TEST_SCALE)
    for name, server in (("S3", s3), ("GCS", gcs), ("Azure", azure)):
        yield f"server of {name}", server.program


def main() -> None:
    """Makes all, and tells how long each took."""
    for name, make in things():
        started = time.monotonic()
        make()
        print(f"prepare: {name}, {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
