import sys

import pytest

from tools.pipeline import STAGES, Stage, run_stage
from tools.provenance import describe_machine, seed_of


def python_stage(code: str, *, share_seconds: int = 20) -> Stage:
    command = (sys.executable, "-c", code, "{seed}")
    return Stage(name="sample", command=command, share_seconds=share_seconds)


def test_the_shares_fit_into_45_minutes() -> None:
    assert sum(stage.share_seconds for stage in STAGES) <= 45 * 60


def test_the_limits_fit_into_90_minutes() -> None:
    assert sum(stage.limit_seconds for stage in STAGES) <= 90 * 60


def test_a_stage_gets_its_seed_and_no_input(capfd: pytest.CaptureFixture[str]) -> None:
    code = "import sys; print('seed', sys.argv[1], repr(sys.stdin.read()))"
    assert run_stage(python_stage(code), seed=42).has_passed
    assert "seed 42 ''" in capfd.readouterr().out


def test_a_stage_that_ends_badly_has_failed(capfd: pytest.CaptureFixture[str]) -> None:
    outcome = run_stage(python_stage("print('why'); raise SystemExit(3)"), seed=0)
    assert not outcome.has_passed
    assert outcome.tail == ("why", "FAILED with status 3")
    assert "FAILED with status 3" in capfd.readouterr().out


def test_a_stage_that_overruns_is_stopped_with_all_that_it_started(
    capfd: pytest.CaptureFixture[str],
) -> None:
    sleeper = "import subprocess; subprocess.run(['sleep', '60'])"
    assert not run_stage(python_stage(sleeper, share_seconds=1), seed=0).has_passed
    assert "stopped at its limit of 1 s" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("commit", "seed"), [("00000ff", 255), ("00000ff12345-dirty", 255), ("uncommitted", 0)]
)
def test_the_seed_comes_from_the_commit(commit: str, seed: int) -> None:
    assert seed_of(commit) == seed


def test_the_machine_is_named_with_cores_and_memory() -> None:
    assert " cores, " in describe_machine()
    assert describe_machine().endswith(" GB")
