"""Which properties does a table have for SHOW, and what of them may be shown?"""

import re

from lakebed.errors import InvalidArgumentError
from lakebed.spark.lake import Lake
from lakebed.table.table import Table

_REDACTED = "*********(redacted)"
# Settings of Spark, and what Spark takes where they are not set.
_SECRET_KEYS = {
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key",
    "spark.sql.redaction.options.regex": "(?i)url",
}


def own_properties(lake: Lake, table: Table) -> dict[str, str]:
    """The options of a table and its `primary-key`, by key in order, secrets made illegible."""
    properties = dict(table.options)
    if table.primary_keys:
        properties["primary-key"] = ",".join(table.primary_keys)
    return redacted(lake, properties)


def redacted(lake: Lake, properties: dict[str, str]) -> dict[str, str]:
    """The properties by key in order; those that Spark takes for secrets cannot be read.

    Raises:
        InvalidArgumentError: A setting says what is a secret in a way that Python does not read.
    """
    secrets = [_pattern(key, lake.setting(key) or usual) for key, usual in _SECRET_KEYS.items()]
    return {
        key: _REDACTED if any(each.search(key) for each in secrets) else value
        for key, value in sorted(properties.items())
    }


def _pattern(key: str, text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise InvalidArgumentError(
            f"{key}={text!r} is no pattern that Python knows: {error}; put flags in front"
        ) from error
