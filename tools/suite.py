"""`./dev test`: the tests of Lakebed alone, on two processes, one of which has those on Spark.

Without arguments, a test with many cases runs some of them, others at each commit. Arguments go to
pytest, and all cases run: `./dev test tests/format -k murmur`, `./dev test tests`. What else there
is, stages of `.ci/run` run: tests that take turns with other libraries need environments of their
own (`-m peers`), those on stores start servers (`-m stores`), those on another kind of Spark,
Connect or a cluster, start JVMs of their own (`-m variants`), and races take long (`-m long`).
"""

import subprocess
import sys

OPTIONS = (
    *("-m", "not peers and not stores and not variants and not long"),
    *("-n", "2", "--dist", "loadgroup"),
)
STATEMENTS = "tests/statements/test_statements_table.py"
"""A stage of its own runs them, all of them."""


def main() -> None:
    """Runs pytest, and ends with its exit status."""
    chosen = sys.argv[1:] or ["--sample", f"--ignore={STATEMENTS}"]
    command = [sys.executable, "-m", "pytest", "-q", *OPTIONS, *chosen]
    sys.exit(subprocess.run(command, check=False).returncode)


if __name__ == "__main__":
    main()
