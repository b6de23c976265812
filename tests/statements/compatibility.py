"""What `docs/compatibility.md` says of the table of statements.

    PYTHONPATH=src:tests:. python -m statements.compatibility     # writes it

Gaps and differences come from the table; a test holds the page to them.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from statements.table import OLDER, REASONS, Statement, read_gaps, read_scenarios

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"
BEGIN = "<!-- statements: written by tests/statements/compatibility.py -->"
END = "<!-- statements end -->"


def render() -> str:
    """The section between its marks."""
    statements = [each for scenario in read_scenarios() for each in scenario.statements]
    gaps = read_gaps()
    origins = Counter(each.origin for each in statements)
    reasons = Counter(each.reason for each in statements if each.origin == "derived")
    why = ", ".join(f"{REASONS[name]}: {count}" for name, count in reasons.most_common())
    told = len(statements) - len(gaps)
    lines = [
        BEGIN,
        f"{len(statements)} statements of our own, for each form of Paimon's Spark documentation,",
        "stand in `tests/statements/cases` with their answers:",
        f"{origins['recorded']} recorded from Paimon's Spark connector 0.9.0, {origins['derived']}",
        f"derived from its documentation and code ({why}).",
        f"Lakebed gives {told} of these answers. It does not run yet:",
        "",
        "| what | statements |",
        "|---|---|",
        *_gap_rows(gaps),
        "",
        "PySpark 4.1 answers otherwise:",
        "",
        "| what | statements |",
        "|---|---|",
        *_gap_rows(read_gaps(OLDER)),
        "",
        "and Lakebed means to answer otherwise than the connector:",
        "",
        "| statement | Lakebed |",
        "|---|---|",
        *(_difference_row(each) for each in statements if each.own_reason is not None),
        END,
    ]
    return "\n".join(lines)


def _gap_rows(gaps: dict[str, str]) -> Iterator[str]:
    by_reason: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, reason in gaps.items():
        place, _, number = name.rpartition(".")
        by_reason[reason][place].append(number)
    for reason, places in by_reason.items():
        shown = "; ".join(f"{place} {', '.join(n)}" for place, n in places.items())
        yield f"| {reason} | {shown} |"


def _difference_row(statement: Statement) -> str:
    text = " ".join(statement.text.split()).replace("|", "\\|")
    return f"| ``{text}`` | {statement.own_reason} |"


def page_with(section: str, page: str) -> str:
    """The page with another section."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + section + after


if __name__ == "__main__":
    PAGE.write_text(page_with(render(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
