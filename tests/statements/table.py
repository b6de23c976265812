"""The table of statements: what is asked, what is expected, and who said so.

A file of `cases/` holds the scenarios of a page of Paimon's documentation, in the syntax of
`datadriven.script`. A scenario has a database of its own, in which it first carries out what it is
told; then come its statements:

    scenario drop-table
    CREATE TABLE t (k INT)

    # Why it is here.
    recorded
    SELECT * FROM t
    ----
    k

    derived newer
    ANALYZE TABLE t COMPUTE STATISTICS
    ----

`recorded` is the answer of Paimon's connector 0.9.0, `derived` one that was told from Paimon's
documentation and code, with a word why it could not be recorded. With `python` behind either, it is
a Python program, of which the last line's value counts. An answer is a line of column names and a
line a row, or `error` and its condition; where the connector has another name for the same mistake,
that stands behind. `????` alone is an answer that nobody told yet.

Where Lakebed means to answer something else than the connector does, a line `==== why` and its own
answer follow.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from datadriven.script import Case, parse_script

CASES = Path(__file__).with_name("cases")
GAPS = Path(__file__).with_name("gaps.txt")
OLDER = Path(__file__).with_name("older.txt")
FIXED = Path(__file__).with_name("fixed.txt")

UNTOLD = ("????",)
EMPTY = "(empty text)"
SCENARIO = "scenario"
OWN = "===="
BY_CONNECTOR = ", by the connector "
ORIGINS = ("recorded", "derived")
REASONS = {
    "newer": "newer than 0.9.0",
    "spark4": "Spark 4 answers otherwise than Spark 3.5",
    "hive": "needs a Hive metastore",
    "rest": "needs a REST catalog",
    "fails": "0.9.0 fails, later versions do not",
    "oss": "needs a store in the network",
}


@dataclass(frozen=True)
class Statement:
    """A row of the table.

    Attributes:
        name: `page.scenario.number`.
        case: As it stands in the file.
    """

    name: str
    case: Case

    def __post_init__(self) -> None:
        assert self.origin in ORIGINS, f"{self.name}: {self.case.command}"
        if self.origin == "derived":
            assert self.reason in REASONS, f"{self.name}: why derived? one of {[*REASONS]}"

    @property
    def text(self) -> str:
        return "\n".join(self.case.told)

    @property
    def origin(self) -> str:
        return self.case.command.split()[0]

    @property
    def is_python(self) -> bool:
        return "python" in self.case.command.split()

    @property
    def reason(self) -> str:
        return self.case.command.split()[-1]

    @cached_property
    def connectors_answer(self) -> tuple[str, ...]:
        return self._parts[0]

    @cached_property
    def own_reason(self) -> str | None:
        """Why Lakebed answers something else."""
        return self._parts[1]

    @cached_property
    def expected(self) -> tuple[str, ...]:
        """What Lakebed has to answer."""
        _, reason, own = self._parts
        answer = self.connectors_answer if reason is None else own
        return tuple(line.partition(BY_CONNECTOR)[0] for line in answer)

    @property
    def _parts(self) -> tuple[tuple[str, ...], str | None, tuple[str, ...]]:
        lines = self.case.expected
        at = next((n for n, line in enumerate(lines) if line.startswith(OWN)), None)
        if at is None:
            return lines, None, ()
        return lines[:at], lines[at].removeprefix(OWN).strip(), lines[at + 1 :]

    def with_connectors(self, answer: tuple[str, ...]) -> "Statement":
        """With what the connector answers; what Lakebed calls the same mistake stays."""
        told = self.connectors_answer
        if _is_error(answer) and (told == UNTOLD or _is_error(told)):
            ours = "error ?" if told == UNTOLD else told[0].partition(BY_CONNECTOR)[0]
            theirs = answer[0].removeprefix("error ")
            same = ours == answer[0]
            answer = answer if same else (f"{ours}{BY_CONNECTOR}{theirs}",)
        rest = self.case.expected[len(told) :]
        return replace(self, case=replace(self.case, expected=(*answer, *rest)))

    def with_own(self, found: tuple[str, ...]) -> "Statement":
        """With what Lakebed answers, where nobody said what is to be expected."""
        lines = self.case.expected
        if lines == UNTOLD:
            lines = found
        elif lines[-1:] == UNTOLD and self.own_reason is not None:
            lines = (*lines[:-1], *found)
        elif lines and lines[0].startswith("error ?") and _is_error(found):
            theirs = lines[0].partition(BY_CONNECTOR)[2]
            same = found[0] == f"error {theirs}"
            lines = found if same else (f"{found[0]}{BY_CONNECTOR}{theirs}", *lines[1:])
        return replace(self, case=replace(self.case, expected=lines))


@dataclass(frozen=True)
class Scenario:
    """Statements on tables of one database.

    Attributes:
        page: The file that it stands in.
        case: Its head.
        statements: In their order.
    """

    page: str
    case: Case
    statements: tuple[Statement, ...]

    @property
    def name(self) -> str:
        return self.case.command.split()[1]

    @property
    def database(self) -> str:
        return f"db_{self.name.replace('-', '_')}"

    @property
    def setup(self) -> list[str]:
        text = "\n".join(self.case.told)
        return [each.strip() for each in re.split(r";(?:\n|$)", text) if each.strip()]

    def __str__(self) -> str:
        head = [*self.case.comment, self.case.command, *self.case.told, "----"]
        cases = "".join(f"\n{each.case}" for each in self.statements)
        return "\n".join(head) + f"\n{cases}"


@dataclass(frozen=True)
class Page:
    """A file of the table.

    Attributes:
        path: Where it is.
        head: The comment it begins with.
        scenarios: In their order.
    """

    path: Path
    head: str
    scenarios: tuple[Scenario, ...]

    def write(self) -> None:
        text = "\n".join([self.head + "\n", *map(str, self.scenarios)])
        self.path.write_text(text, encoding="utf-8")


def read_page(path: Path) -> Page:
    head, _, text = path.read_text(encoding="utf-8").partition("\n\n")
    return Page(path, head, tuple(_scenarios(path.stem, parse_script(text))))


def read_pages() -> list[Page]:
    return [read_page(path) for path in sorted(CASES.glob("*.txt"))]


def read_scenarios() -> list[Scenario]:
    return [scenario for page in read_pages() for scenario in page.scenarios]


def _scenarios(page: str, cases: Sequence[Case]) -> Iterator[Scenario]:
    heads = [n for n, case in enumerate(cases) if case.command.startswith(f"{SCENARIO} ")]
    assert not cases or heads[:1] == [0], f"{page} begins without a scenario"
    for head, end in zip(heads, [*heads[1:], len(cases)], strict=True):
        name = cases[head].command.split()[1]
        statements = (
            Statement(f"{page}.{name}.{number}", case)
            for number, case in enumerate(cases[head + 1 : end], start=1)
        )
        yield Scenario(page, cases[head], tuple(statements))


def read_gaps(path: Path = GAPS) -> dict[str, str]:
    """The reason of each statement that is known to fail, by the statement's name."""
    gaps: dict[str, str] = {}
    reason = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            assert line.strip() not in gaps, f"{line.strip()} stands there twice"
            gaps[line.strip()] = reason
        elif line and not line.startswith("#"):
            reason = line
    return gaps


def read_fixed() -> list[str]:
    """The scenarios that are run on every kind of Spark in each run of CI."""
    lines = FIXED.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _is_error(lines: Sequence[str]) -> bool:
    return bool(lines) and lines[0].startswith("error ")


def keeps_order(text: str) -> bool:
    """Whether a statement says in which order its rows come."""
    return bool(re.search(r"\bORDER BY\b|\.orderBy\(|^DESC", text, re.IGNORECASE))


def lines_of(answer: Mapping[str, object], *, text: str) -> tuple[str, ...]:
    """An answer, as the driver tells it, in lines."""
    match answer:
        case {"error": str() as condition}:
            return (f"error {condition}",)
        case {"columns": list() as columns, "rows": list() as rows}:
            if not columns:
                return ()
            lines = [" | ".join(row).rstrip() or EMPTY for row in rows]
            return (
                " | ".join(columns),
                *(lines if keeps_order(text) else sorted(lines)),
            )
        case _:
            raise ValueError(f"no answer: {answer}")
