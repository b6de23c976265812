import pickle
from collections.abc import Iterator

import pytest

import lakebed
from contracts.object_store_contract import ObjectStoreContract
from contracts.stored_tables import StoredTables
from lakebed.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    StorageError,
    UnsupportedError,
)
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.location import file_io_for
from lakebed.storage.object_store import ObjectStoreFileIO
from lakebed.storage.oss import OssBucket
from support.oss_server import OssServer, oss_server

ROOT = "oss://bucket/warehouse/db.db"
KEYS = {"fs.oss.accessKeyId": "somebody", "fs.oss.accessKeySecret": "secret-7"}


@pytest.fixture
def server() -> Iterator[OssServer]:
    with oss_server() as server:
        yield server


@pytest.fixture
def file_io(server: OssServer) -> FileIO:
    return open_bucket(server)


def open_bucket(server: OssServer, **more: str) -> FileIO:
    options = {"fs.oss.endpoint": server.endpoint, **KEYS, **more}
    return file_io_for(ROOT, options)


class TestOssFileIO(ObjectStoreContract):
    @pytest.fixture
    def file_io(self, server: OssServer) -> FileIO:
        return open_bucket(server)

    @pytest.fixture
    def root(self) -> str:
        return ROOT


@pytest.mark.stores
class TestTablesOnOss(StoredTables):
    @pytest.fixture
    def warehouse(self) -> str:
        return "oss://bucket/warehouse"

    @pytest.fixture
    def options(self, server: OssServer) -> dict[str, str]:
        return {"fs.oss.endpoint": server.endpoint, **KEYS}


def forbidding(server: OssServer) -> list[str]:
    """The methods of requests that must not replace an object."""
    return [method for method, _, forbids in server.requests if forbids == "true"]


def test_a_commit_forbids_overwriting(server: OssServer, file_io: FileIO) -> None:
    assert file_io.put_if_absent(f"{ROOT}/snapshot-1", b"first") is PutResult.WRITTEN
    assert file_io.put_if_absent(f"{ROOT}/snapshot-1", b"second") is PutResult.PRESENT
    tried_out = ["PUT", "PUT"]
    assert forbidding(server) == [*tried_out, "PUT", "PUT"]
    assert list(server.objects) == ["warehouse/db.db/snapshot-1"]


def test_a_hint_is_overwritten(server: OssServer, file_io: FileIO) -> None:
    file_io.write(f"{ROOT}/LATEST", b"1")
    file_io.write(f"{ROOT}/LATEST", b"2")
    assert forbidding(server) == []


def test_a_long_file_goes_up_in_parts_and_its_joining_forbids_overwriting(
    server: OssServer, file_io: FileIO
) -> None:
    data = bytes(range(256)) * (80 << 10)
    with file_io.open_output(f"{ROOT}/data-1") as stream:
        stream.write(data[:7])
        stream.write(data[7:])
        assert not file_io.exists(f"{ROOT}/data-1")
    assert file_io.read(f"{ROOT}/data-1") == data
    assert forbidding(server) == ["POST"]
    assert server.uploads == {}


def test_a_long_file_never_replaces_one_that_came_meanwhile(
    server: OssServer, file_io: FileIO
) -> None:
    def write_slowly() -> None:
        with file_io.open_output(f"{ROOT}/data-1") as stream:
            stream.write(b"late" * (5 << 20))
            file_io.put_if_absent(f"{ROOT}/data-1", b"first")

    with pytest.raises(AlreadyExistsError):
        write_slowly()
    assert file_io.read(f"{ROOT}/data-1") == b"first"
    assert server.uploads == {}


def test_a_missing_bucket_is_an_error_and_no_empty_directory(server: OssServer) -> None:
    server.name = "another"
    file_io = open_bucket(server)
    for call in (file_io.list, file_io.exists, file_io.read, file_io.delete_directory):
        with pytest.raises(StorageError, match="NoSuchBucket"):
            call(f"{ROOT}/f")
    with pytest.raises(StorageError, match="NoSuchBucket"):
        file_io.put_if_absent(f"{ROOT}/f", b"x")


def test_a_bucket_with_versions_takes_no_commits(server: OssServer) -> None:
    server.has_versions = True
    file_io = open_bucket(server)
    with pytest.raises(StorageError, match=r"does not heed.*lakebed\.commit\.single-writer"):
        file_io.put_if_absent(f"{ROOT}/snapshot-1", b"x")
    assert server.objects == {}


def test_a_bucket_with_versions_takes_commits_of_a_single_writer(server: OssServer) -> None:
    server.has_versions = True
    file_io = open_bucket(server, **{"lakebed.commit.single-writer": "true"})
    assert file_io.put_if_absent(f"{ROOT}/snapshot-1", b"x") is PutResult.WRITTEN


def test_an_answer_that_is_lost_leaves_a_commit_unknown(server: OssServer, file_io: FileIO) -> None:
    file_io.put_if_absent(f"{ROOT}/snapshot-0", b"x")
    server.faults = [0]
    assert file_io.put_if_absent(f"{ROOT}/snapshot-1", b"mine") is PutResult.UNKNOWN
    assert file_io.read(f"{ROOT}/snapshot-1") == b"mine"


def test_a_fault_of_the_store_is_tried_again(server: OssServer, file_io: FileIO) -> None:
    file_io.put_if_absent(f"{ROOT}/snapshot-0", b"x")
    server.faults = [503]
    assert file_io.put_if_absent(f"{ROOT}/snapshot-1", b"mine") is PutResult.WRITTEN


def test_a_store_that_denies_permission_is_told_apart(server: OssServer, file_io: FileIO) -> None:
    server.faults = [403]
    with pytest.raises(StorageError, match="denies permission") as caught:
        file_io.put_if_absent(f"{ROOT}/snapshot-1", b"mine")
    assert not caught.value.retryable


def test_a_store_that_does_not_listen_has_written_nothing(server: OssServer) -> None:
    endpoint = server.endpoint.rpartition(":")[0] + ":1"
    file_io = file_io_for(ROOT, {"fs.oss.endpoint": endpoint, **KEYS})
    with pytest.raises(StorageError, match="no connection") as caught:
        file_io.read(f"{ROOT}/f")
    assert caught.value.retryable


def test_it_crosses_processes_and_tells_no_secrets(file_io: FileIO) -> None:
    file_io.write(f"{ROOT}/f", b"x")
    copy = pickle.loads(pickle.dumps(file_io))
    assert copy == file_io
    assert copy.read(f"{ROOT}/f") == b"x"
    assert "secret-7" not in repr(copy)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, r"fs\.oss\.endpoint"),
        ({"fs.oss.endpoint": "e", "fs.oss.accessKeyId": "x"}, r"fs\.oss\.accessKeySecret"),
        ({"fs.oss.endpoint": "e", "fs.oss.cname.enabled": "yes"}, "true or false"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, str], problem: str) -> None:
    with pytest.raises(InvalidArgumentError, match=problem):
        file_io_for(ROOT, options)


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("fs.oss.server-side-encryption", UnsupportedError),
        ("fs.oss.acessKeyId", InvalidArgumentError),
    ],
)
def test_an_option_that_nobody_acts_on_is_refused_by_name(key: str, error: type[Exception]) -> None:
    options = {"fs.oss.endpoint": "e", key: "KMS"}
    with pytest.raises(error, match=key.replace(".", r"\.")):
        lakebed.load_catalog(options, warehouse=ROOT)


@pytest.mark.parametrize(
    ("endpoint", "region"),
    [
        ("oss-cn-hangzhou.aliyuncs.com", "cn-hangzhou"),
        ("https://oss-ap-southeast-1-internal.aliyuncs.com", "ap-southeast-1"),
        ("oss.example.com", None),
    ],
)
def test_the_region_is_read_from_an_endpoint(endpoint: str, region: str | None) -> None:
    file_io = file_io_for(ROOT, {"fs.oss.endpoint": endpoint})
    assert isinstance(file_io, ObjectStoreFileIO)
    assert isinstance(file_io.bucket, OssBucket)
    assert file_io.bucket.region == region
