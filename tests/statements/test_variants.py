"""Sixty statements of the table answer alike on the other kinds of Spark; `prove` runs them all."""

import pytest

from statements.table import read_fixed, read_scenarios
from statements.variants import OTHERS, Variant


@pytest.mark.variants
@pytest.mark.parametrize("variant", OTHERS, ids=lambda each: each.name)
def test_the_fixed_statements_answer_alike(variant: Variant) -> None:
    run = variant.run(only_fixed=True)
    assert run.returncode == 0, run.stdout[-10_000:]


def test_sixty_statements_are_fixed() -> None:
    fixed = read_fixed()
    chosen = [each for each in read_scenarios() if each.name in fixed]
    assert len(chosen) == len(fixed)
    assert sum(len(each.statements) for each in chosen) == 60
