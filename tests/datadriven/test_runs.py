"""Sections and runs of a bucket, drawn."""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datadriven.script import check_script
from lakebed.lsm.runs import sections

_FILE = re.compile(r"(?P<name>\w+) \[(?P<low>\d+),(?P<high>\d+)\] (?P<level>L\d)")
_WIDTH = 32


@dataclass(frozen=True)
class DrawnFile:
    """A file of a bucket, as text says it: `f1 [1,9] L0`."""

    name: str
    low: int
    high: int
    level: str

    @classmethod
    def parse(cls, line: str) -> "DrawnFile":
        found = _FILE.fullmatch(line)
        assert found is not None, line
        return cls(found["name"], int(found["low"]), int(found["high"]), found["level"])

    @property
    def bar(self) -> str:
        inside = self.high - self.low - 1
        return "|" if inside < 0 else f"|{'-' * inside}|"


def draw_sections(told: tuple[str, ...]) -> list[str]:
    files = [DrawnFile.parse(line) for line in told]
    lines = []
    found = sections([file.low for file in files], [file.high for file in files])
    for number, section in enumerate(found, start=1):
        lines.append(f"section {number}")
        for run in section.runs:
            bars = ""
            for file in (files[index] for index in run):
                bars = bars.ljust(file.low) + file.bar
            names = " ".join(f"{files[index].name}/{files[index].level}" for index in run)
            lines.append(f"  {bars:<{_WIDTH}}  {names}")
    return lines


def test_runs(request: pytest.FixtureRequest) -> None:
    rewrite = bool(request.config.getoption("--rewrite"))
    path = Path(__file__).with_name("runs.txt")
    check_script(path, {"sections": draw_sections}, rewrite=rewrite)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6)), max_size=12))
def test_sections_share_no_key_and_have_no_run_too_many(shapes: list[tuple[int, int]]) -> None:
    lows = [low for low, _ in shapes]
    highs = [low + length for low, length in shapes]
    found = sections(lows, highs)
    assert sorted(file for section in found for file in section.files) == list(range(len(shapes)))
    keys = [
        {key for file in section.files for key in range(lows[file], highs[file] + 1)}
        for section in found
    ]
    for before, after in pairwise(keys):
        assert max(before) < min(after)
    for section, its_keys in zip(found, keys, strict=True):
        assert its_keys == set(range(min(its_keys), max(its_keys) + 1)), "linked, so without a gap"
        for run in section.runs:
            assert all(highs[a] < lows[b] for a, b in pairwise(run))
        depth = max(sum(lows[f] <= key <= highs[f] for f in section.files) for key in its_keys)
        assert len(section.runs) == depth
