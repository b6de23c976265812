"""How programs of ours that drive Java libraries run: which Java, which JARs, compiled when needed.

A program is a directory with its sources, an `ivy.xml` of the JARs that it needs and a
`digests.txt` that they are checked by. PySpark brings the rest: Ivy, which fetches JARs from the
repository that the machine is set up for, and the Hadoop classes that Paimon cannot do without. A
compiler is fetched too, for a Java without `javac` is enough everywhere else in this project.

    python -m tools.peers.java          # fetches and compiles all, prints the commands
"""

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lakebed.spark.java import ensure_java
from tools.peers.environments import CACHE, ROOT, exclusive

DIRECTORY = CACHE / "java"
COMPILER = "ecj-3.42.0.jar"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jars:
    """JARs that are fetched once.

    Attributes:
        listed: The directory of `ivy.xml` and `digests.txt`, and of `ivysettings.xml` if need be.
    """

    listed: Path

    def fetch(self) -> list[Path]:
        """Where they are, fetched if one is missing or its digest is another."""
        ensure_java(directory=ROOT / ".cache")
        with exclusive(CACHE / "java.lock"):
            digests = self._digests()
            if not _are_here(digests):
                self._retrieve()
            if not _are_here(digests):
                raise LookupError(
                    f"{DIRECTORY} lacks one of {[*digests]}, or its digest is another"
                )
        return [DIRECTORY / name for name in digests]

    def _digests(self) -> dict[str, str]:
        """The SHA-256 of each JAR, by its name."""
        text = (self.listed / "digests.txt").read_text(encoding="utf-8")
        pairs = (line.split() for line in text.splitlines())
        return {name: digest for digest, name in pairs}

    def _retrieve(self) -> None:
        print(f"peers: fetching the JARs of {self.listed.name}", file=sys.stderr, flush=True)
        settings = self.listed / "ivysettings.xml"
        command = [
            *(_java(), "-jar", str(_pyspark_jar("ivy")), "-ivy", str(self.listed / "ivy.xml")),
            *(("-settings", str(settings)) if settings.exists() else ()),
            *("-cache", str(CACHE / "ivy" / self.listed.name), "-types", "jar", "-warn"),
            *("-retrieve", f"{DIRECTORY}/[artifact]-[revision].[ext]"),
        ]
        _run(command)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaProgram:
    """A program that is compiled against fetched JARs, or whose main class is in one of them.

    Attributes:
        sources: Its directory; one without sources only lists JARs.
        main: Its main class.
        from_pyspark: JARs of PySpark that it needs, by their names without versions.
        options: Options of the JVM.
    """

    sources: Path
    main: str
    from_pyspark: tuple[str, ...]
    options: tuple[str, ...]

    def command(self) -> list[str]:
        """The command that starts it, fetched and compiled if something of it has changed."""
        fetched = Jars(listed=self.sources).fetch()
        jars = [
            *(jar for jar in fetched if jar.name != COMPILER),
            *map(_pyspark_jar, self.from_pyspark),
        ]
        sources = sorted(self.sources.glob("*.java"))
        if sources:
            with exclusive(CACHE / "java.lock"):
                jars.insert(0, self._compile(sources, jars))
        return [_java(), *self.options, "-cp", _joined(jars), self.main]

    def _compile(self, sources: list[Path], jars: list[Path]) -> Path:
        made_of = b"".join(path.read_bytes() for path in (*sources, self.sources / "digests.txt"))
        classes = DIRECTORY / f"classes-{hashlib.sha256(made_of).hexdigest()[:12]}"
        if not classes.exists():
            fresh = DIRECTORY / "fresh"
            shutil.rmtree(fresh, ignore_errors=True)
            command = [
                *(_java(), "-cp", str(DIRECTORY / COMPILER)),
                *("org.eclipse.jdt.internal.compiler.batch.Main", "-source", "17"),
                *("-target", "17", "-nowarn", "-cp", _joined(jars), "-d", str(fresh)),
                *map(str, sources),
            ]
            _run(command)
            fresh.rename(classes)
        return classes


_EVERY = (
    *("-Duser.timezone=UTC", "-Dslf4j.internal.verbosity=ERROR", "-Xmx1g", "-XX:+UseSerialGC"),
    # Many short tables: what the second compiler would gain comes too late.
    "-XX:TieredStopAtLevel=1",
)
_HADOOP = (
    *("hadoop-client-api", "hadoop-client-runtime", "slf4j-api", "jcl-over-slf4j"),
    *("snappy-java", "lz4-java"),
)

REFEREE = JavaProgram(
    sources=ROOT / "tools" / "referee",
    main="referee.Referee",
    from_pyspark=_HADOOP,
    options=_EVERY,
)
FLINK = JavaProgram(
    sources=ROOT / "tools" / "flink",
    main="flink.FlinkSql",
    from_pyspark=_HADOOP,
    options=(
        *_EVERY,
        *(
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.util=ALL-UNNAMED",
        ),
        *(
            "--add-opens=java.base/java.time=ALL-UNNAMED",
            "--add-opens=java.base/java.net=ALL-UNNAMED",
        ),
    ),
)
HDFS = JavaProgram(
    sources=ROOT / "tools" / "hdfs",
    main="hdfs.Hdfs",
    from_pyspark=_HADOOP,
    options=(*_EVERY, "-Djava.net.preferIPv4Stack=true"),
)
KAFKA = JavaProgram(
    sources=ROOT / "tools" / "kafka",
    main="kafka.Kafka",
    from_pyspark=(),
    options=(
        *("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-Djava.net.preferIPv4Stack=true", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
    ),
)
PROGRAMS = (REFEREE, FLINK, HDFS, KAFKA)
PAIMON_SPARK = Jars(listed=ROOT / "tools" / "paimon_spark")
DELTA_SPARK = Jars(listed=ROOT / "tools" / "delta_spark")
ICEBERG_SPARK = Jars(listed=ROOT / "tools" / "iceberg_spark")
KAFKA_SPARK = Jars(listed=ROOT / "tools" / "kafka_spark")


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else shutil.which("java") or "java"


def _joined(paths: list[Path]) -> str:
    return os.pathsep.join(map(str, paths))


def _pyspark_jar(name: str) -> Path:
    package = importlib.util.find_spec("pyspark")
    assert package is not None
    assert package.submodule_search_locations is not None
    directory = Path(package.submodule_search_locations[0]) / "jars"
    return next(directory.glob(f"{name}-[0-9]*.jar"))


def _are_here(digests: dict[str, str]) -> bool:
    return all(_digest(DIRECTORY / name) == digest for name, digest in digests.items())


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout}")


if __name__ == "__main__":
    for program in PROGRAMS:
        print(shlex.join(program.command()))
