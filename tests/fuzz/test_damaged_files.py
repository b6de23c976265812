"""Tables with a damaged file: the right rows or an error that says which file, never anything else.

Each commit tries other places of the files. `./dev prove fuzz --seconds 1 --from-seed N` repeats
seed N.
"""

from collections.abc import Iterator

import pytest

from fuzz.damages import Damage, walk
from fuzz.inspector import Inspector
from fuzz.reads import Question, questions_of
from fuzz.specimens import SPECIMENS, kind_of
from fuzz.trials import Trial, judge, trials_of
from lakebed.errors import CorruptTableError, InvalidArgumentError
from tools.provenance import read_commit, seed_of

SAMPLE = 6
# One after the other of the specimens, a few each commit, all of them in a few commits.
FIRST_SEED = seed_of(read_commit().removesuffix("-dirty"))
BY_NAME = {specimen.name: specimen for specimen in SPECIMENS}


@pytest.fixture(scope="module")
def inspector() -> Iterator[Inspector]:
    inspector = Inspector()
    yield inspector
    inspector.close()


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + SAMPLE))
def test_damage_is_told(inspector: Inspector, seed: int) -> None:
    findings = inspector.inspect(seed)
    assert not findings.violations, "\n".join(findings.violations)
    assert findings.counts["errors that name the file"] > findings.counts["cases"] / 2


def test_the_specimens_have_every_kind_of_file() -> None:
    kinds = {kind_of(path) for specimen in SPECIMENS for path in specimen.files}
    assert kinds == {
        *("avro data", "orc data", "parquet data", "parquet changelog", "file index", "index"),
        *("snapshot", "schema", "tag", "hint", "consumer", "changelog", "statistics"),
        *("branch's snapshot", "branch's schema", "branch's tag", "branch's hint"),
        *("manifest", "manifest list", "index manifest"),
    }


@pytest.mark.parametrize("name", ["consumer", "file index", "statistics", "tags and branches"])
def test_every_kind_of_file_is_looked_at_by_some_question(name: str) -> None:
    specimen = BY_NAME[name]
    looked_at = {path for each in questions_of(specimen) for path in each.paths}
    assert {kind_of(path) for path in specimen.files} == {
        kind_of(path) for path in looked_at if path in specimen.files
    }


@pytest.mark.parametrize("size", [1, 2, 7, 8, 1000, 1021])
def test_a_walk_visits_every_place_once(size: int) -> None:
    assert sorted(walk(size, start=3 * size, steps=size)) == list(range(size))


def test_a_seed_stands_for_the_same_trials() -> None:
    assert list(map(str, trials_of(7))) == list(map(str, trials_of(7)))
    assert list(map(str, trials_of(7))) != list(map(str, trials_of(7 + len(SPECIMENS))))


def trial_of(name: str, kind: str, damage: Damage, *, question: Question) -> Trial:
    """A damage of the newest file of a kind."""
    specimen = BY_NAME[name]
    path = max(path for path in specimen.files if kind_of(path) == kind)
    return Trial(specimen=specimen, path=path, damage=damage, questions=[question])


def answering(rows: str | BaseException) -> Question:
    """A question whose right answer is `right`, answered in another way."""

    def read(_: object) -> str:
        if isinstance(rows, BaseException):
            raise rows
        return rows

    return Question("asked", read, "right", frozenset())


@pytest.mark.parametrize(
    ("damage", "answer", "outcome"),
    [
        (Damage("flipped", 8 * 20), ValueError("of a library"), "crashes"),
        (Damage("flipped", 8 * 20), MemoryError(), "crashes"),
        (Damage("flipped", 8 * 20), BaseException("as a panic is"), "crashes"),
        (Damage("flipped", 8 * 20), "other", "wrong rows"),
        (Damage("truncated", 30), "other", "wrong rows"),
        (Damage("empty"), "other", "wrong rows"),
        (Damage("missing"), "other", "wrong rows"),
        (Damage("missing"), CorruptTableError("another-file", "bad"), "errors that name no file"),
        (Damage("flipped", 0), InvalidArgumentError("bad"), "errors that name no file"),
    ],
    ids=str,
)
def test_what_must_not_be_is_a_violation(
    damage: Damage, answer: str | BaseException, outcome: str
) -> None:
    verdict = judge(trial_of("deletion vectors", "index", damage, question=answering(answer)))
    assert verdict.counts == {"cases": 1, outcome: 1}
    (violation,) = verdict.violations
    assert f"{damage}, asked: {outcome}" in violation


@pytest.mark.parametrize(
    ("kind", "damage"),
    [
        ("index", Damage("flipped", 0)),
        ("orc data", Damage("flipped", 8 * 100)),
        ("snapshot", Damage("missing")),
        ("index manifest", Damage("replaced", 0)),
    ],
)
def test_other_rows_come_of_bytes_that_nothing_guards(kind: str, damage: Damage) -> None:
    name = "orc" if kind == "orc data" else "deletion vectors"
    verdict = judge(trial_of(name, kind, damage, question=answering("other")))
    assert verdict.counts == {"cases": 1, "other rows, unguarded": 1}
    assert verdict.violations == []


# What the walks found, and what became an error of the file then.
FOUND = [
    ("compressions", "manifest-1fd8cefa", Damage("truncated", 2040)),
    ("compressions", "manifest-list-03af43ac", Damage("truncated", 1006)),
    ("compressions", "data-40b900e8", Damage("flipped", 160)),
    ("compressions", "data-e31aa394", Damage("flipped", 4115)),
    ("deletion vectors", "data-e2d919c5", Damage("flipped", 452 * 8)),
    ("file index", "data-8463beaf", Damage("truncated", 3167)),
    ("nested orc codecs", "data-1580ac0d", Damage("flipped", 6878)),
    ("orc", "data-10c72dfd", Damage("flipped", 12313)),
    ("orc", "data-16983bb6", Damage("flipped", 823 * 8 + 4)),
    ("orc", "data-25fadb7c", Damage("flipped", 1292 * 8)),
    ("partitions", "manifest-0921ca4c", Damage("flipped", 2180 * 8 + 5)),
    ("statistics", "snapshot/snapshot-1", Damage("flipped", 462 * 8 + 2)),
    ("thin mode", "data-a9225917", Damage("flipped", 168 * 8 + 2)),
]


@pytest.mark.parametrize(("name", "path", "damage"), FOUND, ids=str)
def test_what_was_found_once_stays_an_error(name: str, path: str, damage: Damage) -> None:
    specimen = BY_NAME[name]
    whole = max((each for each in specimen.files if path in each), key=_file_index_last)
    asked = [question for question in questions_of(specimen) if whole in question.paths][::3]
    trial = Trial(specimen=specimen, path=whole, damage=damage, questions=asked)
    verdict = judge(trial)
    assert verdict.violations == []
    assert any(outcome.startswith("errors") for outcome in verdict.counts)


@pytest.mark.parametrize(("seed", "end"), [(0, "ends the process with 7"), (1, "takes more than")])
def test_a_process_that_dies_or_hangs_is_told_with_the_trial(seed: int, end: str) -> None:
    inspector = Inspector(module="fuzz.unruly_child", seconds=0.2)
    (violation,) = inspector.inspect(seed).violations
    assert "trial of" in violation
    assert end in violation
    assert inspector.inspect(2).counts == {"cases": 1}
    inspector.close()


def _file_index_last(path: str) -> tuple[bool, str]:
    return path.endswith(".index"), path
