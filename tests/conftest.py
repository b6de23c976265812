"""What every test run is told: the option `--rewrite`, and no deadline on a shared machine."""

import pytest
from hypothesis import settings

settings.register_profile("lakebed", deadline=None)
settings.load_profile("lakebed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write what the data-driven tests find into their files instead of comparing",
    )
