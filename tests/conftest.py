"""What every test run is told: its options, no deadline on a shared machine, and which cases."""

import pytest
from hypothesis import settings

from support.sampling import FEW_CASES, SAMPLED, SPARK_SAMPLED, cases_of, chosen_of
from tools.brief_java import use_brief_java
from tools.provenance import read_commit, seed_of

use_brief_java()

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
        help=f"of tests with more than {FEW_CASES} cases, run one in {SAMPLED}, by the commit; "
        f"of tests on Spark here, one in {SPARK_SAMPLED}",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("spark"):
            # One process has them all, for they share a session.
            item.add_marker(pytest.mark.xdist_group("spark"))
    if config.getoption("--sample"):
        seed = seed_of(read_commit())
        drawn = {item.nodeid for item in items if item.get_closest_marker("drawn")}
        chosen = cases_of((item.nodeid for item in items), seed=seed) | drawn
        slow = {item.nodeid for item in items if _is_slow(item)} - drawn
        chosen -= slow - chosen_of(slow, seed=seed // SAMPLED)
        config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in chosen])
        items[:] = [each for each in items if each.nodeid in chosen]


def _is_slow(item: pytest.Item) -> bool:
    """Whether it needs Spark, and no other stage of CI has room for all of its kind."""
    kinds = ("variants", "stores", "peers", "long")
    has_room = any(item.get_closest_marker(kind) for kind in kinds)
    return item.get_closest_marker("spark") is not None and not has_room
