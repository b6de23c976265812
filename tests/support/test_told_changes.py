import pytest

from support.told_changes import Change, by_key, find_violations, without_repeats

_HISTORY = "+I1 -U1 +U2 -D2 +I5"


def changes(text: str) -> list[Change]:
    return [Change(word[:2], int(word[2:])) for word in text.split()]


@pytest.mark.parametrize(
    "told",
    [
        pytest.param(_HISTORY, id="once"),
        pytest.param("+I1 -U1 -U1 +U2 -D2 -U1 +U2 -D2 +I5", id="in part and then whole"),
        pytest.param(f"{_HISTORY} -D2 +I5", id="the last micro-batch again"),
    ],
)
def test_micro_batches_that_are_told_again_are_no_violation(told: str) -> None:
    assert find_violations({7: changes(told)}, {7: 5}) == []
    assert without_repeats({7: changes(told)}) == {7: changes(_HISTORY)}


def test_a_key_that_was_deleted_has_no_value() -> None:
    assert find_violations({7: changes("+I1 -D1")}, {}) == []


@pytest.mark.parametrize(
    ("told", "value"),
    [
        pytest.param("", 5, id="nothing was told"),
        pytest.param("+I1", None, id="the deletion is missing"),
        pytest.param("+I1 -U1", None, id="half an update"),
        pytest.param("+I1 -U1 +U2 -D2", 5, id="the last change is missing"),
        pytest.param("+I1 -U3 +U5", 5, id="another value before"),
        pytest.param("+I1 +U5", 5, id="no value before"),
        pytest.param("+I1 +I5", 5, id="a second insertion"),
        pytest.param("+I1 -U1 +U1", 1, id="an update to the same value"),
        pytest.param("+I2 -U2 +U1", 1, id="an older value"),
        pytest.param("-D1 +I5", 5, id="a deletion of nothing"),
        pytest.param("+I1 -U1 +U2 -D2 +I5 -U1 -D2 +I5", 5, id="a gap in what is told again"),
    ],
)
def test_what_is_lost_or_doubled_is_a_violation(told: str, value: int | None) -> None:
    model = {} if value is None else {7: value}
    assert find_violations({7: changes(told)}, model) != []


def test_changes_are_grouped_in_their_order() -> None:
    first, second, third = changes("+I1 +I2 -D1")
    assert by_key([(1, first), (2, second), (1, third)]) == {1: [first, third], 2: [second]}
