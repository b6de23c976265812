"""Where the peers live: each in a virtual environment of its own, never in Lakebed's.

Their pins contradict ours (pypaimon wants pyarrow < 20 and polars < 2), so benchmarks and
conformance tests drive them as other processes. An environment is made on first use under
`.cache/peers/<name>`, stamped with the digest of its lock file, and made anew when the lock
changes.

    python -m tools.peers.environments pypaimon     # makes it, prints its interpreter
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache" / "peers"
PEERS = ("pypaimon", "pypaimon-rust")
ENVIRONMENTS = (*PEERS, "paimon-spark")


def peer_python(name: str) -> Path:
    """The interpreter of a peer's environment, made if it is missing or out of date."""
    if name not in ENVIRONMENTS:
        raise ValueError(f"unknown peer {name!r}; there are {', '.join(ENVIRONMENTS)}")
    lock_path = ROOT / "requirements" / f"peer-{name}.txt"
    return environment_python(CACHE / name, lock_path=lock_path)


def environment_python(directory: Path, *, lock_path: Path) -> Path:
    """The interpreter of an environment with what a lock pins, made if it is missing or older."""
    digest = hashlib.sha256(lock_path.read_bytes() + sys.version.encode()).hexdigest()
    stamp = directory / "stamp"
    with exclusive(directory.with_name(f"{directory.name}.lock")):
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != digest:
            print(f"environments: making that of {lock_path.stem}", file=sys.stderr, flush=True)
            _make(directory, lock_path=lock_path)
            stamp.write_text(digest, encoding="utf-8")
    return directory / "bin" / "python"


def _make(directory: Path, *, lock_path: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    venv.create(directory, with_pip=True)
    # No wheel of PySpark is published.
    command = [
        *(str(directory / "bin" / "python"), "-m", "pip", "install", "--quiet"),
        *("--disable-pip-version-check", "--only-binary", ":all:", "--no-binary", "pyspark"),
        *("-r", str(lock_path)),
    ]
    subprocess.run(command, check=True, stdout=sys.stderr)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keeps two test workers from making one environment at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    for peer in sys.argv[1:] or ENVIRONMENTS:
        print(peer_python(peer))
