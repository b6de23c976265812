"""How a scenario of the table is run, by Lakebed or by Paimon's connector, and what is masked."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from statements.table import Scenario, Statement, lines_of

UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]\d\d:\d\d(:\d\d(\.\d+)?)?Z?")
MILLISECONDS = re.compile(r"\b\d{13}\b")
SIZE = re.compile(r"(?<=fileSizeInBytes=)\d+|(?<=rows, )\d+(?= bytes)")
SET = re.compile(r"SET\s+`?(spark\.[^\s`=]+)", re.IGNORECASE)
DAY = timedelta(days=1)


class Teller(Protocol):
    """A Spark session."""

    def __call__(self, text: str, *, is_python: bool) -> Mapping[str, object]: ...


class SetupError(Exception):
    """A scenario could not begin."""


def run_scenario(
    scenario: Scenario, tell: Teller, *, warehouse: Path
) -> Iterator[tuple[Statement, tuple[str, ...], str]]:
    """Each statement, what it answers, and the message of the error if it is one.

    Raises:
        SetupError: A statement of the set-up failed.
    """
    files = warehouse / "files" / scenario.database
    files.mkdir(parents=True, exist_ok=True)
    places = {"db": scenario.database, "files": str(files), "warehouse": str(warehouse)}

    def ask(text: str, *, is_python: bool = False) -> Mapping[str, object]:
        for place, meant in places.items():
            text = text.replace(f"${{{place}}}", meant)
        return tell(text, is_python=is_python)

    mask = masking(scenario.database, warehouse)
    create = (f"CREATE DATABASE lake.{scenario.database}", f"USE lake.{scenario.database}")
    try:
        for text in (*create, *scenario.setup):
            answer = ask(text)
            if "error" in answer:
                raise SetupError(f"{text}\n{answer['message']}")
        for each in scenario.statements:
            answer = ask(each.text, is_python=each.is_python)
            lines = tuple(map(mask, lines_of(answer, text=each.text)))
            yield each, lines, str(answer.get("message", ""))
    finally:
        for text in (*scenario.setup, *(each.text for each in scenario.statements)):
            for key in SET.findall(text):
                ask(f"RESET `{key}`")


def masking(database: str, warehouse: Path) -> Callable[[str], str]:
    """What hides in an answer what differs each time: places, moments, sizes, random names."""
    now = datetime.now(UTC)
    days = {str((now + shift).date()) for shift in (-DAY, 0 * DAY, DAY)}
    place = re.compile(rf"(file:(//)?)?{re.escape(str(warehouse))}")

    def moment(match: re.Match[str]) -> str:
        return "<now>" if match[1] in days else match[0]

    def milliseconds(match: re.Match[str]) -> str:
        distance = abs(int(match[0]) / 1000 - now.timestamp())
        return "<now>" if distance < DAY.total_seconds() else match[0]

    def mask(line: str) -> str:
        line = place.sub("$warehouse", line).replace(database, "$db")
        line = SIZE.sub("<size>", UUID.sub("<uuid>", line))
        return MILLISECONDS.sub(milliseconds, MOMENT.sub(moment, line))

    return mask
