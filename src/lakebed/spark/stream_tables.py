"""How does a stream's table get to the process in which Spark asks the source about it?"""

import base64
import pickle
from collections.abc import Mapping
from importlib import import_module
from typing import cast

import pyspark
from pyspark.sql.datasource import DataSourceStreamReader
from pyspark.sql.types import StructType

from lakebed.errors import UnsupportedError
from lakebed.options.catalogue import TABLE_OPTIONS
from lakebed.options.stream_options import BY_START
from lakebed.spark.unlimited_stream_reader import UnlimitedStreamReader
from lakebed.table.table import Table

# Spark hides the values of options with `token` in their names where it shows a plan; a table holds
# the keys of its store.
FOLLOWED = "lakebed.table.token"


def stream_options(table: Table, options: Mapping[str, str]) -> dict[str, str]:
    """The options of a source that reads this very table as a stream."""
    token = base64.b64encode(pickle.dumps((table, dict(options)))).decode()
    return {FOLLOWED: token}


def followed_table(options: Mapping[str, str]) -> tuple[Table, dict[str, str]]:
    """The table and the options that `stream_options` was given."""
    return cast("tuple[Table, dict[str, str]]", pickle.loads(base64.b64decode(options[FOLLOWED])))


def is_of_stream(key: str) -> bool:
    """Whether an option is one that only streams have."""
    option = TABLE_OPTIONS.find(key)
    return option is not None and option.for_stream


def _has_limits(version: str) -> bool:
    major, minor = version.split(".")[:2]
    return (int(major), int(minor)) >= (4, 2)


def check_version(table: Table, options: Mapping[str, str], version: str) -> None:
    """Refuses what ends micro-batches sooner where Spark does not let a source do so.

    Args:
        table: What is read.
        options: The stream's.
        version: Spark's.

    Raises:
        UnsupportedError: It is older than 4.2.
    """
    held = {each.lower() for each in (*table.options, *options)}
    given = [key for key in BY_START if key.lower() in held]
    if given and not _has_limits(version):
        raise UnsupportedError(
            f"option {given[0]!r} needs PySpark 4.2 or later: in {version} a Python source cannot "
            "limit a micro-batch, nor wait with it. Leave it out"
        )


def stream_reader(
    table: Table, schema: StructType, options: Mapping[str, str]
) -> DataSourceStreamReader:
    """What reads a stream in this version of Spark."""
    check_version(table, options, pyspark.__version__)
    if not _has_limits(pyspark.__version__):
        return UnlimitedStreamReader(table, schema, options)
    # What it imports is there from 4.2 on.
    module = import_module("lakebed.spark.limited_stream_reader")
    reader: DataSourceStreamReader = module.LimitedStreamReader(table, schema, options)
    return reader
