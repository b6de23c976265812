"""Prints the JAVA_HOME that Spark needs on this machine: an empty line where it needs none.

Ends with status 1 where there is no Java, which makes `dev` install one.
"""

import os
import sys
from pathlib import Path

from lakebed.errors import LakebedError
from lakebed.spark.java import ensure_java

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Finds a Java; a home for a packaged one is made in the clone's cache."""
    try:
        ensure_java(directory=ROOT / ".cache")
    except LakebedError as error:
        sys.exit(f"java: {error}")
    print(os.environ.get("JAVA_HOME", ""))


if __name__ == "__main__":
    main()
