"""Paimon's own connector for Spark, 0.9.0, on PySpark 3.5: a peer that times any SQL.

It has an environment and a JVM of its own, so it may live beside the Spark of this process.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.peers.environments import peer_python
from tools.peers.java import PAIMON_SPARK, Jars
from tools.peers.process import DRIVERS, JsonProcess

CATALOG = "org.apache.paimon.spark.SparkCatalog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A statement that was carried out.

    Attributes:
        seconds: How long it took, to its last row.
        rows: Its result; numbers, texts, truth values and NULLs alone.
    """

    seconds: float
    rows: list[list[Any]]


class PaimonSpark(JsonProcess):
    """A Spark session; ``write`` and ``read`` are asked for as of other peers."""

    def __init__(self, settings: Mapping[str, str], *, connector: Jars = PAIMON_SPARK) -> None:
        """Starts it, after making its environment and fetching the connector.

        Args:
            settings: Of the session, ``spark.master`` among them.
            connector: What the session is started with.
        """
        python = str(peer_python("paimon-spark"))
        jars = ",".join(map(str, connector.fetch()))
        super().__init__(
            "paimon-spark",
            [python, str(DRIVERS / "drive_paimon_spark.py")],
            environment={
                "PYTHONPATH": "",
                "PYSPARK_PYTHON": python,
                "PYSPARK_SUBMIT_ARGS": f"--jars {jars} pyspark-shell",
                "SPARK_LOCAL_IP": "127.0.0.1",
            },
        )
        self.ask("start", settings=dict(settings))

    def attach(self, name: str, warehouse: Path) -> None:
        """Makes a warehouse known as a catalog, which sees what others do to its tables."""
        for key, value in (("", CATALOG), (".warehouse", warehouse), (".cache-enabled", "false")):
            self.sql(f"SET `spark.sql.catalog.{name}{key}` = `{value}`")

    def sql(self, statement: str) -> Done:
        """Carries out a statement.

        Raises:
            PeerError: Spark refused it.
        """
        return Done(**self.ask("sql", statement=statement))

    def tell(self, text: str, *, is_python: bool = False) -> dict[str, Any]:
        """What a statement or a Python program answers; see `tools/peers/drivers/answers.py`."""
        return self.ask("tell", text=text, is_python=is_python)
