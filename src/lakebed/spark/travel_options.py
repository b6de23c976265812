"""Which point in a table's life do a reader's options `versionAsOf` and `timestampAsOf` mean?

They are Spark's own, of every table that can be read as it was, and mean what `VERSION AS OF` and
`TIMESTAMP AS OF` mean in SQL. Like all options of readers they are the same in any case.
"""

from collections.abc import Mapping

from lakebed.spark.conditions import analysis_error
from lakebed.spark.lake import NOW, Lake, Travel

_VERSION, _TIMESTAMP = "versionasof", "timestampasof"


def travel_of(lake: Lake, options: Mapping[str, str]) -> tuple[Travel, dict[str, str]]:
    """The point that options mean, and the other options.

    Raises:
        AnalysisException: INVALID_TIME_TRAVEL_SPEC, where both are given;
            INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.OPTION for a text that is no time.
    """
    given = {key.lower(): text for key, text in options.items()}
    others = {
        key: text for key, text in options.items() if key.lower() not in {_VERSION, _TIMESTAMP}
    }
    version, timestamp = given.get(_VERSION), given.get(_TIMESTAMP)
    if version is not None and timestamp is not None:
        raise analysis_error(
            "INVALID_TIME_TRAVEL_SPEC",
            "Cannot specify both version and timestamp when time travelling the table; leave out"
            " versionAsOf or timestampAsOf.",
        )
    if version is not None:
        return Travel(version=version), others
    if timestamp is not None:
        return Travel(timestamp_ms=_millis(lake, timestamp)), others
    return NOW, others


def _millis(lake: Lake, text: str) -> int:
    """A time as Spark takes it in the session's zone."""
    query = "SELECT unix_millis(try_cast(:time AS TIMESTAMP))"
    found = lake.sql(query, {"time": text}).collect()[0][0]
    if found is None:
        raise analysis_error(
            "INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.OPTION",
            f"The time travel timestamp expression {text!r} is invalid. Timestamp string in the"
            " options must be able to cast to TIMESTAMP type.",
            {"expr": repr(text)},
        )
    return int(found)
