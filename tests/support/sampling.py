"""Which tests, and which cases of tests with many, does a commit run?"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

SAMPLED: Final = 5
FEW_CASES: Final = 3
SPARK_SAMPLED: Final = 4


def cases_of(names: Iterable[str], *, seed: int) -> set[str]:
    """Of the cases of each test, all where they are few, and else one in `SAMPLED`, by the seed.

    They are put in order by a digest, so that the choice does not follow how cases are made up.

    Args:
        names: As pytest names tests: `file.py::test[case]`.
        seed: Seeds that differ by one choose other cases.
    """
    tests: dict[str, list[str]] = defaultdict(list)
    for name in names:
        tests[name.partition("[")[0]].append(name)
    chosen: set[str] = set()
    for cases in tests.values():
        in_order = sorted(cases, key=lambda name: hashlib.sha256(name.encode()).digest())
        chosen.update(in_order[seed % SAMPLED :: SAMPLED] if len(cases) > FEW_CASES else cases)
    return chosen


def chosen_of(names: Iterable[str], *, seed: int) -> set[str]:
    """Of the tests of each file, with all their cases, one in `SPARK_SAMPLED`, by the seed.

    For tests that take long, such as those on Spark.

    Args:
        names: As pytest names tests.
        seed: Seeds that differ by one choose other tests.
    """
    files: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in names:
        test = name.partition("[")[0]
        files[test.partition("::")[0]][test].append(name)
    chosen: set[str] = set()
    for tests in files.values():
        in_order = sorted(tests, key=lambda name: hashlib.sha256(name.encode()).digest())
        for test in in_order[seed % SPARK_SAMPLED :: SPARK_SAMPLED]:
            chosen.update(tests[test])
    return chosen
