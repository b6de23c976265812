"""The kinds of Spark that the table of statements is run on, each in a process of its own.

PySpark holds one kind of session a process, and one version of itself.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.older_pyspark import older_pyspark

ROOT = Path(__file__).resolve().parents[2]
TABLE = "tests/statements/test_statements_table.py"
ONLY_FIXED = "LAKEBED_FIXED_STATEMENTS"
"""An environment variable; any value leaves of the table the fixed statements."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One kind of Spark.

    Attributes:
        name: What tests and reports call it.
        is_connect: Whether sessions are those of Spark Connect.
        is_older: Whether PySpark is the oldest one that Lakebed runs on.
    """

    name: str
    is_connect: bool
    is_older: bool

    def run(self, *, only_fixed: bool) -> subprocess.CompletedProcess[str]:
        """Runs the table, or the fixed statements of it."""
        paths = ["src", "tests", "."]
        # PySpark 4.1 leaves sockets unclosed, which is no fault of a test.
        warnings = ["-W", "ignore::ResourceWarning"] if self.is_older else []
        command = [sys.executable, "-m", "pytest", "-q", "--show-capture=no", *warnings, TABLE]
        environment = {
            **os.environ,
            "LAKEBED_SPARK_KIND": "connect" if self.is_connect else "classic",
            "PYTHONPATH": os.pathsep.join(
                [*([str(older_pyspark())] if self.is_older else []), *paths]
            ),
        }
        if only_fixed:
            environment[ONLY_FIXED] = "1"
        return subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
        )


NEWEST_CLASSIC = Variant(name="newest-classic", is_connect=False, is_older=False)
OTHERS = (
    Variant(name="newest-connect", is_connect=True, is_older=False),
    Variant(name="4.1-classic", is_connect=False, is_older=True),
    Variant(name="4.1-connect", is_connect=True, is_older=True),
)
VARIANTS = (NEWEST_CLASSIC, *OTHERS)
