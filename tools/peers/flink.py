"""Flink 2.0.0 with Paimon's connector 2.0.0: SQL over the tables of one warehouse.

One process with a mini cluster inside serves many statements; what it needs is fetched once
(`tools/flink`). It listens on this machine alone. Values are encoded as the referee's are.
"""

from pathlib import Path

from tools.peers.java import FLINK
from tools.peers.process import JsonProcess
from tools.peers.referee import Json

CATALOG = "lake"


class Flink:
    """A SQL session in batch mode, in UTC.

    What Flink refuses is a `tools.peers.process.PeerError` with its stack trace.
    """

    def __init__(self, warehouse: Path) -> None:
        """Starts the JVM, after fetching and compiling what it needs."""
        self._process = JsonProcess("Flink", FLINK.command(), environment={})
        self.ask(
            f"CREATE CATALOG {CATALOG} WITH ('type' = 'paimon', 'warehouse' = '{warehouse}', "
            "'cache-enabled' = 'false')"
        )

    def close(self) -> None:
        """Ends the JVM."""
        self._process.close()

    def ask(self, sql: str) -> tuple[list[str], list[list[Json]]]:
        """Carries out a statement.

        Returns:
            Names of the columns of its result, and rows, each with its row kind first.
        """
        answer = self._process.ask("sql", sql=sql)
        return answer["columns"], answer["rows"]

    def read(self, table: Path) -> list[list[Json]]:
        """The rows of a table of the warehouse, by its directory."""
        name = f"`{CATALOG}`.`{table.parent.name.removesuffix('.db')}`.`{table.name}`"
        return [row[1:] for row in self.ask(f"SELECT * FROM {name}")[1]]
