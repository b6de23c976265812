"""Which temporary functions did Lakebed make in a session?

Spark runs each stream in a copy of the session that started it. What is written down in the
settings is copied with the functions, so each copy knows its own.
"""

from pyspark.sql import SparkSession

_SETTING = "spark.lakebed.functions"
_BETWEEN = ","


def made_functions(spark: SparkSession) -> list[str]:
    """Their names."""
    names: str = spark.conf.get(_SETTING, None) or ""
    return [name for name in names.split(_BETWEEN) if name]


def note_function(spark: SparkSession, name: str) -> None:
    """Writes down that one was made."""
    spark.conf.set(_SETTING, _BETWEEN.join(dict.fromkeys([*made_functions(spark), name])))


def drop_functions(spark: SparkSession) -> None:
    """Drops all of them."""
    for name in made_functions(spark):
        spark.sql(f"DROP TEMPORARY FUNCTION IF EXISTS {name}")
    spark.conf.unset(_SETTING)
