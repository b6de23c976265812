import sys

import pytest

from tools.pipeline import STAGES, Stage, run_stage
from tools.provenance import describe_machine, seed_of
from tools.suite import joint_status


def python_stage(code: str, *, share_seconds: int = 20) -> Stage:
    command = (sys.executable, "-c", code, "{seed}")
    return Stage(name="sample", command=command, share_seconds=share_seconds)


def test_the_shares_fit_into_45_minutes() -> None:
    assert sum(stage.share_seconds for stage in STAGES) <= 45 * 60


def test_a_stage_gets_its_seed_and_no_input(capfd: pytest.CaptureFixture[str]) -> None:
    code = "import sys; print('seed', sys.argv[1], repr(sys.stdin.read()))"
    assert run_stage(python_stage(code), seed=42)
    assert "seed 42 ''" in capfd.readouterr().out


def test_a_stage_that_ends_badly_has_failed(capfd: pytest.CaptureFixture[str]) -> None:
    assert not run_stage(python_stage("raise SystemExit(3)"), seed=0)
    assert "FAILED with status 3" in capfd.readouterr().out


def test_a_stage_that_overruns_is_stopped_with_all_that_it_started(
    capfd: pytest.CaptureFixture[str],
) -> None:
    sleeper = "import subprocess; subprocess.run(['sleep', '60'])"
    assert not run_stage(python_stage(sleeper, share_seconds=1), seed=0)
    assert "stopped after its share of 1 s" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("commit", "seed"), [("00000ff", 255), ("00000ff12345-dirty", 255), ("uncommitted", 0)]
)
def test_the_seed_comes_from_the_commit(commit: str, seed: int) -> None:
    assert seed_of(commit) == seed


def test_the_machine_is_named_with_cores_and_memory() -> None:
    assert " cores, " in describe_machine()
    assert describe_machine().endswith(" GB")


@pytest.mark.parametrize(
    ("statuses", "selected", "status"),
    [
        ([0, 0], False, 0),
        ([0, 1], False, 1),
        ([1, 0], False, 1),
        ([0, 5], False, 5),
        ([0, 5], True, 0),
        ([5, 1], True, 1),
        ([5, 5], True, 5),
    ],
)
def test_a_stage_may_be_empty_only_when_tests_were_selected(
    statuses: list[int], *, selected: bool, status: int
) -> None:
    assert joint_status(statuses, selected=selected) == status
