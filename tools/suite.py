"""`./dev test`: the unit tests on two processes, then the tests that share one Spark session.

Arguments go to pytest in both stages, so `./dev test tests/format -k murmur` is quick too. Two
sorts of tests are stages of `.ci/run` instead: those that take turns with other libraries need
environments of their own (`pytest -m peers`), and those on another kind of Spark, Connect or a
cluster, start JVMs of their own (`pytest -m variants`).
"""

import subprocess
import sys

UNIT_STAGE = ("-m", "not spark and not peers and not stores and not variants", "-n", "2")
SPARK_STAGE = ("-m", "spark and not variants", "-p", "no:xdist")

NOTHING_COLLECTED = 5


def run_stage(name: str, options: tuple[str, ...], *, arguments: list[str]) -> int:
    """Runs pytest once; its closing line is the last that is printed. Returns its exit status."""
    print(f"test: {name}", flush=True)
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    return subprocess.run(command, check=False).returncode


def joint_status(statuses: list[int], *, selected: bool) -> int:
    """One exit status of all stages.

    Args:
        statuses: What pytest returned, a stage each.
        selected: Whether the caller named tests, which may then all be of one stage.
    """
    if selected and any(status != NOTHING_COLLECTED for status in statuses):
        statuses = [status for status in statuses if status != NOTHING_COLLECTED]
    return max(statuses)


def main() -> None:
    """Runs both stages, the second also after a failure of the first."""
    arguments = sys.argv[1:]
    statuses = [
        run_stage("unit tests, two processes", UNIT_STAGE, arguments=arguments),
        run_stage("tests on Spark, one session", SPARK_STAGE, arguments=arguments),
    ]
    sys.exit(joint_status(statuses, selected=bool(arguments)))


if __name__ == "__main__":
    main()
