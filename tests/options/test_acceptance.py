import json
from pathlib import Path
from typing import Literal

import pytest

from lakebed.errors import InvalidArgumentError, InvalidTableError, UnsupportedError
from lakebed.options.acceptance import (
    OptionReport,
    check_catalog_options,
    check_creatable,
    check_openable,
    check_scan_options,
    normalize,
    report,
    table_defaults,
)
from lakebed.options.option import Standing

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "warehouse" / "db.db"


def golden_options(table: str) -> list[dict[str, str]]:
    schemas = [json.loads(path.read_text()) for path in (GOLDEN / table).rglob("schema-*")]
    assert schemas
    return [schema["options"] for schema in schemas]


def golden_tables() -> list[str]:
    return sorted(path.name for path in GOLDEN.iterdir())


def test_values_become_text_under_the_names_of_today() -> None:
    given = {"write.compaction-skip": True, "bucket": 4, "compaction.small-file-ratio": 0.5}

    assert normalize(given) == {
        "write-only": "true",
        "bucket": "4",
        "compaction.small-file-ratio": "0.5",
    }


def test_an_option_under_two_names_is_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match=r"write\.compaction-skip.*write-only"):
        normalize({"write.compaction-skip": "true", "write-only": "true"})


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bucket": "4", "bucket-key": "a", "bucket-function.type": "hive"},
        {"primary-key": "a,b", "partition": "p", "merge-engine": "deduplicate"},
        {"file.compression": "GZIP", "file.format": "Parquet", "manifest.compression": "null"},
        {"deletion-vectors.enabled": "false", "changelog-producer": "none"},
        {"write-only": "true"},
        {"write-only": "false"},
        {"lookup.cache-rows": "5", "sort-engine": "min-heap"},
        {"scan.snapshot-id": "3"},
        {"num-sorted-run.compaction-trigger": "5"},
    ],
)
def test_a_table_is_made_with_what_lakebed_acts_on(options: dict[str, str]) -> None:
    check_creatable(options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"compaction.skip-expired-partitions": "true"}, "or set write-only=true"),
        (
            {"clustering.incremental.optimize-write": "true"},
            "set it to false or set write-only=true",
        ),
        ({"file.format": "csv"}, "set it to parquet or avro or orc"),
        ({"file.compression": "brotli"}, "zstd or snappy or gzip or lz4"),
        ({"metastore.tag-to-partition.preview": "batch"}, "set it to none"),
        ({"sequence.snapshot-ordering": "true"}, "Leave it out"),
        ({"snapshot.clean-empty-directories": "true"}, "write-only=true"),
        ({"parquet.writer.version": "v2"}, "not act on it"),
        ({"manifest.compression": "none"}, "null"),
        ({"blob.stored-descriptor-fields": "a"}, "'blob-descriptor-field'"),
    ],
)
def test_what_lakebed_does_not_act_on_is_not_stored(options: dict[str, str], words: str) -> None:
    with pytest.raises(UnsupportedError, match="not supported yet") as caught:
        check_creatable(options)

    assert words in str(caught.value)


def test_all_that_is_refused_is_said_at_once() -> None:
    given = {"primary-key.nullable": "true", "vector-field": "v"}

    with pytest.raises(UnsupportedError, match=r"(?s)primary-key\.nullable.*vector-field"):
        check_creatable(given)


def test_write_only_leaves_compaction_and_expiry_to_another_job_but_not_callbacks() -> None:
    compaction = {
        "num-sorted-run.compaction-trigger": "3",
        "snapshot.clean-empty-directories": "true",
    }
    callbacks = {"tag.callbacks": "com.acme.Tell"}

    check_creatable(compaction | {"write-only": "true"})
    with pytest.raises(UnsupportedError):
        check_creatable(compaction | {"write-only": "false"})
    with pytest.raises(UnsupportedError):
        check_creatable(callbacks | {"write-only": "true"})


def test_an_unknown_key_makes_no_table() -> None:
    with pytest.raises(InvalidTableError, match="Is it 'merge-engine'"):
        check_creatable({"merge-engin": "deduplicate"})


def test_a_session_option_is_never_stored_in_a_table() -> None:
    with pytest.raises(InvalidTableError, match="catalog or the session"):
        check_creatable({"lakebed.merge.memory": "1 gb"})


@pytest.mark.parametrize(
    ("key", "text"), [("page-size", "big"), ("bucket", "0"), ("snapshot.time-retained", "1 week")]
)
def test_a_bad_value_is_an_error_in_every_class_of_option(key: str, text: str) -> None:
    with pytest.raises(InvalidArgumentError, match=key):
        check_creatable({key: text})


@pytest.mark.parametrize(
    "options",
    [
        {"scan.snapshot-id": "3"},
        {"scan.snapshot-id": "3", "scan.mode": "from-snapshot"},
        {"scan.mode": "latest"},
        {"scan.tag-name": "a", "incremental-between-scan-mode": "diff"},
        {"log.scan": "latest-full"},
        {"read.batch-size": "10", "source.split.target-size": "1 mb"},
        {"scan.manifest.parallelism": "2"},
        {"scan.ignore-lost-files": "false"},
    ],
)
def test_a_scan_takes_what_it_acts_on(options: dict[str, str]) -> None:
    check_scan_options(options)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"scan.snapshotid": "3"}, InvalidArgumentError, "Is it 'scan.snapshot-id'"),
        ({"file.format": "parquet"}, InvalidArgumentError, "no option of a scan. Set it"),
        ({"blob-field": "k"}, InvalidArgumentError, "no option of a scan. Leave it out"),
        ({"scan.snapshot-id": "x"}, InvalidArgumentError, "whole number"),
        ({"scan.mode": "from-nowhere"}, InvalidArgumentError, "from-snapshot"),
        ({"scan.bucket": "1"}, UnsupportedError, "the only bucket that is read"),
        ({"scan.ignore-lost-files": "true"}, UnsupportedError, "set it to false"),
        ({"consumer-id": "c"}, InvalidArgumentError, "is an option of a stream"),
    ],
)
def test_a_scan_refuses_the_rest(
    options: dict[str, str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        check_scan_options(options)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("options", "refused_uses"),
    [
        ({"merge-engine": "first-row"}, set()),
        ({"fields.a.default-value": "1"}, {"read", "write"}),
        ({"branch": "b"}, {"read", "write"}),
        ({"changelog-producer": "lookup"}, set()),
        ({"file.compression": "lzo"}, {"write"}),
        ({"scan.tag-name": "t"}, set()),
        ({"scan.bucket": "1"}, {"read"}),
        ({"query-auth.enabled": "true"}, {"read", "write"}),
        ({"snapshot.num-retained.max": "3"}, set()),
        ({"num-sorted-run.compaction-trigger": "3"}, set()),
        ({"parquet.writer.version": "v2"}, set()),
        ({"somebody's own": "x"}, set()),
        ({"sort-engine": "min-heap"}, set()),
    ],
)
def test_a_foreign_table_is_refused_for_the_uses_that_would_go_wrong(
    options: dict[str, str], refused_uses: set[str]
) -> None:
    uses: tuple[Literal["read", "write"], ...] = ("read", "write")
    for use in uses:
        if use in refused_uses:
            with pytest.raises(UnsupportedError, match=f"another client to {use}"):
                check_openable(options, use=use)
        else:
            check_openable(options, use=use)


@pytest.mark.parametrize("table", golden_tables())
def test_every_option_of_a_golden_table_is_known(table: str) -> None:
    for options in golden_options(table):
        assert [line for line in report(options) if line.standing is None] == []


@pytest.mark.parametrize("table", golden_tables())
def test_every_golden_table_opens_for_reading(table: str) -> None:
    for options in golden_options(table):
        check_openable(options, use="read")


def test_a_golden_table_that_lakebed_would_write_wrong_does_not_open_for_writing() -> None:
    options = {"data-evolution.enabled": "true"}
    with pytest.raises(UnsupportedError):
        check_openable(options, use="write")


def test_the_report_says_what_becomes_of_each_option() -> None:
    lines = report(
        {
            "bucket": "2",
            "sort-engine": "min-heap",
            "file.compression": "lzo",
            "tag.callbacks": "com.acme.Tell",
            "my.own": "1",
            "page-size": "big",
            "deletion-vectors.enabled": "false",
        }
    )

    by_key = {line.key: line for line in lines}
    assert [line.key for line in lines] == sorted(by_key)
    assert by_key["my.own"] == OptionReport(
        key="my.own", value="1", standing=None, effect="kept: not known"
    )
    assert by_key["bucket"].standing is Standing.ACTS
    assert by_key["deletion-vectors.enabled"].standing is Standing.ACTS
    assert by_key["sort-engine"].standing is Standing.TUNING
    assert by_key["file.compression"].effect.startswith("refused to write")
    assert by_key["tag.callbacks"].effect.startswith("kept for other engines")
    assert "'big'" in by_key["page-size"].effect


@pytest.mark.parametrize(
    "options",
    [
        {"warehouse": "/w", "metastore": "filesystem", "lock.enabled": "false"},
        {"warehouse": "s3://b/w", "s3.access-key": "a", "fs.oss.endpoint": "e"},
        {"warehouse": "/w", "lakebed.read.threads": "2", "cache-enabled": "false"},
        {"warehouse": "/w", "table-default.bucket": "4"},
    ],
)
def test_a_catalog_takes_what_it_acts_on(options: dict[str, str]) -> None:
    check_catalog_options(options)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"warehous": "/w"}, InvalidArgumentError, "'warehous' is no option of a catalog. Is it"),
        ({"metastore": "hive"}, UnsupportedError, "set it to filesystem"),
        ({"metastore": "glue"}, InvalidArgumentError, "filesystem, hive, jdbc, rest"),
        ({"lock.enabled": "true"}, UnsupportedError, "put-if-absent"),
        ({"lakebed.merge.memory": "much"}, InvalidArgumentError, "lakebed.merge.memory"),
        ({"table-default.bukket": "4"}, InvalidArgumentError, "Is it 'bucket'"),
        (
            {"table-default.metastore.tag-to-partition.preview": "batch"},
            UnsupportedError,
            "set it to none",
        ),
    ],
)
def test_a_catalog_refuses_the_rest(
    options: dict[str, str], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as caught:
        check_catalog_options(options)

    assert words in str(caught.value)


def test_table_defaults_lose_their_prefix() -> None:
    given = {"warehouse": "/w", "table-default.write.compaction-skip": "true"}

    assert table_defaults(given) == {"write-only": "true"}
