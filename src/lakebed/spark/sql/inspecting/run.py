"""How are they run?"""

from typing import Any

from lakebed.spark.sql.queries import Run
from lakebed.spark.sql.statements import Statement

RUNS: dict[type[Statement], Run[Any]] = {}
