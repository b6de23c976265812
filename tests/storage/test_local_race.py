"""Processes that race for one path; `./dev prove` runs the same for 10,000 rounds."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.local import LocalFileIO
from support.race import RaceResult, judge, payload, race_rounds


@dataclass(frozen=True)
class ChecksThenRenames(LocalFileIO):
    """What others do: look whether the name is free, then rename."""

    def put_if_absent(self, path: str, data: bytes) -> PutResult:
        if self.exists(path):
            return PutResult.PRESENT
        self.write(path, data)
        return PutResult.WRITTEN


@pytest.mark.parametrize("processes", [2, 3])
def test_every_round_has_one_winner(tmp_path: Path, processes: int) -> None:
    result = race_rounds(tmp_path, rounds=300, processes=processes, seed=1)
    assert result.violations == ()
    assert result.rounds == 300
    assert sum(result.winners) == 300
    assert list(tmp_path.rglob(".*")) == []


def test_the_race_finds_two_winners_of_a_check_and_a_rename(tmp_path: Path) -> None:
    store: Callable[[], FileIO] = ChecksThenRenames
    result = race_rounds(tmp_path, rounds=300, processes=2, seed=1, store=store)
    assert len(result.violations) > 0
    assert "2 winners" in result.violations[0]


def test_judge_accepts_one_winner_with_its_own_file() -> None:
    contents = [payload(1, 0, seed=7), payload(0, 1, seed=7)]
    outcomes = [["present", "written"], ["written", "present"]]
    assert judge(outcomes, contents, seed=7) == RaceResult(rounds=2, violations=(), winners=(1, 1))


@pytest.mark.parametrize(
    ("outcomes", "content", "violation"),
    [
        ([["written"], ["written"]], payload(0, 0, seed=7), "2 winners"),
        ([["present"], ["present"]], payload(0, 0, seed=7), "0 winners"),
        ([["written"], ["unknown"]], payload(1, 0, seed=7), "not what winner 0 wrote"),
        ([["written"], ["present"]], payload(0, 0, seed=7)[:-1], "not what winner 0 wrote"),
        ([["written"], ["half"]], payload(0, 0, seed=7), "read a file that nobody wrote"),
    ],
)
def test_judge_sees_every_broken_promise(
    outcomes: list[list[str]], content: bytes, violation: str
) -> None:
    [found] = judge(outcomes, [content], seed=7).violations
    assert violation in found
