"""Tests as text: a command, what it is told, and what it answers.

    # Why this case is here.
    command
    what it is told
    ----
    what it answers

Cases are parted by blank lines. With `--rewrite` the answers are written into the file, and the
reviewer reads the change.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path

SEPARATOR = "----"


@dataclass(frozen=True)
class Case:
    """One command.

    Attributes:
        line: Where the command stands in the file.
        comment: The lines before it.
        command: Its name.
        told: The lines it is told.
        expected: The lines it answers.
    """

    line: int
    comment: tuple[str, ...]
    command: str
    told: tuple[str, ...]
    expected: tuple[str, ...]

    def __str__(self) -> str:
        lines = [*self.comment, self.command, *self.told, SEPARATOR, *self.expected]
        return "\n".join(lines) + "\n"


Command = Callable[[tuple[str, ...]], list[str]]


def parse_script(text: str) -> list[Case]:
    cases = []
    line = 1
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        comment = tuple(takewhile(lambda line: line.startswith("#"), lines))
        if SEPARATOR in lines:
            middle = lines.index(SEPARATOR)
            command, *told = lines[len(comment) : middle]
            expected = tuple(lines[middle + 1 :])
            cases.append(Case(line + len(comment), comment, command, tuple(told), expected))
        elif len(comment) < len(lines):
            raise ValueError(f"line {line}: a case without {SEPARATOR}")
        line += block.count("\n") + 2
    return cases


def check_script(path: Path, commands: Mapping[str, Command], *, rewrite: bool) -> None:
    """Runs every case of a file and compares, or writes what was found.

    Raises:
        AssertionError: An answer is not the one expected; names the line.
    """
    cases = parse_script(path.read_text(encoding="utf-8"))
    assert cases, f"{path.name} has no case"
    answered = [replace(case, expected=tuple(commands[case.command](case.told))) for case in cases]
    if rewrite:
        path.write_text("\n".join(map(str, answered)), encoding="utf-8")
        return
    for case, answer in zip(cases, answered, strict=True):
        found = "\n".join(answer.expected)
        assert found == "\n".join(case.expected), f"{path.name}:{case.line} answers\n{found}"
