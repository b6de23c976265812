"""The sessions of the suites of Spark, here for the table of statements."""

from spark import conftest as sessions

spark_directory = sessions.spark_directory
bare = sessions.bare
