"""Which procedures are there?"""

from collections.abc import Mapping

from lakebed.spark.sql.procedures.compaction import COMPACT, COMPACT_DATABASE
from lakebed.spark.sql.procedures.procedure import Procedure

PROCEDURES: Mapping[str, Procedure] = {each.name: each for each in (COMPACT, COMPACT_DATABASE)}
"""The procedures by name."""
