"""Damages a file of a table, asks, and judges what comes back.

Rows or an error of Lakebed's that says which file is at fault: everything else is a violation, and
so are other rows than the right ones where the damage could have been seen.
"""

import json
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from fuzz.checksums import guarded_bytes, header_length
from fuzz.damages import Damage, walk
from fuzz.reads import LOCATION, Question, WatchedFileIO, questions_of
from fuzz.specimens import SPECIMENS, Specimen, kind_of
from lakebed.errors import (
    CorruptTableError,
    InvalidTableError,
    LakebedError,
    NotFoundError,
    UnsupportedError,
)

# Files that say by being there that something exists: without them there is less, and that is all.
_LISTED = {"snapshot", "schema", "tag", "consumer", "changelog"}
_TELLING = (CorruptTableError, NotFoundError, UnsupportedError)

FLIPS, CUTS, QUESTIONS = 4, 1, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One damage of one file.

    Attributes:
        specimen: The table.
        path: The file, in the table.
        damage: What befalls it.
        questions: What is asked afterwards.
    """

    specimen: Specimen
    path: str
    damage: Damage
    questions: Sequence[Question]

    def __str__(self) -> str:
        """For a report, to be found again."""
        return f"{self.specimen.name}: {self.path} {self.damage}"


def trials_of(seed: int) -> Iterator[Trial]:
    """The trials of a seed: of one table, for each kind of file some steps of a walk."""
    specimen, turn = SPECIMENS[seed % len(SPECIMENS)], seed // len(SPECIMENS)
    asked = questions_of(specimen)
    watched = {path for question in asked for path in question.paths if path in specimen.files}
    for kind in sorted({kind_of(path) for path in watched}):
        paths = sorted(path for path in watched if kind_of(path) == kind)
        for step, (path, damage) in enumerate(_damages(specimen.files, paths, turn)):
            looking = [question for question in asked if path in question.paths]
            chosen = {(turn + step + each) % len(looking) for each in range(QUESTIONS)}
            questions = [looking[place] for place in sorted(chosen)]
            yield Trial(specimen=specimen, path=path, damage=damage, questions=questions)


def _damages(
    files: Mapping[str, bytes], paths: list[str], turn: int
) -> Iterator[tuple[str, Damage]]:
    size = sum(len(files[path]) for path in paths)
    for place in walk(size * 8, start=turn * FLIPS, steps=FLIPS):
        path, byte = _locate(files, paths, place // 8)
        yield path, Damage("flipped", byte * 8 + place % 8)
    for place in walk(size, start=turn * CUTS, steps=CUTS):
        path, byte = _locate(files, paths, place)
        yield path, Damage("truncated", byte)
    path = paths[turn % len(paths)]
    if (length := header_length(files[path])) is not None:
        yield path, Damage("truncated", length)
    yield path, Damage(("missing", "empty")[turn // len(paths) % 2])
    yield path, Damage("replaced", turn * 7 % len(files))


def _locate(files: Mapping[str, bytes], paths: list[str], place: int) -> tuple[str, int]:
    for path in paths:
        if place < len(files[path]):
            return path, place
        place -= len(files[path])
    raise IndexError(place)


@dataclass(slots=True)
class Verdict:
    """What came of a trial.

    Attributes:
        counts: How many reads ended how.
        violations: What must not be, a line each.
    """

    counts: Counter[str]
    violations: list[str]


def judge(trial: Trial) -> Verdict:
    """Carries a trial out."""
    files = trial.specimen.files
    data = trial.damage.apply(files[trial.path], list(files.values()))
    verdict = Verdict(Counter(cases=1), [])
    for question in trial.questions:
        store = WatchedFileIO(files)
        path = f"{LOCATION}/{trial.path}"
        if data is None:
            store.delete(path)
        else:
            store.write(path, data)
        try:
            rows = question.read(store)
        except LakebedError as error:
            outcome, problem = _judge_error(trial, error)
        except BaseException as error:  # noqa: BLE001 - a panic of a library is no Exception
            frames = traceback.format_tb(error.__traceback__)[-4:]
            outcome, problem = "crashes", f"{error!r}\n{''.join(frames)}"
        else:
            outcome, problem = _judge_rows(trial, question, rows)
        verdict.counts[outcome] += 1
        if problem is not None:
            verdict.violations.append(f"{trial}, {question.name}: {outcome}: {problem}")
    return verdict


def _judge_rows(trial: Trial, question: Question, rows: str) -> tuple[str, str | None]:
    if rows == question.rows:
        return "right rows", None
    if _may_change(trial):
        return "other rows, unguarded", None
    return "wrong rows", f"{rows[-200:]} for {question.rows[-200:]}"


def _may_change(trial: Trial) -> bool:
    kind = kind_of(trial.path).removeprefix("branch's ")
    match trial.damage.kind:
        case "flipped":
            byte = trial.damage.place // 8
            return not any(byte in each for each in _guarded(trial.specimen, trial.path))
        case "replaced":
            return kind not in {"hint", "snapshot", "schema"} or _is_namesake(trial)
        case "missing":
            return kind in _LISTED
        case "truncated" if kind == "index manifest":
            # It is of no size that a snapshot knows, and may say that there are no indexes.
            whole = trial.specimen.files[trial.path]
            return trial.damage.place == header_length(whole)
        case _:
            return False


def _is_namesake(trial: Trial) -> bool:
    """Whether the other file is of the same number: a snapshot's does not say its branch or tag."""
    files = trial.specimen.files
    other = list(files.values())[trial.damage.place]
    if not other.startswith(b"{"):
        return False
    number: object = json.loads(other).get("id")
    return number is not None and number == json.loads(files[trial.path]).get("id")


@cache
def _guarded(specimen: Specimen, path: str) -> list[range]:
    return guarded_bytes(dict(specimen.files), path)


def _judge_error(trial: Trial, error: LakebedError) -> tuple[str, str | None]:
    name = trial.path.rsplit("/", 1)[-1]
    text = str(error)
    if isinstance(error, _TELLING) and _names(text, name):
        return "errors that name the file", None
    if trial.damage.kind == "missing" and isinstance(error, NotFoundError) and name == "schema-0":
        # Without any schema there is no table to be asked.
        return "errors that name the table", None
    if trial.damage.kind in {"flipped", "replaced"} and (
        isinstance(error, _TELLING) or LOCATION in text
    ):
        return "errors that name what the file led to", None
    # Options that contradict each other, or have no such value: read from a sound schema.
    if kind_of(trial.path).endswith("schema") and (
        isinstance(error, InvalidTableError) or "option '" in text
    ):
        return "errors that name an option", None
    return "errors that name no file", f"{type(error).__name__}: {text}"


def _names(text: str, name: str) -> bool:
    kind, _, of = name.partition("-")
    called = "snapshot" if kind == "changelog" else kind
    return name in text or f"{called} '{of}'" in text
