"""What `./dev test` leaves out, another commit runs."""

from support.sampling import SAMPLED, SPARK_SAMPLED, cases_of, chosen_of

CASES = [f"test_a.py::test_many[{number}-{mode}]" for number in range(20) for mode in "abc"]
FEW_OF_A = [f"test_a.py::{name}" for name in ("test_few[1]", "test_few[2]", "test_one", "test_two")]
FEW = [*FEW_OF_A, "test_b.py::test"]


def test_seeds_in_a_row_run_every_case_once_and_tests_with_few_cases_each_time() -> None:
    runs = [cases_of(CASES + FEW, seed=seed) for seed in range(7, 7 + SAMPLED)]
    assert all(run >= set(FEW) for run in runs)
    sampled = [run - set(FEW) for run in runs]
    assert sorted(case for run in sampled for case in run) == sorted(CASES)
    assert max(map(len, sampled)) <= len(CASES) / SAMPLED + 1


def test_the_same_seed_runs_the_same_cases_in_whatever_order_they_come() -> None:
    assert cases_of(CASES[::-1], seed=5) == cases_of(CASES, seed=5)


def test_seeds_in_a_row_run_every_slow_test_once_with_all_its_cases() -> None:
    runs = [chosen_of(CASES + FEW, seed=seed) for seed in range(3, 3 + SPARK_SAMPLED)]
    assert sorted(name for run in runs for name in run) == sorted(CASES + FEW)
    assert all(run >= set(CASES) or not run & set(CASES) for run in runs)
    # Of the four tests of a file each run has one.
    assert all(run & {*CASES, *FEW_OF_A} for run in runs)
