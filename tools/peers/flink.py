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
    """A SQL session in UTC.

    What Flink refuses is a `tools.peers.process.PeerError` with its stack trace.
    """

    def __init__(self, warehouse: Path) -> None:
        """Starts the JVM, after fetching and compiling what it needs."""
        self._process = JsonProcess("Flink", FLINK.command(), environment={})
        catalog = (
            f"CREATE CATALOG {CATALOG} WITH ('type' = 'paimon', 'warehouse' = '{warehouse}', "
            "'cache-enabled' = 'false')"
        )
        self.ask(catalog)
        self.follow(catalog, count=1)

    def close(self) -> None:
        """Ends the JVM."""
        self._process.close()

    def ask(self, sql: str) -> tuple[list[str], list[list[Json]]]:
        """Carries out a statement in batch mode.

        Returns:
            Names of the columns of its result, and rows, each with its row kind first.
        """
        answer = self._process.ask("sql", sql=sql)
        return answer["columns"], answer["rows"]

    def follow(self, sql: str, *, count: int) -> list[list[Json]]:
        """Reads a query as a stream.

        Args:
            sql: The query.
            count: After how many rows to stop. It fails if they do not come within a minute.

        Returns:
            Rows in the order in which they came, each with its row kind first.
        """
        rows: list[list[Json]] = self._process.ask("follow", sql=sql, count=count)["rows"]
        return rows

    def read(self, table: Path) -> list[list[Json]]:
        """The rows of a table of the warehouse, by its directory."""
        return [row[1:] for row in self.ask(f"SELECT * FROM {name_of(table)}")[1]]


def name_of(table: Path) -> str:
    """How a table of the warehouse is called in SQL; its name may end in ``$`` and more."""
    return f"`{CATALOG}`.`{table.parent.name.removesuffix('.db')}`.`{table.name}`"
