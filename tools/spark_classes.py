"""An archive of the classes that Spark loads (class data sharing), for one started again and again.

Half of such a start is reading them.
"""

import functools
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

from lakebed.spark.java import ensure_java
from tools.brief_java import BRIEF, VARIABLE
from tools.provenance import ROOT

_CACHE = ROOT / ".cache" / "java"
_PROGRAM = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
place = sys.argv[1]
spark.range(100).write.parquet(place + "/rows")
rows = spark.readStream.schema("id BIGINT").parquet(place + "/rows").groupBy("id").count()
def write(batch, _number):
    batch.write.format("noop").mode("overwrite").save()
writer = rows.writeStream.outputMode("update").foreachBatch(write).trigger(availableNow=True)
writer.option("checkpointLocation", place + "/checkpoint").start().awaitTermination()
spark.stop()
"""


@functools.cache
def options_with_classes() -> str:
    """Java's options with the archive for this Java and this Spark, which is made where missing."""
    ensure_java()
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else "java"
    version = subprocess.run([java, "-version"], capture_output=True, check=True).stderr
    key = hashlib.sha256(version + _jars())
    path = _CACHE / f"spark-{key.hexdigest()[:12]}.jsa"
    if not path.exists():
        _make(path)
    # An archive that does not fit is no error, and what Java says of it is no output.
    return f"{BRIEF} -XX:SharedArchiveFile={path} -Xlog:disable -Xlog:all=warning:stderr"


def _jars() -> bytes:
    """What Java compares before it takes an archive: where Spark's JARs are, and of when."""
    jars = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    stats = [(jar, jar.stat()) for jar in jars]
    return "".join(f"{jar} {stat.st_mtime_ns} {stat.st_size}\n" for jar, stat in stats).encode()


def _make(path: Path) -> None:
    """Runs a stream to its end; what it loaded is kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        draft = Path(place) / "classes.jsa"
        environment = {
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            VARIABLE: f"{BRIEF} -XX:ArchiveClassesAtExit={draft}",
        }
        # Ends with the JVM, which holds the pipes open until it has written the archive.
        subprocess.run(
            [sys.executable, "-c", _PROGRAM, place],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        draft.rename(path)
