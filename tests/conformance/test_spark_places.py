"""Where rows stand, Lakebed says as Paimon's own connector for Spark does.

Version 0.9.0 knows the file and the place in it; of partition and bucket it knows nothing yet.
"""

from pathlib import Path

import pytest

import lakebed
from lakebed.errors import UnsupportedError
from lakebed.table.reading.located_rows import FILE_PATH, ROW_INDEX, located
from tools.peers.paimon_spark import PaimonSpark
from tools.peers.process import PeerError

pytestmark = pytest.mark.peers

SETTINGS = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
}
QUERY = f"SELECT id, {FILE_PATH}, {ROW_INDEX} FROM lake.db."


def found_by_lakebed(warehouse: Path, table: str) -> list[list[object]]:
    scan = lakebed.load_catalog(warehouse=str(warehouse)).load_table(f"db.{table}").scan(["id"])
    rows = located(scan, [FILE_PATH, ROW_INDEX]).to_arrow()
    return sorted([list(row.values()) for row in rows.to_pylist()])


def test_files_and_places_are_those_of_the_connector(tmp_path: Path) -> None:
    with PaimonSpark(SETTINGS) as connector:
        connector.attach("lake", tmp_path)
        connector.sql("CREATE DATABASE lake.db")
        connector.sql("CREATE TABLE lake.db.a (id INT, dt STRING) PARTITIONED BY (dt)")
        connector.sql("INSERT INTO lake.db.a VALUES (1, 'x'), (2, 'y'), (3, 'x'), (4, NULL)")
        connector.sql("""CREATE TABLE lake.db.d (id INT, v INT) TBLPROPERTIES
            ('deletion-vectors.enabled' = 'true', 'bucket' = '1', 'bucket-key' = 'id')""")
        connector.sql("INSERT INTO lake.db.d VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
        connector.sql("DELETE FROM lake.db.d WHERE id = 2")
        connector.sql("""CREATE TABLE lake.db.k (id INT, v INT) TBLPROPERTIES
            ('primary-key' = 'id', 'bucket' = '1', 'write-only' = 'true')""")
        connector.sql("INSERT INTO lake.db.k VALUES (2, 1), (1, 2)")
        for table in "adk":
            theirs = sorted(connector.sql(QUERY + table).rows)
            assert theirs
            assert found_by_lakebed(tmp_path, table) == theirs
        connector.sql("INSERT INTO lake.db.k VALUES (2, 3)")
        with pytest.raises(PeerError):
            connector.sql(f"{QUERY}k")
        with pytest.raises(UnsupportedError):
            found_by_lakebed(tmp_path, "k")
