"""HDFS of Hadoop's own test cluster; it is fetched and compiled once."""

import itertools
import pickle
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Self

import pytest

import lakebed
from contracts.file_io_contract import AWKWARD_NAMES, FileIOContract
from contracts.stored_tables import StoredTables
from lakebed.catalog.filesystem import FilesystemCatalog
from lakebed.errors import InvalidArgumentError, StorageError
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.hdfs import HdfsFileIO
from lakebed.storage.hdfs_client import HdfsSettings
from lakebed.storage.location import file_io_for
from tools.services.hdfs import Hdfs

pytestmark = pytest.mark.stores

ASKED_ONCE = {"dfs.client.failover.max.attempts": "1"}
"""By default, a name node that does not answer is asked for minutes."""

_numbers = itertools.count()


@pytest.fixture(scope="module")
def hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hdfs]:
    with Hdfs(tmp_path_factory.mktemp("hdfs")) as cluster:
        yield cluster


@pytest.fixture
def root(hdfs: Hdfs) -> str:
    return f"{hdfs.url}/tests/{next(_numbers)}"


@pytest.fixture
def file_io(hdfs: Hdfs) -> FileIO:
    return file_io_for(hdfs.url, {})


class TestHdfsFileIO(FileIOContract):
    @pytest.fixture
    def file_io(self, hdfs: Hdfs) -> FileIO:
        return file_io_for(hdfs.url, {})

    @pytest.fixture
    def root(self, hdfs: Hdfs) -> str:
        return f"{hdfs.url}/tests/{next(_numbers)}"

    @pytest.mark.parametrize("name", [name for name in AWKWARD_NAMES if ":" not in name])
    def test_names_are_taken_literally(self, file_io: FileIO, root: str, name: str) -> None:
        super().test_names_are_taken_literally(file_io, root, name)


class TestTablesOnHdfs(StoredTables):
    @pytest.fixture
    def warehouse(self, hdfs: Hdfs) -> str:
        return f"{hdfs.url}/warehouses/{next(_numbers)}"

    @pytest.fixture
    def options(self) -> dict[str, str]:
        return {}


def test_a_colon_in_a_name_is_refused_as_hdfs_refuses_it(file_io: FileIO, root: str) -> None:
    with pytest.raises(StorageError, match="a:b"):
        file_io.put_if_absent(f"{root}/a:b", b"x")


def put_in_child(file_io: FileIO, path: str) -> None:
    assert file_io.put_if_absent(path, b"child") is PutResult.WRITTEN


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_process_makes_a_client_of_its_own(file_io: FileIO, root: str, method: str) -> None:
    file_io.put_if_absent(f"{root}/parent", b"parent")
    arguments = (file_io, f"{root}/child")
    child = get_context(method).Process(  # type: ignore[attr-defined]
        target=put_in_child, args=arguments, daemon=True
    )
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert file_io.read(f"{root}/child") == b"child"


def test_it_crosses_processes(file_io: FileIO, root: str) -> None:
    file_io.write(f"{root}/f", b"x")
    copy = pickle.loads(pickle.dumps(file_io))
    assert copy == file_io
    assert copy.read(f"{root}/f") == b"x"


def test_a_path_of_another_cluster_is_refused(file_io: FileIO) -> None:
    with pytest.raises(InvalidArgumentError, match="not on hdfs://"):
        file_io.read("hdfs://elsewhere:8020/f")


def test_a_cluster_that_does_not_listen_is_told_with_the_path() -> None:
    file_io = file_io_for("hdfs://127.0.0.1:1/", ASKED_ONCE)
    with pytest.raises(StorageError, match=r"hdfs://127\.0\.0\.1:1/f: cannot read") as caught:
        file_io.read("hdfs://127.0.0.1:1/f")
    assert caught.value.retryable


@pytest.mark.parametrize("option", ["hadoop.dfs.replication", "dfs.blocksize", "security.other"])
def test_a_setting_that_nobody_acts_on_is_refused_by_name(option: str) -> None:
    with pytest.raises(InvalidArgumentError, match=option.replace(".", r"\.")):
        lakebed.load_catalog({option: "1"}, warehouse="hdfs://h:1/")


def test_settings_of_hadoop_come_with_its_prefix_or_their_own() -> None:
    options = {
        "hadoop.dfs.client.socket-timeout": "9",
        "dfs.client.failover.max.attempts": "2",
        "hadoop-conf-dir": "/conf",
        "security.kerberos.login.principal": "somebody@REALM",
        "security.kerberos.login.keytab": "/keytab",
    }
    catalog = lakebed.load_catalog(options, warehouse="hdfs://h:1/lake")
    assert isinstance(catalog, FilesystemCatalog)
    assert isinstance(catalog.file_io, HdfsFileIO)
    assert catalog.file_io.settings == HdfsSettings(
        url="hdfs://h:1",
        configuration=(
            ("dfs.client.failover.max.attempts", "2"),
            ("dfs.client.socket-timeout", "9"),
        ),
        directory="/conf",
        principal="somebody@REALM",
        keytab="/keytab",
    )


class Middleman:
    """Stands between a client and a name node, and loses some of what they say.

    Args:
        port: The name node's.
        call: The name of calls that get lost, with their connections.
        is_answer: Whether the name node hears the call and its answer is lost; else the call is.
    """

    def __init__(self, port: int, *, call: bytes, is_answer: bool) -> None:
        self._node = port
        self._call = call
        self._is_answer = is_answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"hdfs://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                node = socket.create_connection(("127.0.0.1", self._node))
                threading.Thread(target=self._ask, args=(client, node), daemon=True).start()

    def _ask(self, client: socket.socket, node: socket.socket) -> None:
        is_deaf = threading.Event()
        answers = threading.Thread(target=pass_on, args=(node, client, is_deaf), daemon=True)
        answers.start()
        with suppress(OSError):
            while data := client.recv(1 << 16):
                is_lost = self._call in data
                if is_lost and not self._is_answer:
                    break
                if is_lost:
                    is_deaf.set()
                node.sendall(data)
                if is_lost:
                    answers.join()
                    break
        client.close()
        node.close()


def pass_on(node: socket.socket, client: socket.socket, is_deaf: threading.Event) -> None:
    with suppress(OSError):
        while data := node.recv(1 << 16):
            if is_deaf.is_set():
                break
            client.sendall(data)


def put_through(cluster: Hdfs, root: str, *, is_answer: bool) -> PutResult:
    """Puts a file, while all renames or all their answers get lost."""
    directory = root.removeprefix(cluster.url)
    with Middleman(cluster.ports[0], call=b"rename2", is_answer=is_answer) as middle:
        file_io = file_io_for(middle.url, ASKED_ONCE)
        return file_io.put_if_absent(f"{middle.url}{directory}/snapshot-1", b"mine")


def test_a_rename_that_never_arrived_is_known_to_have_failed(
    hdfs: Hdfs, file_io: FileIO, root: str
) -> None:
    with pytest.raises(StorageError) as caught:
        put_through(hdfs, root, is_answer=False)
    assert caught.value.retryable
    assert file_io.list(root) == []


def test_a_rename_whose_answer_got_lost_is_unknown(hdfs: Hdfs, file_io: FileIO, root: str) -> None:
    assert put_through(hdfs, root, is_answer=True) is PutResult.UNKNOWN
    assert file_io.read(f"{root}/snapshot-1") == b"mine"
    assert [status.name for status in file_io.list(root)] == ["snapshot-1"]


def test_two_name_nodes_are_found_in_the_configuration_and_one_may_take_over(
    tmp_path: Path,
) -> None:
    with Hdfs(tmp_path / "files", name_nodes=2) as cluster:
        url = cluster.write_configuration(tmp_path)
        for spelling in (url, "hdfs://"):
            file_io = file_io_for(spelling, {"hadoop-conf-dir": str(tmp_path)})
            file_io.put_if_absent(f"{spelling}/{len(spelling)}/before", b"x")
        file_io = file_io_for(url, {"hadoop-conf-dir": str(tmp_path)})
        cluster.fail_over()
        assert file_io.put_if_absent(f"{url}/after", b"y") is PutResult.WRITTEN
        assert file_io.put_if_absent(f"{url}/after", b"z") is PutResult.PRESENT
        names = {status.name for status in file_io.list(url)}
        assert names == {"after", *(str(len(spelling)) for spelling in (url, "hdfs://"))}
