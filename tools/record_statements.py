"""Writes what Paimon's connector answers into the table of statements.

    PYTHONPATH=src:tests:. python -m tools.record_statements [page ...]

Only what is marked `recorded` is written; derived statements are carried out with the others, for
later ones may build on them, and what they answer is passed over. What comes of it is a change of
the table that is read like any other.
"""

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from statements.running import SetupError, run_scenario
from statements.table import Page, Scenario, Statement, read_pages
from tools.peers.paimon_spark import PaimonSpark

SETTINGS = {
    "spark.master": "local[2]",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
}


def record(scenario: Scenario, connector: PaimonSpark, *, warehouse: Path) -> Scenario:
    """The scenario with the connector's answers."""
    statements: list[Statement] = []
    try:
        for each, lines, message in run_scenario(scenario, connector.tell, warehouse=warehouse):
            is_recorded = each.origin == "recorded"
            new = each.with_connectors(lines) if is_recorded else each
            if new != each:
                print(f"record: {each.name}: {' / '.join(lines)[:300]} {message[:300]}")
            statements.append(new)
    except SetupError as error:
        if any(each.origin == "recorded" for each in scenario.statements):
            print(f"record: {scenario.page}.{scenario.name} cannot begin: {str(error)[:800]}")
        return scenario
    return replace(scenario, statements=tuple(statements))


def main() -> None:
    """Records the pages named on the command line, or all."""
    names = sys.argv[1:]
    pages = [page for page in read_pages() if not names or page.path.stem in names]
    with TemporaryDirectory() as directory, PaimonSpark(SETTINGS) as connector:
        warehouse = Path(directory)
        connector.attach("lake", warehouse)
        for page in pages:
            new = [record(each, connector, warehouse=warehouse) for each in page.scenarios]
            Page(page.path, page.head, tuple(new)).write()


if __name__ == "__main__":
    main()
