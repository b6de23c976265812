import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.options.acceptance import check_creatable
from lakebed.options.format_options import FormatOptions
from lakebed.options.table_options import TableOptions

KEY = "file.format.per.level"


def formats(options: dict[str, str]) -> dict[int, str]:
    return dict(FormatOptions.parse(options).format_per_level)


def test_pairs_and_keys_a_level_say_the_same() -> None:
    assert formats({KEY: "0:AVRO, 5 : orc"}) == {0: "avro", 5: "orc"}
    assert formats({f"{KEY}.0": "AVRO", f"{KEY}.5": "orc"}) == {0: "avro", 5: "orc"}
    assert formats({f"{KEY}.0": "avro", KEY: "5:orc"}) == {0: "avro", 5: "orc"}
    assert formats({"file.format": "orc"}) == {}


@pytest.mark.parametrize("options", [{KEY: "top:avro"}, {f"{KEY}.-1": "avro"}, {KEY: "avro"}])
def test_what_is_no_level_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"'file.format.per.level'.*(level|pairs)"):
        FormatOptions.parse(options)


def test_levels_without_their_own_have_the_default() -> None:
    options = {"file.format": "ORC", "file.compression.per.level.0": "LZ4"}
    given = TableOptions.parse(options, has_primary_key=True)
    assert [given.format_of_level(level) for level in (None, 0)] == ["orc", "orc"]
    assert [given.compression_of_level(level) for level in (None, 0, 1)] == ["zstd", "lz4", "zstd"]


@pytest.mark.parametrize(
    "options",
    [
        {"file.format": "avro", "file.compression": "null"},
        {"file.format": "ORC", "file.compression": "zlib"},
        {"file.compression": "lz4"},
        {KEY: "0:avro", "file.compression.per.level.0": "snappy"},
        {"parquet.enable.dictionary": "true", "parquet.block.size": "1000"},
        {"orc.timestamp-ltz.legacy.type": "false"},
    ],
)
def test_a_table_is_made_with_what_writers_act_on(options: dict[str, str]) -> None:
    check_creatable(options)
