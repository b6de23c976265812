"""Delta Lake and Iceberg on PySpark 3.5: peers that time a statement on a table of their own.

They run in the environment of Paimon's connector, each with JARs and a JVM of its own. Their tables
are set up for small changes: rows that change are marked, and no file is written anew for them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.peers.java import DELTA_SPARK, ICEBERG_SPARK, Jars
from tools.peers.paimon_spark import PaimonSpark

CATALOG = "lake"
_WAREHOUSE = "{warehouse}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLake:
    """A table format with its connector for Spark.

    Attributes:
        name: As printed.
        connector: Its JARs.
        settings: Of the session; `{warehouse}` stands for a directory.
        database: Where tables are made.
        using: What a table is made with, behind its name.
    """

    name: str
    connector: Jars
    settings: Mapping[str, str]
    database: str
    using: str

    def start(self, settings: Mapping[str, str], *, warehouse: Path) -> PaimonSpark:
        """A session with the database, in which there is nothing yet.

        Args:
            settings: Of the session, ``spark.master`` among them.
            warehouse: Where its tables are.
        """
        own = {
            key: value.replace(_WAREHOUSE, warehouse.as_uri())
            for key, value in self.settings.items()
        }
        spark = PaimonSpark({**settings, **own}, connector=self.connector)
        spark.sql(f"CREATE DATABASE {self.database}")
        return spark


DELTA = OtherLake(
    name="delta 3.3.2, deletion vectors",
    connector=DELTA_SPARK,
    settings={
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": _WAREHOUSE,
    },
    database="spark_catalog.db",
    using="USING delta TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
)
ICEBERG = OtherLake(
    name="iceberg 1.10.0, merge-on-read",
    connector=ICEBERG_SPARK,
    settings={
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG}.warehouse": _WAREHOUSE,
    },
    database=f"{CATALOG}.db",
    using=(
        "USING iceberg TBLPROPERTIES ('format-version' = '2', 'write.merge.mode' = 'merge-on-read')"
    ),
)
OTHER_LAKES = (ICEBERG, DELTA)
