import subprocess
import sys
from pathlib import Path

import pytest

from lakebed.errors import InvalidArgumentError, UnsupportedError
from lakebed.storage.local import LocalFileIO
from lakebed.storage.location import (
    SINGLE_WRITER,
    Location,
    file_io_for,
    join,
    parse_location,
)
from lakebed.storage.openers import OPENERS


@pytest.mark.parametrize(
    ("text", "scheme", "path", "trimmed"),
    [
        ("/data/lake", "file", "/data/lake", "/data/lake"),
        ("/data//lake//", "file", "/data/lake", "/data//lake"),
        ("/", "file", "/", "/"),
        ("file:/data/lake/", "file", "/data/lake", "file:/data/lake"),
        ("file:///data/lake", "file", "/data/lake", "file:///data/lake"),
        ("FILE:/data", "file", "/data", "FILE:/data"),
        ("file:///", "file", "/", "file:/"),
        ("memory:/x/y", "memory", "/x/y", "memory:/x/y"),
        ("memory:///x", "memory", "/x", "memory:///x"),
        ("/data/p=a%2Fb?c#d", "file", "/data/p=a%2Fb?c#d", "/data/p=a%2Fb?c#d"),
        ("file:///data/a%20b", "file", "/data/a%20b", "file:///data/a%20b"),
        ("/data/a:b", "file", "/data/a:b", "/data/a:b"),
    ],
)
def test_parse_location_takes_every_spelling(
    text: str, *, scheme: str, path: str, trimmed: str
) -> None:
    assert parse_location(text) == Location(scheme=scheme, path=path, text=trimmed)


@pytest.mark.parametrize("text", ["lake/x", "./lake/x/", "lake//x"])
def test_parse_location_makes_relative_paths_absolute(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = f"{tmp_path}/lake/x"
    assert parse_location(text) == Location(scheme="file", path=expected, text=expected)


@pytest.mark.parametrize("text", ["", "  ", "/a\0b"])
def test_parse_location_refuses_what_is_no_path(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="no location"):
        parse_location(text)


@pytest.mark.parametrize("text", ["file:data", "file://host/data", "memory:x", "memory://x"])
def test_parse_location_refuses_hosts_and_relative_uris(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="absolute path and no host"):
        parse_location(text)


@pytest.mark.parametrize("text", ["/a", "/a/", "/a//"])
def test_join_keeps_the_spelling_of_its_base(text: str) -> None:
    assert join(f"file:{text}", "b", "c") == "file:/a/b/c"
    assert join(text, "b") == "/a/b"
    assert join("/", "b") == "/b"
    assert parse_location(join("file:///", "b")).path == "/b"


@pytest.mark.parametrize(
    ("text", "scheme", "authority", "path"),
    [
        ("s3://bucket/lake", "s3", "bucket", "/lake"),
        ("S3A://bucket", "s3a", "bucket", "/"),
        ("s3://bucket//lake//x/", "s3", "bucket", "/lake/x"),
        ("s3://bucket/p=a%2Fb?c#d:e@f", "s3", "bucket", "/p=a%2Fb?c#d:e@f"),
        ("oss://bucket/lake", "oss", "bucket", "/lake"),
        ("gs://bucket/lake", "gs", "bucket", "/lake"),
        (
            "abfss://lake@acc.dfs.core.windows.net/db.db",
            "abfss",
            "lake@acc.dfs.core.windows.net",
            "/db.db",
        ),
        ("hdfs://host:8020/lake", "hdfs", "host:8020", "/lake"),
        ("hdfs:///lake", "hdfs", "", "/lake"),
        ("hdfs:/lake", "hdfs", "", "/lake"),
    ],
)
def test_parse_location_knows_buckets_and_hosts(
    text: str, *, scheme: str, authority: str, path: str
) -> None:
    found = parse_location(text)
    assert (found.scheme, found.authority, found.path) == (scheme, authority, path)
    assert found.text == text.rstrip("/")
    assert parse_location(join(found.text, "a", "b")).path == f"{path.rstrip('/')}/a/b"


@pytest.mark.parametrize("text", ["s3:/lake", "s3:bucket", "s3:///lake", "abfss:/lake", "gs://"])
def test_parse_location_refuses_a_store_without_its_bucket(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="followed by two slashes"):
        parse_location(text)


def test_file_io_for_names_a_scheme_without_store_and_what_there_is() -> None:
    with pytest.raises(UnsupportedError, match=r"'ftp'; supported are file:, memory:, s3:, .* and"):
        file_io_for("ftp://host/lake", {})


def test_every_scheme_has_a_store() -> None:
    for scheme in OPENERS:
        place = "/x" if scheme in {"file", "memory"} else "//x@y.dfs.core.windows.net/x"
        assert parse_location(f"{scheme}:{place}").scheme == scheme


def test_importing_lakebed_imports_no_client_of_a_store() -> None:
    clients = "{'obstore', 'google', 'hdfs_native', 'alibabacloud_oss_v2'}"
    program = (
        "import sys, lakebed; lakebed.load_catalog(warehouse='memory:/x'); "
        f"print(sorted({clients} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("location", ["/data/lake", "file:/data/lake", "lake"])
def test_file_io_for_local_paths_is_the_local_disk(location: str) -> None:
    assert file_io_for(location, {}) == LocalFileIO()


def test_file_io_for_memory_is_one_store_a_process() -> None:
    file_io_for("memory:/test_location", {}).write("memory:/test_location/f", b"x")
    try:
        assert file_io_for("memory:/test_location/other", {}).exists("memory:/test_location/f")
    finally:
        file_io_for("memory:/", {}).delete_directory("memory:/test_location")


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("TRUE", True), ("false", False)])
def test_file_io_for_passes_on_the_single_writer_option(value: str, *, expected: bool) -> None:
    assert file_io_for("/x", {SINGLE_WRITER: value}) == LocalFileIO(single_writer=expected)


def test_file_io_for_refuses_an_option_that_is_no_boolean() -> None:
    with pytest.raises(InvalidArgumentError, match=r"lakebed\.commit\.single-writer.*'yes'"):
        file_io_for("/x", {SINGLE_WRITER: "yes"})


@pytest.mark.parametrize(
    ("location", "module", "package", "extra"),
    [
        ("gs://bucket/x", "gcs", "google.api_core.exceptions", "gcs"),
        ("hdfs://host/x", "hdfs", "hdfs_native", "hdfs"),
        ("oss://bucket/x", "oss", "alibabacloud_oss_v2", "oss"),
    ],
)
def test_a_store_whose_client_is_missing_names_the_extra(
    location: str, *, module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for imported in (module, f"{module}_client"):
        monkeypatch.delitem(sys.modules, f"lakebed.storage.{imported}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UnsupportedError, match=rf"pip install 'lakebed\[{extra}\]'"):
        file_io_for(location, {})
