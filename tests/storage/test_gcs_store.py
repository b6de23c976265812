"""The store on Google Cloud Storage, against an emulator that honours preconditions."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

import lakebed
from contracts.object_store_contract import ObjectStoreContract
from contracts.stored_tables import StoredTables
from lakebed.errors import InvalidArgumentError, StorageError, UnsupportedError
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.gcs import GcsBucket
from lakebed.storage.location import file_io_for
from lakebed.storage.object_store import ObjectStoreFileIO
from support.fault_proxy import Fault, FaultProxy, fault_proxy
from tools.services.gcs import google_cloud_storage

BUCKET = "lake"
ENDPOINT = "fs.gs.storage.root.url"
KEYFILE = "fs.gs.auth.service.account.json.keyfile"

_numbers = itertools.count()


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    log = tmp_path_factory.mktemp("gcs") / "log"
    with google_cloud_storage(log) as endpoint:
        made = requests.post(f"{endpoint}/storage/v1/b", json={"name": BUCKET}, timeout=10)
        made.raise_for_status()
        yield {ENDPOINT: endpoint, "fs.gs.auth.type": "UNAUTHENTICATED"}


@pytest.mark.stores
class TestGcsFileIO(ObjectStoreContract):
    @pytest.fixture
    def file_io(self, emulator: dict[str, str]) -> FileIO:
        return file_io_for(f"gs://{BUCKET}", emulator)

    @pytest.fixture
    def root(self) -> str:
        return f"gs://{BUCKET}/tests/{next(_numbers)}"

    def test_a_forked_child_has_connections_of_its_own(self, file_io: FileIO, root: str) -> None:
        file_io.write(f"{root}/f", b"x")
        assert self.told_by_a_process("fork", file_io.read, f"{root}/f") == "b'x'"

    def test_a_missing_bucket_is_an_error_and_no_empty_directory(
        self, emulator: dict[str, str]
    ) -> None:
        file_io = file_io_for("gs://nowhere", emulator)
        for call in (file_io.list, file_io.exists, file_io.read, file_io.delete_directory):
            with pytest.raises(StorageError, match="404"):
                call("gs://nowhere/lake/f")
        with pytest.raises(StorageError, match="404"):
            file_io.put_if_absent("gs://nowhere/f", b"x")

    def test_the_variable_of_emulators_is_heeded(
        self, emulator: dict[str, str], root: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator[ENDPOINT])
        file_io = file_io_for(f"gs://{BUCKET}", {})
        assert file_io.put_if_absent(f"{root}/f", b"x") is PutResult.WRITTEN
        assert file_io.put_if_absent(f"{root}/f", b"x") is PutResult.PRESENT


@pytest.mark.stores
class TestTablesOnGcs(StoredTables):
    @pytest.fixture
    def warehouse(self) -> str:
        return f"gs://{BUCKET}/warehouses/{next(_numbers)}"

    @pytest.fixture
    def options(self, emulator: dict[str, str]) -> dict[str, str]:
        return emulator


@pytest.fixture(scope="module")
def proxy(emulator: dict[str, str]) -> Iterator[FaultProxy]:
    with fault_proxy(emulator[ENDPOINT]) as proxy:
        yield proxy


@pytest.fixture
def behind_proxy(proxy: FaultProxy, emulator: dict[str, str]) -> Iterator[FileIO]:
    file_io = file_io_for(f"gs://{BUCKET}", {**emulator, ENDPOINT: proxy.url})
    # The first put of a process may ask more; here each request counts.
    file_io.put_if_absent(f"gs://{BUCKET}/faults/{next(_numbers)}", b"")
    yield file_io
    proxy.fail_next("none")


@pytest.mark.stores
@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.TOO_MANY, Fault.UNHEARD])
def test_a_commit_that_did_not_arrive_is_put_again(
    proxy: FaultProxy, behind_proxy: FileIO, *, fault: Fault
) -> None:
    path = f"gs://{BUCKET}/faults/{next(_numbers)}"
    proxy.fail_next("POST", fault, fault)
    assert behind_proxy.put_if_absent(path, b"mine") is PutResult.WRITTEN
    assert behind_proxy.read(path) == b"mine"


@pytest.mark.stores
@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.RESET, Fault.FAULT_AFTER])
def test_a_commit_whose_answer_was_lost_is_unknown(
    proxy: FaultProxy, behind_proxy: FileIO, *, fault: Fault
) -> None:
    path = f"gs://{BUCKET}/faults/{next(_numbers)}"
    proxy.fail_next("POST", fault)
    assert behind_proxy.put_if_absent(path, b"mine") is PutResult.UNKNOWN
    assert behind_proxy.read(path) == b"mine"


def test_a_store_that_does_not_listen_is_told_with_the_path() -> None:
    file_io = file_io_for(
        "gs://lake",
        {ENDPOINT: "http://127.0.0.1:1", "fs.gs.auth.type": "UNAUTHENTICATED"},
    )
    with pytest.raises(StorageError, match=r"gs://lake/f: cannot write: no connection") as caught:
        file_io.put_if_absent("gs://lake/f", b"x")
    assert caught.value.retryable


def test_options_of_both_spellings_make_a_bucket(tmp_path: Path) -> None:
    for prefix in ("fs.gs.", "gs."):
        options = {
            f"{prefix}auth.service.account.json.keyfile": str(tmp_path / "key.json"),
            f"{prefix}storage.root.url": "http://127.0.0.1:1",
        }
        file_io = file_io_for("gs://lake/warehouse", options)
        assert isinstance(file_io, ObjectStoreFileIO)
        assert file_io.bucket == GcsBucket(
            name="lake",
            keyfile=str(tmp_path / "key.json"),
            endpoint="http://127.0.0.1:1",
        )


@pytest.mark.parametrize("content", [None, "no JSON", json.dumps({"type": "service_account"})])
def test_a_key_that_is_none_is_told_with_its_option(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "key.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    file_io = file_io_for("gs://lake", {KEYFILE: str(path)})
    with pytest.raises(InvalidArgumentError, match=KEYFILE.replace(".", r"\.")):
        file_io.read("gs://lake/f")


@pytest.mark.parametrize(
    "options",
    [
        {"fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE"},
        {"fs.gs.auth.type": "UNAUTHENTICATED", KEYFILE: "/key.json"},
        {KEYFILE: "/key.json", "gs.auth.service.account.json.keyfile": "/other.json"},
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(InvalidArgumentError, match=r"fs\.gs\.auth"):
        file_io_for("gs://lake", options)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"fs.gs.auth.type": "USER_CREDENTIALS"}, UnsupportedError),
        ({"fs.gs.encryption.algorithm": "AES256"}, InvalidArgumentError),
    ],
)
def test_an_option_that_nobody_acts_on_is_refused_by_name(
    options: dict[str, str], error: type[Exception]
) -> None:
    [key] = options
    with pytest.raises(error, match=key.replace(".", r"\.")):
        lakebed.load_catalog(options, warehouse="gs://lake")
