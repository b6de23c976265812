"""Tables of all kinds that merges change."""

from pyspark.sql import SparkSession

KINDS = {
    "keyed": "'primary-key' = 'id', 'bucket' = '2'",
    "keyed, buckets on demand": "'primary-key' = 'id', 'bucket' = '-1'",
    "keyed with vectors": "'primary-key' = 'id', 'bucket' = '1',"
    " 'deletion-vectors.enabled' = 'true'",
    "append": "'bucket' = '-1'",
    "marked": "'bucket' = '-1', 'deletion-vectors.enabled' = 'true'",
    "bucketed": "'bucket' = '2', 'bucket-key' = 'id'",
}
Rows = list[tuple[object, ...]]


def make_target(spark: SparkSession, test: str, kind: str) -> str:
    """A table with four rows, written in two commits; its name.

    Args:
        spark: The session.
        test: The name of the test that it is for.
        kind: One of `KINDS`.
    """
    name = f"lake.db.m{abs(hash((test, kind)))}"
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(
        f"CREATE TABLE {name} (id INT NOT NULL, total INT, note STRING) USING paimon "
        f"TBLPROPERTIES ({KINDS[kind]})"
    )
    spark.sql(f"INSERT INTO {name} VALUES (1, 10, 'a'), (2, 20, 'b')")
    spark.sql(f"INSERT INTO {name} VALUES (3, 30, 'c'), (4, 40, 'd')")
    return name


def rows(spark: SparkSession, name: str) -> Rows:
    """All rows of a table, sorted."""
    return sorted(tuple(row) for row in spark.sql(f"SELECT * FROM {name}").collect())
