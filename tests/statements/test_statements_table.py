"""Each statement of the table answers what the table says, but for the known gaps.

A gap that passes is a failure, too: `gaps.txt` must shrink, and with it the page that tells of it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from lakebed.spark import attach, detach
from statements.compatibility import PAGE, page_with, render
from statements.running import SetupError, Teller, run_scenario
from statements.table import (
    OLDER,
    UNTOLD,
    Page,
    Scenario,
    Statement,
    read_fixed,
    read_gaps,
    read_page,
    read_pages,
    read_scenarios,
)
from statements.variants import ONLY_FIXED
from tools.peers.drivers.answers import answer

ALL = read_scenarios()
FIXED = read_fixed()
SCENARIOS = [each for each in ALL if ONLY_FIXED not in os.environ or each.name in FIXED]


@dataclass(frozen=True, slots=True)
class Lake:
    """The session that all scenarios share.

    Attributes:
        tell: Carries statements out.
        warehouse: Of the catalog `lake`.
    """

    tell: Teller
    warehouse: Path


@pytest.fixture(scope="module")
def lake(bare: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    warehouse = tmp_path_factory.mktemp("statements")
    attach(bare, "lake", warehouse=warehouse.as_uri())
    yield Lake(partial(answer, bare), warehouse)
    bare.sql("USE spark_catalog.default")
    detach(bare)


@pytest.mark.spark
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: f"{each.page}.{each.name}")
def test_a_scenario_answers_as_the_table_says(
    scenario: Scenario, lake: Lake, request: pytest.FixtureRequest
) -> None:
    gaps = read_gaps()
    if pyspark.__version__.startswith("4.1."):
        gaps |= read_gaps(OLDER)
    found: dict[str, tuple[str, ...]] = {}
    problems = []
    try:
        for each, lines, message in run_scenario(scenario, lake.tell, warehouse=lake.warehouse):
            found[each.name] = lines
            problems.append(_problem(each, lines, gaps, message=message))
    except SetupError as error:
        rest = [each for each in scenario.statements if each.name not in found]
        lost = [each.name for each in rest if each.name not in gaps]
        problems.append(f"cannot begin: {error}" if lost else None)
    if request.config.getoption("--rewrite"):
        _rewrite(scenario, found)
    told = [each for each in problems if each]
    if told:
        pytest.fail("\n\n".join(told), pytrace=False)


def _problem(
    statement: Statement, found: tuple[str, ...], gaps: dict[str, str], *, message: str
) -> str | None:
    has_passed = found == statement.expected
    if statement.name in gaps:
        return f"{statement.name} passes: take it off gaps.txt" if has_passed else None
    if has_passed:
        return None
    lines = [f"{statement.name}: {statement.text}", "expected", *statement.expected]
    return "\n".join([*lines, "found", *found, message])


def _rewrite(scenario: Scenario, found: dict[str, tuple[str, ...]]) -> None:
    """Writes answers where nobody told any."""
    page = read_page(next(each.path for each in read_pages() if each.path.stem == scenario.page))
    new = [
        Scenario(
            each.page,
            each.case,
            tuple(s.with_own(found[s.name]) if s.name in found else s for s in each.statements),
        )
        for each in page.scenarios
    ]
    Page(page.path, page.head, tuple(new)).write()


def test_scenarios_and_gaps_have_names_of_their_own() -> None:
    names = [each.name for each in ALL]
    assert len(names) == len(set(names))
    statements = {each.name: each for scenario in ALL for each in scenario.statements}
    assert {*read_gaps(), *read_gaps(OLDER)} <= set(statements)
    assert not read_gaps().keys() & read_gaps(OLDER).keys()
    assert set(FIXED) <= set(names)


def test_every_statement_has_an_answer() -> None:
    untold = [
        each.name
        for scenario in ALL
        for each in scenario.statements
        if UNTOLD[0] in each.case.expected or "error ?" in "".join(each.case.expected)
    ]
    assert not untold


def test_the_page_tells_of_every_gap_and_difference() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == page_with(render(), page), "run: python -m statements.compatibility"
