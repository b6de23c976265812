"""`./dev check`: what a machine can say of the code without running it, in under a minute.

The same list, in the same order, on a laptop and in `.ci/run`; there is no second definition.
"""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One command that ends with status 0 when all is well.

    Attributes:
        name: What it is called in the report.
        command: Its arguments; the first is a program of the environment.
        remedy: What to do when it fails.
    """

    name: str
    command: tuple[str, ...]
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a check."""

    check: Check
    passed: bool
    output: str
    seconds: float


CHECKS = (
    Check(
        name="ruff check",
        command=("ruff", "check"),
        remedy="ruff check --fix mends many of them",
    ),
    Check(
        name="ruff format",
        command=("ruff", "format", "--check"),
        remedy="run ruff format",
    ),
    Check(
        name="mypy",
        command=("mypy",),
        remedy="annotate; ignore only with a code and a reason",
    ),
    Check(
        name="import-linter",
        command=("lint-imports", "--no-cache"),
        remedy="move the code to its layer; docs/architecture.md says which",
    ),
    Check(
        name="deptry",
        command=("deptry", "src"),
        remedy="make the dependencies in pyproject.toml say what is imported",
    ),
    Check(
        name="house rules",
        command=("pytest", "-q", "-p", "no:xdist", "tests/test_tidy.py"),
        remedy="each failure names its own",
    ),
)


def run_check(check: Check) -> Outcome:
    """Runs one check and keeps what it printed."""
    started = time.monotonic()
    program = Path(sys.executable).parent / check.command[0]
    done = subprocess.run(
        [program, *check.command[1:]],
        cwd=ROOT,
        env={**os.environ, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Outcome(
        check=check,
        passed=done.returncode == 0,
        output=done.stdout,
        seconds=time.monotonic() - started,
    )


def main() -> None:
    """Runs the checks two at a time; what failed is printed at the end, whole."""
    started = time.monotonic()
    failed: list[Outcome] = []
    with ThreadPoolExecutor(max_workers=2) as pool:
        for outcome in pool.map(run_check, CHECKS):
            verdict = "passed" if outcome.passed else "FAILED"
            print(f"check: {verdict}  {outcome.check.name:14} {outcome.seconds:5.1f} s", flush=True)
            if not outcome.passed:
                failed.append(outcome)
    for outcome in failed:
        print(f"\n--- {outcome.check.name}: {outcome.check.remedy}\n{outcome.output.rstrip()}")
    print(
        f"check: {len(CHECKS) - len(failed)} passed, {len(failed)} failed "
        f"in {time.monotonic() - started:.0f} s"
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
