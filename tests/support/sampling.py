"""Which cases of tests with many does a commit run?"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

SAMPLED: Final = 5
FEW_CASES: Final = 3


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
