"""Random tables that the real Paimon writes: Lakebed reads of them what the real Paimon reads.

Each commit tries other seeds. `./dev prove random-tables --seconds 1 --from-seed N` repeats seed N.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from conformance.agreement import judge
from conformance.encoding import count_arrow, count_java, spark_type
from conformance.engines import ENGINES
from conformance.kinds import CASTS, KINDS, with_ids
from conformance.random_tables import Alter, Compact, RandomTable, Write, make_table
from tools.peers.referee import Referee
from tools.provenance import read_commit, seed_of

FIRST_SEED = seed_of(read_commit())
SEEDS = range(FIRST_SEED, FIRST_SEED + 60)


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    referee = Referee()
    yield referee
    referee.close()


@pytest.mark.peers
@pytest.mark.drawn
@pytest.mark.parametrize("seed", SEEDS)
def test_lakebed_reads_what_the_real_paimon_reads(
    seed: int, referee: Referee, tmp_path: Path
) -> None:
    verdict = judge(seed, referee, tmp_path)
    assert not verdict.violations, "\n".join([*verdict.violations, make_table(seed).describe()])
    assert not verdict.refusals
    if verdict.java_refusals:
        pytest.skip(f"the real Paimon fails: {list(verdict.java_refusals)}")


@pytest.mark.peers
def test_the_referee_reads_the_rows_that_it_was_given(referee: Referee, tmp_path: Path) -> None:
    table = tmp_path / "db.db" / "every_kind"
    fields = [
        {"id": index, "name": name, "type": with_ids(kind.type, index)}
        for index, (name, kind) in enumerate(KINDS.items())
    ]
    schema = {"fields": fields, "primaryKeys": [], "partitionKeys": [], "options": {}}
    referee.create(table, {**schema, "comment": None})
    count = max(len(kind.values) for kind in KINDS.values())
    rows = [
        [kind.values[index % len(kind.values)] for kind in KINDS.values()] for index in range(count)
    ]
    referee.write(table, [["+I", *row] for row in rows])
    answer = referee.read(table)
    types = {name: spark_type(kind) for name, kind in answer.columns}
    assert count_java(answer.rows, types) == count_java(rows, types)


def test_a_seed_stands_for_one_table() -> None:
    assert make_table(FIRST_SEED) == make_table(FIRST_SEED)
    assert make_table(FIRST_SEED) != make_table(FIRST_SEED + 1)


def test_every_engine_kind_and_cast_occurs_in_some_table() -> None:
    tables = [make_table(seed) for seed in range(1000)]
    engines = {table.schema["options"].get("merge-engine", "deduplicate") for table in tables}
    assert len(engines) == len(ENGINES) - 1  # Sequence groups are partial updates.
    assert {kind for table in tables for kind in table.columns.values()} == set(KINDS)
    steps = Counter(type(step) for table in tables for step in table.steps)
    assert min(steps[kind] for kind in (Write, Alter, Compact)) > 100
    assert _casts(tables) == {KINDS[kind].type for kinds in CASTS.values() for kind in kinds}


def _casts(tables: Sequence[RandomTable]) -> set[str]:
    return {
        change["newDataType"]
        for table in tables
        for step in table.steps
        if isinstance(step, Alter)
        for change in step.changes
        if change["action"] == "updateColumnType"
    }


def test_encodings_of_arrow_and_of_java_meet() -> None:
    kinds = {
        "d": "DECIMAL(4, 2) NOT NULL",
        "t": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        "m": {"type": "MAP", "key": "STRING", "value": "INT"},
    }
    types = {name: spark_type(kind) for name, kind in kinds.items()}
    rows = pa.table(
        {
            "d": pa.array([1, None]).cast(pa.decimal128(21, 2)).cast(pa.decimal128(4, 2)),
            "t": pa.array([1_500, 0], pa.timestamp("ms", "UTC")),
            "m": pa.array([[("b", 1), ("a", None)], None], pa.map_(pa.string(), pa.int32())),
        }
    )
    java: list[list[object]] = [["1.00", "1970-01-01T00:00:01.500000Z", [["a", None], ["b", 1]]]]
    java += [[None, "1970-01-01T00:00:00.000000Z", None]]
    assert count_arrow(rows, types) == count_java(java, types)
    assert count_arrow(rows, types) != count_java(java[:1] * 2, types)


def test_elements_are_compared_without_order_where_asked() -> None:
    types = {"a": spark_type({"type": "ARRAY", "element": "INT"})}
    one, other = [[[2, 1]]], [[[1, 2]]]
    assert count_java(one, types) != count_java(other, types)
    assert count_java(one, types, unordered="a") == count_java(other, types, unordered="a")
