"""How do TPC-H's tables get into Lakebed, by Spark SQL?

*Append* tables take the rows as they come. *Keyed* tables take them in several commits, none of
which is compacted, so that every file overlaps others and a read that does not merge is wrong:

1. all rows, a third of them with other values in every column that is not of the key; beside them,
   for a tenth of the rows, one whose key is no row's;
2. the right values of half of that third;
3. the right values of the other half;
4. the deletion of what is no row's.

What a table then holds is what the Parquet files hold.
"""

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType, DateType, StringType, StructType

from tools.tpch.data import TABLES

KEYS: Mapping[str, tuple[str, ...]] = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}
_SMALL = ("region", "nation", "supplier")
_CHANGED = 3
_ADDED = 10


def load_append(spark: SparkSession, database: str, *, source: str) -> None:
    """Makes and fills append tables.

    Args:
        spark: A session.
        database: Where to, such as `lake.append`; made here.
        source: The database that has the rows.
    """
    spark.sql(f"CREATE DATABASE {database}")
    for table in TABLES:
        _create(spark, f"{database}.{table}", rows=spark.table(f"{source}.{table}").schema)
        spark.sql(f"INSERT INTO {database}.{table} SELECT * FROM {source}.{table}")


def load_keyed(spark: SparkSession, database: str, *, source: str, buckets: int = 2) -> None:
    """Makes and fills tables with primary keys, of overlapping files that nothing compacts.

    Args:
        spark: A session.
        database: Where to, such as `lake.keyed`; made here.
        source: The database that has the rows.
        buckets: How many the larger tables have.
    """
    spark.sql(f"CREATE DATABASE {database}")
    for table, keys in KEYS.items():
        rows = spark.table(f"{source}.{table}").schema
        properties = {
            "primary-key": ",".join(keys),
            "bucket": "1" if table in _SMALL else str(buckets),
            "write-only": "true",
        }
        _create(spark, f"{database}.{table}", rows=rows, properties=properties)
        for statement in _filling(f"{database}.{table}", f"{source}.{table}", keys, rows=rows):
            spark.sql(statement)


def compact(spark: SparkSession, database: str) -> None:
    """Compacts every table of a database fully."""
    catalog, _, name = database.partition(".")
    for table in TABLES:
        spark.sql(
            f"CALL {catalog}.sys.compact(table => '{name}.{table}', compact_strategy => 'full')"
        )


def _create(
    spark: SparkSession,
    table: str,
    *,
    rows: StructType,
    properties: Mapping[str, str] | None = None,
) -> None:
    columns = ", ".join(f"{each.name} {each.dataType.simpleString()}" for each in rows)
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in (properties or {}).items())
    ending = f" TBLPROPERTIES ({pairs})" if pairs else ""
    spark.sql(f"CREATE TABLE {table} ({columns}) USING paimon{ending}")


def _filling(table: str, source: str, keys: Sequence[str], *, rows: StructType) -> Sequence[str]:
    """The four commits."""
    place = f"pmod(xxhash64({', '.join(keys)}), {_CHANGED * _ADDED})"
    is_changed = f"{place} % {_CHANGED} = 0"
    columns = ", ".join(
        each.name
        if each.name in keys
        else f"IF({is_changed}, {_other(each.name, each.dataType)}, {each.name}) AS {each.name}"
        for each in rows
    )
    added = ", ".join(
        f"-1 - {each.name} AS {each.name}" if each.name == keys[0] else each.name for each in rows
    )
    halves = [f"{is_changed} AND {place} % 2 = {half}" for half in (0, 1)]
    first = f"SELECT {columns} FROM {source}"
    no_rows = f"SELECT {added} FROM {source} WHERE {place} < {_CHANGED}"
    return [
        f"INSERT INTO {table} {first} UNION ALL {no_rows}",
        *(f"INSERT INTO {table} SELECT * FROM {source} WHERE {half}" for half in halves),
        f"DELETE FROM {table} WHERE {keys[0]} < 0",
    ]


def _other(column: str, kind: DataType) -> str:
    """A value of the same type that the column does not have."""
    if isinstance(kind, StringType):
        return f"concat('not ', {column})"
    if isinstance(kind, DateType):
        return f"date_add({column}, 400)"
    return f"CAST({column} + 1 AS {kind.simpleString()})"
