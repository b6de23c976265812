"""Names on disk: made, read back, and against the directories of real tables."""

import itertools
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakebed.errors import CorruptTableError
from lakebed.format.binary_row.codec import decode_row
from lakebed.format.paths import (
    FileNames,
    TablePaths,
    branch_name_of,
    bucket_of,
    changelog_id_of,
    consumer_id_of,
    file_index_name,
    format_of,
    format_partition,
    schema_id_of,
    snapshot_id_of,
    tag_name_of,
)
from support.golden_manifests import DATABASE, GoldenTable, golden_names

_uuids: Iterator[str] = (f"uuid{number}" for number in itertools.count())


def next_uuid() -> str:
    return next(_uuids)


def test_paths_of_a_table() -> None:
    paths = TablePaths("file:///lake/db.db/t/")
    assert paths.location == "file:///lake/db.db/t"
    root = paths.location
    assert paths.schema(0) == f"{root}/schema/schema-0"
    assert paths.snapshot(7) == f"{root}/snapshot/snapshot-7"
    assert paths.latest_hint == f"{root}/snapshot/LATEST"
    assert paths.earliest_hint == f"{root}/snapshot/EARLIEST"
    assert paths.tag("v1") == f"{root}/tag/tag-v1"
    assert paths.changelog(3) == f"{root}/changelog/changelog-3"
    assert paths.consumer("me") == f"{root}/consumer/consumer-me"
    assert paths.manifest("manifest-list-u-0") == f"{root}/manifest/manifest-list-u-0"
    assert paths.index("index-u-0") == f"{root}/index/index-u-0"
    assert paths.statistics("stat-u-0") == f"{root}/statistics/stat-u-0"
    assert paths.data_file("", 0, "f.parquet") == f"{root}/bucket-0/f.parquet"
    assert paths.bucket("dt=1/hh=2", -2) == f"{root}/dt=1/hh=2/bucket-postpone"
    assert paths.partition("") == root
    assert paths.staging("u") == f"{root}/.lakebed-staging-u"


def test_branch_has_its_own_metadata_and_the_table_s_data() -> None:
    main = TablePaths("/lake/t")
    branch = main.of_branch("dev")
    assert branch.snapshot(2) == "/lake/t/branch/branch-dev/snapshot/snapshot-2"
    assert branch.latest_hint == "/lake/t/branch/branch-dev/snapshot/LATEST"
    for path in (branch.schema(0), branch.tag("a"), branch.changelog(1), branch.consumer("c")):
        assert path.startswith("/lake/t/branch/branch-dev/")
    assert branch.manifest("m") == main.manifest("m")
    assert branch.index("i") == main.index("i")
    assert branch.statistics("s") == main.statistics("s")
    assert branch.bucket("p=1", 3) == main.bucket("p=1", 3) == "/lake/t/p=1/bucket-3"
    assert branch.of_branch("main") == main


def test_data_directory_lies_between_table_and_partition() -> None:
    paths = TablePaths("/lake/t", data_directory="data")
    assert paths.bucket("p=1", 0) == "/lake/t/data/p=1/bucket-0"
    assert paths.manifest("m") == "/lake/t/manifest/m"


def test_root_directories_stay_what_they_are() -> None:
    assert TablePaths("file:///").schema(0) == "file:////schema/schema-0"
    assert pickle.loads(pickle.dumps(TablePaths("/t/"))) == TablePaths("/t")


def test_new_names_count_up_by_kind_under_one_uuid() -> None:
    names = FileNames(lambda: "u")
    assert [names.data_file(), names.data_file("orc")] == ["data-u-0.parquet", "data-u-1.orc"]
    assert names.changelog_file("avro") == "changelog-u-2.avro"
    assert [names.manifest(), names.manifest()] == ["manifest-u-0", "manifest-u-1"]
    assert [names.manifest_list(), names.manifest_list()] == [
        "manifest-list-u-0",
        "manifest-list-u-1",
    ]
    assert names.index_manifest() == "index-manifest-u-0"
    assert names.index() == "index-u-0"
    assert names.statistics() == "stat-u-0"
    prefixed = FileNames(lambda: "u", data_prefix="part-", changelog_prefix="log-")
    assert prefixed.data_file("zstd.parquet") == "part-u-0.zstd.parquet"
    assert prefixed.changelog_file() == "log-u-1.parquet"


def test_copies_sent_to_other_processes_never_make_the_same_name() -> None:
    names = FileNames(next_uuid, data_prefix="part-")
    names.data_file()
    first, second = (pickle.loads(pickle.dumps(names)) for _ in range(2))
    made = {copy.data_file() for copy in (names, first, second)}
    assert len(made) == 3
    assert all(re.fullmatch(r"part-uuid\d+-[01]\.parquet", name) for name in made)


@pytest.mark.parametrize(
    "name", ["LATEST", "snapshot-", "snapshot-1x", "snapshot--1", "x-snapshot-1", "snapshot-1.tmp"]
)
def test_other_names_are_no_snapshot(name: str) -> None:
    assert snapshot_id_of(name) is None


def test_names_are_read_back() -> None:
    paths = TablePaths("/t")
    assert snapshot_id_of(Path(paths.snapshot(12)).name) == 12
    assert schema_id_of(Path(paths.schema(0)).name) == 0
    assert schema_id_of("snapshot-0") is None
    assert changelog_id_of(Path(paths.changelog(4)).name) == 4
    assert tag_name_of(Path(paths.tag("tag-a")).name) == "tag-a"
    assert tag_name_of("tag-") is None
    assert branch_name_of("branch-dev") == "dev"
    assert consumer_id_of(Path(paths.consumer("job")).name) == "job"
    assert bucket_of("bucket-3") == 3
    assert bucket_of(Path(paths.bucket("", -2)).name) == -2
    assert bucket_of("dt=1") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("data-u-0.parquet", "parquet"),
        ("data-u-0.zstd.parquet", "parquet"),
        ("data-u-0.csv.gz", "csv"),
        ("s3://b/t/bucket-0/data-u-0.ORC", "orc"),
    ],
)
def test_format_is_the_extension(name: str, expected: str) -> None:
    assert format_of(name) == expected


@pytest.mark.parametrize("name", ["data-u-0", "gz", "data.", "a.b/data", "data.gz"])
def test_name_without_format_is_corrupt(name: str) -> None:
    with pytest.raises(CorruptTableError, match="does not say its format"):
        format_of(name)


def test_file_index_lies_beside_its_data_file() -> None:
    assert file_index_name("data-u-0.parquet") == "data-u-0.parquet.index"


@pytest.mark.parametrize("name", golden_names())
def test_real_data_files_are_where_the_paths_say(name: str) -> None:
    table = GoldenTable(name)
    paths, files_seen = TablePaths(str(DATABASE / name)), 0
    for entry in table.entries():
        file = entry["_FILE"]
        fields = {field.name: field for field in table.fields(file["_SCHEMA_ID"])}
        keys = [fields[key] for key in table.schema(file["_SCHEMA_ID"])["partitionKeys"]]
        values = decode_row(entry["_PARTITION"], [field.type for field in keys])
        path = paths.data_file(format_partition(values, keys), entry["_BUCKET"], file["_FILE_NAME"])
        found = table.data_file(file["_FILE_NAME"])
        if found is not None:
            assert Path(path) == found
            assert format_of(path) in {"parquet", "orc", "avro"}
            files_seen += 1
    assert files_seen > 0
    snapshots = sorted((DATABASE / name / "snapshot").glob("snapshot-*"))
    assert {paths.snapshot(snapshot_id_of(path.name) or 0) for path in snapshots} == {
        str(path) for path in snapshots
    }
