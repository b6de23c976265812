"""Names are taken apart as Spark does."""

import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.spark.names import quoted, split_name


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("t", ("t",)),
        ("lake.db.t", ("lake", "db", "t")),
        ("lake.db.t$files", ("lake", "db", "t$files")),
        ("`lake` . `d.b`.`t``x`", ("lake", "d.b", "t`x")),
    ],
)
def test_names_have_parts(text: str, parts: tuple[str, ...]) -> None:
    assert split_name(text) == parts
    assert split_name(quoted(parts)) == parts


@pytest.mark.parametrize("text", ["", "a.", ".a", "a b", "`a", "a..b"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="is no name"):
        split_name(text)
