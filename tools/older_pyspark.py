"""The oldest PySpark that Lakebed runs on, laid over the environment of the newest.

    PYTHONPATH=$(python -m tools.older_pyspark):src:tests:. python -m pytest tests/statements

Its directory holds PySpark and Py4J alone; put before all others on `PYTHONPATH`, it is found
first, and the rest is that of `.venv`. It is made on first use and anew when its lock changes.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from tools.peers.environments import ROOT, exclusive

CACHE = ROOT / ".cache" / "older-pyspark"
LOCK = ROOT / "requirements" / "older-pyspark.txt"


def older_pyspark() -> Path:
    """Where it is, made if it is missing or out of date."""
    digest = hashlib.sha256(LOCK.read_bytes() + sys.version.encode()).hexdigest()
    directory, stamp = CACHE / "packages", CACHE / "stamp"
    with exclusive(CACHE / "lock"):
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != digest:
            print("older-pyspark: fetching it", file=sys.stderr, flush=True)
            shutil.rmtree(directory, ignore_errors=True)
            command = [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
                *("--disable-pip-version-check", "--target", str(directory)),
                # No wheel of PySpark is published.
                *("--only-binary", ":all:", "--no-binary", "pyspark", "-r", str(LOCK)),
            ]
            subprocess.run(command, check=True, stdout=sys.stderr)
            stamp.write_text(digest, encoding="utf-8")
    return directory


if __name__ == "__main__":
    print(older_pyspark())
