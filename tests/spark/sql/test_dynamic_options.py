"""Which tables a setting is for, and which of several settings holds."""

import pytest

from lakebed.spark.dynamic_options import DynamicOption
from lakebed.spark.names import TableName
from lakebed.spark.sql.settings import with_quoted_key

NAME = TableName("lake", "db", "t")


def chosen(*settings: str, name: TableName | None = NAME) -> str | None:
    """The setting of `settings` that holds for a table."""
    options = [DynamicOption.of(each, "1", catalogs={"lake"}) for each in settings]
    fitting = [each for each in options if each is not None and each.is_for(name)]
    return max(fitting, key=lambda each: each.rank).setting if fitting else None


@pytest.mark.parametrize(
    ("setting", "key"),
    [
        ("scan.snapshot-id", "scan.snapshot-id"),
        ("*.*.t.scan.snapshot-id", "scan.snapshot-id"),
        ("lake.db.t.no.such.key", "no.such.key"),
        ("fields.a.b.aggregate-function", "fields.a.b.aggregate-function"),
        ("no.such.key.anywhere", "no.such.key.anywhere"),
        ("lake.db.u.scan.snapshot-id", None),
        ("other.db.t.scan.snapshot-id", None),
        ("*.DB.t.scan.snapshot-id", None),
    ],
)
def test_settings_are_for_the_tables_that_they_name(setting: str, key: str | None) -> None:
    option = DynamicOption.of(f"spark.paimon.{setting}", "1", catalogs={"lake"})
    assert (option.key if option is not None and option.is_for(NAME) else None) == key


def test_the_most_specific_setting_holds() -> None:
    key = "scan.snapshot-id"
    patterns = [
        "",
        "*.*.*.",
        "lake.*.*.",
        "*.db.*.",
        "*.*.t.",
        "lake.db.*.",
        "*.db.t.",
        "lake.db.t.",
    ]
    settings = [f"spark.paimon.{each}{key}" for each in patterns]
    for count in range(1, len(settings) + 1):
        assert chosen(*reversed(settings[:count])) == settings[count - 1]
    assert chosen(*settings, name=None) == settings[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SET spark.paimon.a-b=1", "SET `spark.paimon.a-b`=`1`"),
        (" set spark.paimon.*.*.t.a = x y ; ", "set `spark.paimon.*.*.t.a`=`x y`"),
        ("SET spark.paimon.a-b", "SET `spark.paimon.a-b`"),
        ("RESET spark.paimon.a-b;", "RESET `spark.paimon.a-b`"),
        ("SET spark.paimon.a.b=1-2", None),
        ("SET `spark.paimon.a-b`=1", None),
        ("SET spark.sql.a-b=1", None),
        ("SELECT 'SET spark.paimon.a-b=1'", None),
    ],
)
def test_keys_that_spark_wants_in_backquotes_get_them(text: str, expected: str | None) -> None:
    assert with_quoted_key(text) == (text if expected is None else expected)
