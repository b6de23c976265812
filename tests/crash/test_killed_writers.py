"""Several processes commit to one table, and some are killed: nothing is lost or doubled."""

from pathlib import Path

import pytest

from support.killed_writers import Plan, run_killed_writers

pytestmark = pytest.mark.long


@pytest.mark.parametrize("is_keyed", [True, False], ids=["primary key", "append"])
def test_every_commit_of_every_process_is_there_once(tmp_path: Path, *, is_keyed: bool) -> None:
    plan = Plan(
        warehouse=str(tmp_path / "warehouse"),
        options={},
        logs=tmp_path,
        is_keyed=is_keyed,
        writers=4,
        commits=10,
        kills=4,
        seed=7,
    )
    outcome = run_killed_writers(plan)
    assert outcome.violations == []
    assert len(outcome.acknowledged) == 40
