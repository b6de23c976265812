from pathlib import Path

import pytest

from datadriven.script import check_script, parse_script

SCRIPT = """\
# Counts.
count
a
b
----
2

count
----
0
"""
COMMANDS = {"count": lambda told: [str(len(told))]}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "count.txt"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def test_cases_know_their_line_and_are_written_as_they_were_read() -> None:
    cases = parse_script(SCRIPT)
    assert [(case.line, case.told, case.expected) for case in cases] == [
        (2, ("a", "b"), ("2",)),
        (8, (), ("0",)),
    ]
    assert "\n".join(map(str, cases)) == SCRIPT


def test_a_wrong_answer_fails_with_its_line(script: Path) -> None:
    check_script(script, COMMANDS, rewrite=False)
    with pytest.raises(AssertionError, match=r"count\.txt:8 answers\nzero"):
        check_script(script, {"count": lambda told: ["2" if told else "zero"]}, rewrite=False)


def test_rewrite_writes_the_answers_and_nothing_else(script: Path) -> None:
    check_script(script, {"count": lambda told: ["many"] * len(told)}, rewrite=True)
    assert script.read_text(encoding="utf-8") == SCRIPT.replace("2\n", "many\nmany\n").replace(
        "0\n", ""
    )


@pytest.mark.parametrize("text", ["", "# Only a comment.\n"])
def test_a_file_without_cases_fails(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((AssertionError, ValueError), match="case"):
        check_script(path, COMMANDS, rewrite=False)


def test_a_case_that_ends_too_early_fails() -> None:
    with pytest.raises(ValueError, match="line 12"):
        parse_script(SCRIPT + "\ncount\na\n")
