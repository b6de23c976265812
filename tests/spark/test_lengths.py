"""CHAR and VARCHAR columns hold texts of their length, as Spark's own tables do."""

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_texts_are_cut_padded_or_refused_as_their_column_says(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE lake.db.lengths (v VARCHAR(3), c CHAR(3))")
    spark.sql("INSERT INTO lake.db.lengths SELECT 'abc  ', 'a' FROM range(1)")
    spark.sql("INSERT INTO lake.db.lengths VALUES ('a ', 'abc '), (NULL, NULL)")
    kept = sorted(map(tuple, spark.table("lake.db.lengths").collect()), key=str)
    assert kept == [("a ", "abc"), ("abc", "a  "), (None, None)]
    for values in ("'abcd', 'a'", "'a', 'abcd'"):
        with pytest.raises(PySparkException, match="type length limitation: 3"):
            spark.sql(f"INSERT INTO lake.db.lengths SELECT {values} FROM range(1)")
    assert spark.table("lake.db.lengths").count() == 3
