"""What `.ci/run` runs: a table of stages, each with its share of the time.

The shares are what stages take on a machine like the developers', with the caches warm, and fit
into 45 minutes. A machine may be slower: a stage is stopped, and has failed, only at its limit,
and the limits fit into the 90 minutes at which everything is stopped. What is random in a stage
comes from a seed that the commit gives, so a failure is repeated by the line printed. The last
lines of each stage that failed are printed again at the end.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import IO

from tools.provenance import ROOT, read_commit, seed_of

PYTHON = sys.executable
LIMIT_PER_SHARE = 1.6
SMOKED = ("merge_read", "import_time", "compaction_memory")
TAIL_LINES = 60
EVERY_CALL = "LAKEBED_TESTS_FAIL_EVERY_CALL"
"""An environment variable; any value has crash tests fail each call, and not a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One command of the pipeline.

    Attributes:
        name: What it is called in the report, and on the command line to run it alone.
        command: Its arguments; ``{seed}`` stands for the seed.
        share_seconds: The time that it takes where the caches are warm.
        left_out: What a fuller run, by hand or by night, would do and this one does not.
        cold_seconds: The time that it takes more where nothing is fetched or built yet.
    """

    name: str
    command: tuple[str, ...]
    share_seconds: int
    left_out: str = "nothing"
    cold_seconds: int = 0

    @property
    def limit_seconds(self) -> int:
        """After which it is stopped."""
        return int(self.share_seconds * LIMIT_PER_SHARE) + self.cold_seconds


STAGES = (
    Stage(
        name="prepare",
        command=(PYTHON, "-m", "tools.preparation"),
        share_seconds=10,
        cold_seconds=900,
    ),
    Stage(
        name="check",
        command=(PYTHON, "-m", "tools.checks"),
        share_seconds=35,
        cold_seconds=60,
    ),
    Stage(
        name="test",
        command=(PYTHON, "-m", "tools.suite"),
        share_seconds=380,
        left_out="four of five cases of tests with more than three, three of four tests on Spark: "
        "./dev test tests",
    ),
    Stage(
        name="crash",
        command=(
            *("env", f"{EVERY_CALL}=1", PYTHON, "-m", "pytest", "-q", "-n", "2", "--sample"),
            "tests/crash",
        ),
        share_seconds=160,
        left_out="four of five cases of tests with more than three: "
        f"{EVERY_CALL}=1 pytest -n 2 tests/crash",
    ),
    Stage(
        name="spark-variants",
        command=(
            *(PYTHON, "-m", "pytest", "-q", "--sample", "-m", "variants and not stores"),
            *("-p", "no:xdist", "tests"),
        ),
        share_seconds=355,
        left_out="over Spark Connect, each other suite, and four of five cases of tests with more "
        "than three: pytest -m variants tests/spark/test_connect.py; of streams all: "
        "LAKEBED_SPARK_KIND=connect pytest tests/spark/test_stream*.py; of the table of "
        "statements all but sixty: "
        "./dev prove statements --seconds 3600 --from-seed 1",
    ),
    Stage(
        name="statements",
        command=(PYTHON, "-m", "pytest", "-q", "tests/statements/test_statements_table.py"),
        share_seconds=125,
        left_out="other kinds of Spark, of which spark-variants runs a choice: "
        "./dev prove statements --seconds 3600 --from-seed 1",
    ),
    Stage(
        name="stores",
        command=(
            *(PYTHON, "-m", "pytest", "-q", "-rs", "--sample", "-m", "stores"),
            *("-n", "2", "--dist", "loadfile", "--ignore", "tests/spark/test_kafka.py", "tests"),
        ),
        share_seconds=180,
        left_out="four of five cases of tests with more than three: pytest -m stores; long races "
        "and killed writers: ./dev prove race-s3, killed-writers-s3, and so for azure, gcs, hdfs; "
        "streams from Kafka to Kafka, which take minutes: pytest tests/spark/test_kafka.py",
    ),
    Stage(
        name="golden",
        command=(PYTHON, "-m", "tools.golden"),
        share_seconds=30,
    ),
    Stage(
        name="golden-spark",
        command=(PYTHON, "-m", "tools.golden", "--spark", "{seed}"),
        share_seconds=90,
        left_out="half of the tables, which it names; all of them: ./dev prove golden-spark "
        "--seconds 600 --from-seed 1",
    ),
    Stage(
        name="peers",
        command=(
            *(PYTHON, "-m", "pytest", "-q", "-rs", "--sample", "-m", "peers"),
            "tests/conformance",
        ),
        share_seconds=400,
        left_out="four of five cases of tests with more than three: pytest -m peers "
        "tests/conformance; what 60 random tables from the seed on do not reach of "
        "./dev prove random-tables --seconds 600 --from-seed 1, and 40 cells of one array not of "
        "./dev prove cells --seconds 600 --from-seed 1",
    ),
    Stage(
        name="tpch",
        command=(PYTHON, "-m", "pytest", "-q", "-m", "peers", "tests/tpch"),
        share_seconds=110,
        left_out="larger scales than 0.1, and compacted tables: ./dev bench tpch --scale 1",
    ),
    Stage(
        name="race",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "race", "--sample"),
            *("--seconds", "45", "--from-seed", "{seed}"),
        ),
        share_seconds=50,
        left_out="what 45 s do not reach of ./dev prove race --seconds 600 --from-seed 1",
    ),
    Stage(
        name="histories",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "compaction-histories", "--sample"),
            *("--seeds", "100", "--seconds", "330", "--from-seed", "{seed}"),
        ),
        share_seconds=160,
        left_out="what 100 histories do not reach of ./dev prove compaction-histories "
        "--seconds 2400 --from-seed 1",
    ),
    Stage(
        name="simulation",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "simulation", "--sample"),
            *("--seeds", "200", "--seconds", "180", "--from-seed", "{seed}"),
        ),
        share_seconds=100,
        left_out="what 200 seeds do not reach of ./dev prove simulation --seconds 9000 "
        "--from-seed 1",
    ),
    Stage(
        name="query-fuzz",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "query-fuzz", "--sample"),
            *("--seeds", "100", "--seconds", "120", "--from-seed", "{seed}"),
        ),
        share_seconds=60,
        left_out="what 100 queries, or those of 120 s, do not reach of ./dev prove query-fuzz "
        "--seconds 2400 --from-seed 1",
    ),
    Stage(
        name="stream-kills",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "stream-kills", "--sample"),
            *("--seeds", "2", "--seconds", "170", "--from-seed", "{seed}"),
        ),
        share_seconds=250,
        left_out="kills beyond ten, or beyond those of 170 s: ./dev prove stream-kills "
        "--seconds 7200 --from-seed 1; from Kafka to Kafka, the same of kafka-streams",
    ),
    Stage(
        name="planted-bugs",
        command=(
            *(PYTHON, "-m", "tools.proof_stages", "planted-bugs", "--sample"),
            *("--seeds", "20", "--seconds", "300", "--from-seed", "1"),
        ),
        share_seconds=35,
    ),
    Stage(
        name="quickstart",
        command=(PYTHON, "-m", "tools.bare_machine", "quickstart"),
        share_seconds=90,
        cold_seconds=90,
        left_out="the tests on a bare machine: python -m tools.bare_machine test",
    ),
    Stage(
        name="bench-smoke",
        command=(PYTHON, "benchmarks/run.py", *SMOKED, "--rounds", "1"),
        share_seconds=80,
        left_out="the other benchmarks, and repetitions: ./dev bench",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a stage ended.

    Attributes:
        has_passed: Whether it ended well, in time.
        tail: The last lines that it printed.
    """

    has_passed: bool
    tail: tuple[str, ...]


def run_stage(stage: Stage, *, seed: int) -> Outcome:
    """Runs one stage in a process group of its own, and passes on what it prints."""
    command = [argument.format(seed=seed) for argument in stage.command]
    print(f"\n=== {stage.name}: about {stage.share_seconds} s, seed {seed}", flush=True)
    print(f"=== left out: {stage.left_out}", flush=True)
    started = time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    tail: deque[str] = deque(maxlen=TAIL_LINES)
    reader = threading.Thread(target=pass_on, args=(process.stdout, tail), daemon=True)
    reader.start()
    try:
        status = process.wait(timeout=stage.limit_seconds)
        verdict = "passed" if status == 0 else f"FAILED with status {status}"
    except subprocess.TimeoutExpired:
        stop_group(process)
        verdict = f"FAILED: stopped at its limit of {stage.limit_seconds} s"
    # A server that a stage left behind may hold the pipe open.
    reader.join(timeout=10)
    seconds = time.monotonic() - started
    over = ", more than its share" if seconds > stage.share_seconds + stage.cold_seconds else ""
    print(f"=== {stage.name}: {verdict}, {seconds:.0f} s{over}", flush=True)
    return Outcome(has_passed=verdict == "passed", tail=(*tail, verdict))


def pass_on(output: IO[bytes], tail: deque[str]) -> None:
    """Prints what a stage prints, while it runs, and keeps the last of it."""
    with output:
        for line in output:
            text = line.decode("utf-8", "replace").rstrip("\n")
            print(text, flush=True)
            tail.append(text)


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
    print()
    for name, outcome in results.items():
        if not outcome.has_passed:
            print(f"=== {name} again, its last lines", *outcome.tail, sep="\n")
    for name, outcome in results.items():
        print(f"ci: {'passed' if outcome.has_passed else 'FAILED'}  {name}")
    passed = sum(outcome.has_passed for outcome in results.values())
    print(f"{passed} passed, {len(results) - passed} failed", flush=True)
    sys.exit(passed != len(results))


if __name__ == "__main__":
    main()
