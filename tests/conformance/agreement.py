"""Do Lakebed and the real Paimon read the same rows of a table that the real Paimon wrote?

Each random table is asked for its latest rows, for some of its snapshots, for an increment, for its
row kinds, for some columns, and for rows that a comparison picks. What either of them refuses is
counted, and never taken for agreement; every difference is a violation.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import lakebed
from conformance.encoding import count_arrow, count_java, spark_type
from conformance.kinds import KINDS
from conformance.random_tables import Alter, Compact, RandomTable, Write, make_table
from lakebed.errors import LakebedError, UnsupportedError
from tools.peers.process import PeerError
from tools.peers.referee import Answer, Comparison, Referee

SNAPSHOTS_ASKED = 3
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "IS NULL", "IS NOT NULL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One scan.

    Attributes:
        system: A system table of it.
        snapshot: Its id; None is the latest.
        increment: Two snapshot ids; the rows that came between.
        columns: Their names; None is all.
        where: A comparison for the referee, and the same in SQL for Lakebed.
    """

    system: str | None = None
    snapshot: int | None = None
    increment: tuple[int, int] | None = None
    columns: tuple[str, ...] | None = None
    where: tuple[Comparison, str] | None = None


@dataclass(slots=True)
class Verdict:
    """What came of a table.

    Attributes:
        reads: How many scans both answered.
        refusals: What Lakebed refused as unsupported, by its message.
        java_refusals: What the real Paimon failed to write or read, by its message.
        violations: A text for each disagreement.
    """

    reads: int = 0
    refusals: Counter[str] = field(default_factory=Counter)
    java_refusals: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


def judge(seed: int, referee: Referee, warehouse: Path) -> Verdict:
    """Has the referee write the table of a seed, and compares how both read it."""
    table = make_table(seed)
    directory = warehouse / "db.db" / f"random_{seed}"
    verdict = Verdict()
    try:
        write_table(table, referee, directory)
    except PeerError as error:
        verdict.java_refusals[_gist(error)] += 1
        return verdict
    for question in make_questions(table, directory):
        _ask(question, table, referee=referee, directory=directory, verdict=verdict)
    return verdict


def write_table(table: RandomTable, referee: Referee, directory: Path) -> None:
    """Carries out a table's history."""
    referee.create(directory, table.schema)
    for step in table.steps:
        match step:
            case Write(rows, overwrites):
                referee.write(directory, rows, overwrite=overwrites)
            case Compact(is_full):
                referee.compact(directory, full=is_full)
            case Alter(changes):
                referee.alter(directory, changes)


def make_questions(table: RandomTable, directory: Path) -> list[Question]:
    """The scans of a table; the same table gets the same ones."""
    rng = random.Random(f"questions of {table.seed}")
    names = [path.name for path in (directory / "snapshot").glob("snapshot-*")]
    snapshots = sorted(int(name.removeprefix("snapshot-")) for name in names)
    asked = rng.sample(snapshots, min(SNAPSHOTS_ASKED, len(snapshots)))
    columns = rng.sample(list(table.columns), rng.randint(1, len(table.columns)))
    comparable = [name for name, kind in table.columns.items() if KINDS[kind].literal]
    compared = rng.sample(comparable, min(2, len(comparable)))
    return [
        Question(),
        Question(system="audit_log"),
        Question(system="ro"),
        *(Question(increment=pair) for pair in _increments(rng, table, snapshots)),
        *(Question(snapshot=snapshot) for snapshot in asked),
        Question(columns=tuple(dict.fromkeys([*columns, *_removing(table)]))),
        *(Question(where=_compare(rng, name, table.columns[name])) for name in compared),
    ]


def _removing(table: RandomTable) -> list[str]:
    """Sequence fields that remove records: Java forgets to where the columns read lack them."""
    fields = table.schema["options"].get("partial-update.remove-record-on-sequence-group", "")
    return [name for name in fields.split(",") if name]


def _increments(
    rng: random.Random, table: RandomTable, snapshots: Sequence[int]
) -> list[tuple[int, int]]:
    """An increment; of a table that hides level 0 none, where 1.4.2 is not to be followed."""
    options = table.schema["options"]
    hides = options.get("merge-engine") == "first-row" or "deletion-vectors.enabled" in options
    if hides or len(snapshots) < 2:
        return []
    start, end = sorted(rng.sample(snapshots, 2))
    return [(start, end)]


def _compare(rng: random.Random, name: str, kind: str) -> tuple[Comparison, str]:
    comparison = rng.choice(COMPARISONS)
    value = rng.choice(KINDS[kind].values)
    if comparison.startswith("IS"):
        return (name, comparison, None), f"{name} {comparison}"
    literal = KINDS[kind].literal.format(str(value).lower() if kind == "boolean" else value)
    return (name, comparison, value), f"{name} {comparison} {literal}"


def _ask(
    question: Question, table: RandomTable, *, referee: Referee, directory: Path, verdict: Verdict
) -> None:
    try:
        answer = _read_by_java(question, referee, directory)
    except PeerError as error:
        verdict.java_refusals[_gist(error)] += 1
        return
    try:
        difference = _difference(question, answer, table, directory=directory)
    except UnsupportedError as error:
        verdict.refusals[str(error).replace(str(directory), "TABLE")] += 1
        return
    except LakebedError as error:
        difference = f"Lakebed failed: {error!r}"
    verdict.reads += 1
    if difference is not None:
        verdict.violations.append(f"{question}: {difference}")


def _read_by_java(question: Question, referee: Referee, directory: Path) -> Answer:
    options = {}
    if question.snapshot is not None:
        options["scan.snapshot-id"] = str(question.snapshot)
    if question.increment is not None:
        options["incremental-between"] = "{},{}".format(*question.increment)
    return referee.read(
        _locate(question, directory),
        columns=question.columns,
        where=[question.where[0]] if question.where else (),
        options=options,
    )


def _locate(question: Question, directory: Path) -> Path:
    if question.system is None:
        return directory
    return directory.with_name(f"{directory.name}${question.system}")


def _difference(
    question: Question, answer: Answer, table: RandomTable, *, directory: Path
) -> str | None:
    scan = lakebed.load_table(str(_locate(question, directory))).scan(
        columns=list(question.columns) if question.columns else None,
        where=question.where[1] if question.where else None,
        snapshot_id=question.snapshot,
        incremental=question.increment,
    )
    rows = scan.to_arrow()
    names = [name for name, _ in answer.columns]
    if rows.column_names != names:
        return f"columns {rows.column_names} for {names}"
    types = {name: spark_type(kind) for name, kind in answer.columns}
    unordered = _unordered(table.schema["options"])
    found = count_arrow(rows, types, unordered=unordered)
    wanted = count_java(answer.rows, types, unordered=unordered)
    if found != wanted:
        lacking, surplus = list(wanted - found), list(found - wanted)
        return f"of {names} lacks {lacking[:3]}, has {surplus[:3]} too many"
    counted = scan.count()
    return None if counted == len(answer.rows) else f"counts {counted} of {len(answer.rows)}"


def _unordered(options: Mapping[str, str]) -> set[str]:
    """Columns of distinct elements, which Java collects in the order of its hashes."""
    return {
        key.split(".")[1]
        for key in options
        if key.endswith(".distinct")
        and options[key.replace(".distinct", ".aggregate-function")] == "collect"
    }


def _gist(error: PeerError) -> str:
    """The innermost cause of a stack trace, in a line."""
    lines = str(error).splitlines()
    causes = [line for line in lines if line.startswith("Caused by:")]
    return (causes[-1] if causes else lines[0])[:200]
