"""TPC-H's eight tables as Parquet files, made once a scale by `tpchgen-cli`.

The generator lives in a virtual environment of its own, made on first use from its lock file. What
it writes is the same on every machine, so its files stay in `.cache/tpch` until the lock changes.

    python -m tools.tpch.data 0.1     # makes them, prints their directory
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from tools.peers.environments import ROOT, environment_python, exclusive

CACHE = ROOT / ".cache" / "tpch"
LOCK_PATH = ROOT / "requirements" / "tpchgen.txt"
TEST_SCALE = "0.1"
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")


def generator() -> Path:
    """The generator, in an environment that is made if it is missing or out of date."""
    python = environment_python(CACHE / "environment", lock_path=LOCK_PATH)
    return python.with_name("tpchgen-cli")


def generated(scale: str) -> Path:
    """The directory with a Parquet file for each of `TABLES`.

    Args:
        scale: The scale factor, such as ``"0.1"``; 1 is about 1 GB of text.
    """
    program = generator()
    digest = hashlib.sha256(LOCK_PATH.read_bytes()).hexdigest()
    directory = CACHE / f"scale-{scale}"
    stamp = directory / "stamp"
    with exclusive(CACHE / f"scale-{scale}.lock"):
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != digest:
            print(f"tpch: making the tables of scale {scale}", file=sys.stderr, flush=True)
            shutil.rmtree(directory, ignore_errors=True)
            arguments = ("--scale-factor", scale, "--output-dir", str(directory), "--quiet")
            subprocess.run([str(program), "parquet", *arguments], check=True, stdout=sys.stderr)
            stamp.write_text(digest, encoding="utf-8")
    return directory


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(generated(each))
