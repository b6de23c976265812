"""What `.ci/run` runs: a table of stages, each with its share of the time.

A stage that overruns its share is stopped and has failed; the others still run. What is random in
a stage comes from a seed that the commit gives, so a failure is repeated by the line printed.
"""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from tools.provenance import ROOT, read_commit, seed_of

PYTHON = sys.executable
EVERY_CALL = "LAKEBED_TESTS_FAIL_EVERY_CALL"
"""An environment variable; any value has crash tests fail each call, and not a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One command of the pipeline.

    Attributes:
        name: What it is called in the report, and on the command line to run it alone.
        command: Its arguments; ``{seed}`` stands for the seed.
        share_seconds: The time that it may take.
        left_out: What a fuller run, by hand or by night, would do and this one does not.
    """

    name: str
    command: tuple[str, ...]
    share_seconds: int
    left_out: str = "nothing"


STAGES = (
    Stage(
        name="check",
        command=(PYTHON, "-m", "tools.checks"),
        share_seconds=60,
    ),
    Stage(
        name="test",
        command=(PYTHON, "-m", "tools.suite"),
        share_seconds=560,
        left_out="three of four storage calls that crash tests fail: the stage crash fails each",
    ),
    Stage(
        name="crash",
        command=(
            *("env", f"{EVERY_CALL}=1", PYTHON, "-m", "pytest", "-q", "-n", "2"),
            *("tests/crash/test_commit_crash.py", "tests/crash/test_expiry_crash.py"),
        ),
        share_seconds=200,
        left_out="each call for tags, branches, rollback, changelogs and orphan files: "
        "LAKEBED_TESTS_FAIL_EVERY_CALL=1 pytest tests/crash",
    ),
    Stage(
        name="spark-variants",
        command=(PYTHON, "-m", "pytest", "-q", "-m", "variants", "-p", "no:xdist", "tests"),
        share_seconds=270,
    ),
    Stage(
        name="golden",
        command=(PYTHON, "-m", "tools.golden"),
        share_seconds=40,
    ),
    Stage(
        name="golden-spark",
        command=(PYTHON, "-m", "tools.golden", "--spark", "{seed}"),
        share_seconds=130,
        left_out="half of the tables, which it names; all of them: ./dev prove golden-spark "
        "--seconds 600 --from-seed 1",
    ),
    Stage(
        name="peers",
        command=(PYTHON, "-m", "pytest", "-q", "-rs", "-m", "peers", "tests/conformance"),
        share_seconds=710,
        left_out="what 60 random tables from the seed on do not reach of "
        "./dev prove random-tables --seconds 600 --from-seed 1, and 40 cells of one array not of "
        "./dev prove cells --seconds 600 --from-seed 1",
    ),
    Stage(
        name="race",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "race", "--sample"),
            *("--seconds", "45", "--from-seed", "{seed}"),
        ),
        share_seconds=70,
        left_out="what 45 s do not reach of ./dev prove race --seconds 600 --from-seed 1",
    ),
    Stage(
        name="histories",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "compaction-histories", "--sample"),
            *("--seeds", "100", "--seconds", "210", "--from-seed", "{seed}"),
        ),
        share_seconds=210,
        left_out="what 100 histories do not reach of ./dev prove compaction-histories "
        "--seconds 2400 --from-seed 1",
    ),
    Stage(
        name="simulation",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "simulation", "--sample"),
            *("--seeds", "200", "--seconds", "105", "--from-seed", "{seed}"),
        ),
        share_seconds=115,
        left_out="what 200 seeds do not reach of ./dev prove simulation --seconds 9000 "
        "--from-seed 1",
    ),
    Stage(
        name="planted-bugs",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "planted-bugs", "--sample"),
            *("--seeds", "18", "--seconds", "300", "--from-seed", "1"),
        ),
        share_seconds=35,
    ),
    Stage(
        name="quickstart",
        command=(PYTHON, "-m", "tools.bare_machine", "quickstart"),
        share_seconds=180,
        left_out="the tests on a bare machine: python -m tools.bare_machine test",
    ),
    Stage(
        name="bench-smoke",
        command=(PYTHON, "benchmarks/run.py", "merge_read", "import_time", "--rounds", "1"),
        share_seconds=120,
        left_out="the other benchmarks, and repetitions: ./dev bench",
    ),
)


def run_stage(stage: Stage, *, seed: int) -> bool:
    """Runs one stage in a process group of its own; returns whether it passed in time."""
    command = [argument.format(seed=seed) for argument in stage.command]
    print(f"\n=== {stage.name}: at most {stage.share_seconds} s, seed {seed}", flush=True)
    print(f"=== left out: {stage.left_out}", flush=True)
    started = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        status = process.wait(timeout=stage.share_seconds)
        verdict = "passed" if status == 0 else f"FAILED with status {status}"
    except subprocess.TimeoutExpired:
        stop_group(process)
        verdict = f"FAILED: stopped after its share of {stage.share_seconds} s"
    print(f"=== {stage.name}: {verdict}, {time.monotonic() - started:.0f} s", flush=True)
    return verdict == "passed"


def stop_group(process: subprocess.Popen[bytes], *, grace_seconds: float = 10) -> None:
    """Ends a process and all that it started, politely first."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(timeout=grace_seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        kill_rest(process)


def kill_rest(process: subprocess.Popen[bytes]) -> None:
    """Ends what is left of a group, such as a JVM that outlived the Python that started it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()


def main() -> None:
    """Runs all stages, or those named on the command line; ends with status 1 when one failed."""
    names = sys.argv[1:]
    unknown = sorted(set(names) - {stage.name for stage in STAGES})
    if unknown:
        sys.exit(f"ci: no stage {unknown}; there are {[stage.name for stage in STAGES]}")
    commit = read_commit()
    seed = seed_of(commit)
    print(f"ci: commit {commit}, seed {seed}", flush=True)
    results = {
        stage.name: run_stage(stage, seed=seed)
        for stage in STAGES
        if not names or stage.name in names
    }
    passed = sum(results.values())
    print()
    for name, result in results.items():
        print(f"ci: {'passed' if result else 'FAILED'}  {name}")
    print(f"{passed} passed, {len(results) - passed} failed", flush=True)
    sys.exit(passed != len(results))


if __name__ == "__main__":
    main()
