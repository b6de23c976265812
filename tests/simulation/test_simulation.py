"""A few seeds of the simulation, and that a seed is all that a run depends on."""

import os
import subprocess
import sys

import pytest

from simulation.find_planted import read_seeds
from simulation.planted import BUGS
from simulation.simulation import simulate
from tools.pipeline import STAGES
from tools.provenance import ROOT

_PRINT_DIGEST = "from simulation.simulation import simulate; print(simulate(1).digest)"


@pytest.mark.parametrize("seed", range(1, 9))
def test_whatever_meets_nothing_is_lost_doubled_or_left(seed: int) -> None:
    run = simulate(seed)
    assert run.violation is None, run.report()


def test_a_seed_runs_the_same_in_another_process() -> None:
    here = simulate(1).digest
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", _PRINT_DIGEST],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(str(ROOT / each) for each in ("src", "tests", ".")),
                "PYTHONHASHSEED": hash_seed,
            },
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == here


def test_other_seeds_run_otherwise() -> None:
    assert simulate(1).digest != simulate(2).digest


def test_the_pipeline_plants_every_bug() -> None:
    assert set(read_seeds()) == {bug.name for bug in BUGS}
    (stage,) = [stage for stage in STAGES if stage.name == "planted-bugs"]
    assert stage.command[stage.command.index("--seeds") + 1] == str(len(BUGS))
