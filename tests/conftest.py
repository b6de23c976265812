"""What every test run is told: its options, no deadline on a shared machine, and which cases."""

import pytest
from hypothesis import settings

from support.sampling import FEW_CASES, SAMPLED, cases_of
from tools.provenance import read_commit, seed_of

settings.register_profile("lakebed", deadline=None)
settings.load_profile("lakebed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write what the data-driven tests find into their files instead of comparing",
    )
    parser.addoption(
        "--sample",
        action="store_true",
        help=f"of tests with more than {FEW_CASES} cases, run one in {SAMPLED}, by the commit",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("spark"):
            # One process has them all, for they share a session.
            item.add_marker(pytest.mark.xdist_group("spark"))
    if config.getoption("--sample"):
        drawn = {item.nodeid for item in items if item.get_closest_marker("drawn")}
        others = [item.nodeid for item in items if item.nodeid not in drawn]
        chosen = drawn | cases_of(others, seed=seed_of(read_commit()))
        config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in chosen])
        items[:] = [each for each in items if each.nodeid in chosen]
