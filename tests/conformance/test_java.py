"""Lakebed and the real Paimon 1.4.2 on one table: each reads what the other wrote and writes on."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import lakebed
from conformance.cases import CASES, Case
from conformance.encoding import count_arrow, count_java, encode_rows, spark_type
from support.golden_answers import SparkType
from tools.peers.referee import Referee

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_real_paimon_and_lakebed_take_turns_on_one_table(
    case: Case, referee: Referee, tmp_path: Path
) -> None:
    table = case.write(tmp_path)
    answer = referee.read(table)
    types = {name: spark_type(kind) for name, kind in answer.columns}
    assert count_java(answer.rows, types) == count_arrow(case.arrow(case.expected()), types)

    rows = encode_rows(case.arrow(case.theirs), types)
    referee.write(table, [["+I", *row] for row in rows])
    expected = case.arrow(case.expected(case.theirs))
    assert _read_by_lakebed(table, types) == count_arrow(expected, types)

    lakebed.load_table(str(table)).append(case.arrow(case.ours_again))
    expected = case.arrow(case.expected(case.theirs, case.ours_again))
    assert count_java(referee.read(table).rows, types) == count_arrow(expected, types)
    assert _read_by_lakebed(table, types) == count_arrow(expected, types)


def _read_by_lakebed(table: Path, types: Mapping[str, SparkType]) -> Counter[str]:
    return count_arrow(lakebed.load_table(str(table)).scan().to_arrow(), types)
