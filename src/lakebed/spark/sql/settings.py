"""What does Spark's parser make of `SET spark.paimon.scan.snapshot-id=1`?

Nothing: a key with `-` or `*` needs backquotes there. Paimon's documents write such keys without,
and so may users of Lakebed.
"""

import re

_SETTING = re.compile(
    r"\s*(?P<word>SET|RESET)\s+(?P<key>spark\.paimon\.[^\s=;`]+?)\s*"
    r"(?:=\s*(?P<value>[^;]*?)\s*)?;?\s*",
    re.IGNORECASE,
)
_BARE = re.compile(r"[\w.:]+", re.ASCII)


def with_quoted_key(text: str) -> str:
    """The statement with backquotes round the key of a setting, and as it is if it is another."""
    found = _SETTING.fullmatch(text)
    if found is None or _BARE.fullmatch(found["key"]):
        return text
    quoted = f"{found['word']} `{found['key']}`"
    if found["value"] is None:
        return quoted
    return f"{quoted}=`{found['value'].replace('`', '``')}`"
