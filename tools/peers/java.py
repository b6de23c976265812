"""How the real Paimon runs here: which Java, which JARs, and our program compiled against them.

PySpark brings most of it: Ivy, which fetches JARs from the repository that the machine is set up
for, and the Hadoop classes that Paimon cannot do without. Two JARs are fetched, as
`tools/referee/ivy.xml` says, and checked: Paimon itself, and a compiler, for a Java without `javac`
is enough everywhere else in this project.

    python -m tools.peers.java          # fetches and compiles, prints the command
"""

import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from lakebed.spark.java import ensure_java
from tools.peers.environments import CACHE, ROOT, exclusive

SOURCES = ROOT / "tools" / "referee"
DIRECTORY = CACHE / "java"

PAIMON = "paimon-bundle-1.4.2.jar"
COMPILER = "ecj-3.42.0.jar"
SHA256 = {
    PAIMON: "85a1587409e6c044b46eb20370a46ecd288576b8bc7aadf6b0432a4f2370f5d1",
    COMPILER: "29f6d3918ee02db4400c103bc25dd90a22491c3a395867d9393070cb96a7dd29",
}
FROM_PYSPARK = (
    *("hadoop-client-api", "hadoop-client-runtime", "slf4j-api", "jcl-over-slf4j"),
    *("snappy-java", "lz4-java"),
)
OPTIONS = (
    *("-Duser.timezone=UTC", "-Dslf4j.internal.verbosity=ERROR", "-Xmx1g", "-XX:+UseSerialGC"),
    # Many short tables: what the second compiler would gain comes too late.
    "-XX:TieredStopAtLevel=1",
)


def referee_command() -> list[str]:
    """The command that starts the referee, fetched and compiled if something of it has changed."""
    ensure_java(directory=ROOT / ".cache")
    with exclusive(CACHE / "java.lock"):
        _fetch()
        classes = _compile()
    path = [classes, DIRECTORY / PAIMON, *map(_pyspark_jar, FROM_PYSPARK)]
    return [_java(), *OPTIONS, "-cp", _joined(path), "referee.Referee"]


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


def _fetch() -> None:
    if _has_all():
        return
    print("peers: fetching the JARs of Paimon, 50 MB", file=sys.stderr, flush=True)
    pattern = f"{DIRECTORY}/[artifact]-[revision].[ext]"
    command = [
        *(_java(), "-jar", str(_pyspark_jar("ivy")), "-ivy", str(SOURCES / "ivy.xml")),
        *("-cache", str(CACHE / "ivy"), "-retrieve", pattern, "-types", "jar", "-warn"),
    ]
    _run(command)
    if not _has_all():
        raise LookupError(f"{DIRECTORY} lacks one of {list(SHA256)}, or its digest is another")


def _has_all() -> bool:
    return all(_digest(DIRECTORY / name) == digest for name, digest in SHA256.items())


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def _compile() -> Path:
    sources = sorted(SOURCES.glob("*.java"))
    made_of = b"".join(source.read_bytes() for source in sources) + "".join(SHA256).encode()
    classes = DIRECTORY / f"classes-{hashlib.sha256(made_of).hexdigest()[:12]}"
    if not classes.exists():
        fresh = DIRECTORY / "fresh"
        shutil.rmtree(fresh, ignore_errors=True)
        command = [
            *(_java(), "-cp", str(DIRECTORY / COMPILER)),
            *("org.eclipse.jdt.internal.compiler.batch.Main", "-source", "17", "-target", "17"),
            *("-nowarn", "-cp", str(DIRECTORY / PAIMON), "-d", str(fresh), *map(str, sources)),
        ]
        _run(command)
        fresh.rename(classes)
    return classes


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stdout}")


if __name__ == "__main__":
    print(shlex.join(referee_command()))
