"""What a benchmark run promises: contenders take turns, and a missed promise is said."""

from collections.abc import Callable

import pytest

from benchmarks.harness import Contender, Effort, Outcome, Target, alternate


def _effort(*, rounds: int) -> Effort:
    return Effort(rounds=rounds, run_rows=1, scale="1", peers=True, progress=lambda _: None)


def _logging(log: list[str], name: str) -> Callable[[], float]:
    def measure() -> float:
        log.append(name)
        return float(len(log))

    return measure


def test_contenders_take_turns_after_a_warm_up_that_does_not_count() -> None:
    log: list[str] = []
    contenders = [
        Contender(name="ours", measure=_logging(log, "ours")),
        Contender(name="theirs", measure=_logging(log, "theirs")),
    ]
    figures = alternate(contenders, effort=_effort(rounds=2))
    assert log == ["ours", "theirs"] * 3
    assert figures == {"ours": [3.0, 5.0], "theirs": [4.0, 6.0]}


def test_slow_contender_takes_part_in_the_first_rounds_without_a_warm_up() -> None:
    log: list[str] = []
    contenders = [
        Contender(name="fast", measure=_logging(log, "fast")),
        Contender(name="slow", measure=_logging(log, "slow"), rounds=1),
    ]
    figures = alternate(contenders, effort=_effort(rounds=3))
    assert log == ["fast", "fast", "slow", "fast", "fast"]
    assert len(figures["slow"]) == 1


@pytest.mark.parametrize(
    ("target", "is_kept"),
    [
        (Target(of="theirs", at_most=0.5), True),
        (Target(of="theirs", at_most=0.4), False),
        (Target(of=None, at_most=2.0), True),
        (Target(of=None, at_most=1.9), False),
    ],
)
def test_promise_is_judged_by_medians(target: Target, *, is_kept: bool) -> None:
    figures = {"ours": [1.0, 2.0, 90.0], "theirs": [3.0, 4.0, 5.0]}
    outcome = Outcome(name="job", figures=figures, targets=(target,))
    assert (outcome.missed == []) is is_kept
