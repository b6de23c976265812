from collections import Counter
from pathlib import Path

import pytest

from lakebed.errors import InvalidArgumentError
from lakebed.options.acting_keys import ACTING
from lakebed.options.altering_keys import ALTERING
from lakebed.options.bucket_keys import BUCKETS
from lakebed.options.catalog_keys import CATALOG
from lakebed.options.catalogue import CATALOG_OPTIONS, TABLE_OPTIONS, Catalogue
from lakebed.options.compaction_keys import COMPACTION
from lakebed.options.data_keys import DATA
from lakebed.options.engine_keys import ENGINES
from lakebed.options.expiry_keys import EXPIRY
from lakebed.options.file_keys import FILE_OPTIONS
from lakebed.options.life_keys import LIFE
from lakebed.options.merging_keys import MERGING
from lakebed.options.option import Standing
from lakebed.options.partition_keys import PARTITIONS
from lakebed.options.read_keys import READS
from lakebed.options.stream_keys import STREAMS
from lakebed.options.tag_keys import TAGS

HERE = Path(__file__).parent
THEMES = (
    *(*ACTING, *ALTERING, *BUCKETS, *MERGING, *COMPACTION, *EXPIRY, *PARTITIONS, *TAGS),
    *(*FILE_OPTIONS, *STREAMS),
)
ALL = (*THEMES, *DATA, *READS, *LIFE, *ENGINES)


def listed(name: str) -> list[tuple[str, str | None]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split(" =", maxsplit=1) for line in lines]
    return [(key, default.strip() or None) for key, default in pairs]


@pytest.mark.parametrize(
    ("catalogue", "name"), [(TABLE_OPTIONS, "keys.txt"), (CATALOG_OPTIONS, "catalog_keys.txt")]
)
def test_every_option_of_the_format_is_known_with_its_default(
    catalogue: Catalogue, name: str
) -> None:
    for key, default in listed(name):
        option = catalogue.find(key.replace(".*", ".refresh-mode"))
        assert option is not None, key
        if default is not None:
            assert option.default is not None, key
            assert option.parse(option.default) == option.parse(default), key
        else:
            assert option.default is None, key


def test_no_option_is_written_down_twice() -> None:
    for options in (ALL, CATALOG):
        keys = Counter(key for option in options for key in (option.key, *option.old_keys))
        assert [key for key, count in keys.items() if count > 1] == []


def test_every_default_is_a_value_that_lakebed_acts_on() -> None:
    for option in (*ALL, *CATALOG):
        if option.default is not None:
            assert option.accepts(option.default), option.key


def test_what_limits_its_values_says_what_the_others_change() -> None:
    for option in ACTING:
        limits = option.accepted is not None
        assert limits == bool(option.changes), option.key


@pytest.mark.parametrize(
    ("key", "current"),
    [
        ("write.compaction-skip", "write-only"),
        ("log.scan", "scan.mode"),
        ("log.scan.timestamp-millis", "scan.timestamp-millis"),
        ("first-row.ignore-delete", "ignore-delete"),
        ("deduplicate.ignore-delete", "ignore-delete"),
        ("partial-update.ignore-delete", "ignore-delete"),
        ("changelog-producer.lookup-wait", "lookup-wait"),
        ("sink.clustering.by-columns", "clustering.columns"),
        ("sink.clustering.strategy", "clustering.strategy"),
        ("snapshot.expire.clean-empty-directories", "snapshot.clean-empty-directories"),
        ("delete-file.thread-num", "file-operation.thread-num"),
        ("orc.write.batch-size", "write.batch-size"),
        ("parquet.variant.shreddingSchema", "variant.shreddingSchema"),
        ("blob.stored-descriptor-fields", "blob-descriptor-field"),
    ],
)
def test_an_old_name_finds_the_option_of_today(key: str, current: str) -> None:
    assert TABLE_OPTIONS[key].key == current


@pytest.mark.parametrize(
    ("key", "family"),
    [
        ("fields.a.b.stats-mode", "fields.<f>.stats-mode"),
        ("fields.g1,g2.sequence-group", "fields.<f>.sequence-group"),
        ("file-index.bloom-filter.columns", "file-index.<type>.columns"),
        ("file-index.bloom-filter.id.items", "file-index.<type>.<col>.<option>"),
        ("file-index.bitmap.a.columns", "file-index.<type>.<col>.<option>"),
        ("file-index.in-manifest-threshold", "file-index.in-manifest-threshold"),
        ("parquet.writer.version", "parquet.*"),
        ("file.format.per.level.0", "file.format.per.level.<level>"),
        ("commit.callback.com.acme.Tell.param", "commit.callback.#.param"),
        ("blob-descriptor.fs.oss.endpoint", "blob-descriptor.*"),
        ("blob-descriptor.source-table", "blob-descriptor.source-table"),
    ],
)
def test_a_key_finds_its_family_unless_an_option_has_its_name(key: str, family: str) -> None:
    assert TABLE_OPTIONS[key].key == family


def test_a_family_does_not_take_in_its_bare_prefix() -> None:
    assert TABLE_OPTIONS.find("parquet.") is None
    assert TABLE_OPTIONS.find("fields.stats-mode") is None
    assert TABLE_OPTIONS.find("xparquet.a") is None


def test_an_unknown_key_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'buckets'.*Is it 'bucket'"):
        TABLE_OPTIONS["buckets"]
    assert TABLE_OPTIONS.unknown("zzzz") == "'zzzz' is no option of a table."


def test_the_current_name_wins_over_an_old_one() -> None:
    given = {"write-only": "true", "write.compaction-skip": "false"}

    assert TABLE_OPTIONS.with_current_keys(given) == {"write-only": "true"}
    assert TABLE_OPTIONS.with_current_keys(dict(reversed(given.items()))) == {"write-only": "true"}


def test_what_is_acted_on_stands_with_its_theme() -> None:
    acting = {option.key for option in TABLE_OPTIONS if option.standing is Standing.ACTS}

    assert acting <= {option.key for option in THEMES}
