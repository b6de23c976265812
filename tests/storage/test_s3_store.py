"""The store on S3, against a real gateway."""

import itertools
from collections.abc import Iterator
from functools import partial

import pytest

from contracts.object_store_contract import ObjectStoreContract
from contracts.stored_tables import StoredTables
from lakebed.errors import StorageError
from lakebed.storage.file_io import FileIO
from lakebed.storage.location import file_io_for
from support.race import race_rounds
from tools.services.s3 import SECRET_KEY, s3, s3_options

pytestmark = pytest.mark.stores

ROUNDS = 300
_ROOTS = itertools.count()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with s3(tmp_path_factory.mktemp("s3"), buckets=("lake",)) as endpoint:
        yield endpoint


@pytest.fixture
def file_io(endpoint: str) -> FileIO:
    return file_io_for("s3://lake", s3_options(endpoint))


@pytest.fixture
def root() -> str:
    return f"s3://lake/r{next(_ROOTS)}/db.db"


class TestS3(ObjectStoreContract):
    @pytest.fixture
    def file_io(self, endpoint: str) -> FileIO:
        return file_io_for("s3://lake", s3_options(endpoint))

    @pytest.fixture
    def root(self) -> str:
        return f"s3://lake/r{next(_ROOTS)}/db.db"

    def test_a_forked_child_of_a_process_that_used_the_store_is_told_why_it_cannot(
        self, file_io: FileIO, root: str
    ) -> None:
        file_io.write(f"{root}/f", b"x")
        assert "forked" in self.told_by_a_process("fork", file_io.read, f"{root}/f")


class TestTablesOnS3(StoredTables):
    @pytest.fixture
    def warehouse(self) -> str:
        return f"s3://lake/warehouse-{next(_ROOTS)}"

    @pytest.fixture
    def options(self, endpoint: str) -> dict[str, str]:
        return s3_options(endpoint)


def test_of_processes_that_put_at_once_one_wins_each_round(endpoint: str) -> None:
    place = f"s3://lake/race-{next(_ROOTS)}"
    store = partial(file_io_for, place, s3_options(endpoint))
    result = race_rounds(place, rounds=ROUNDS, processes=3, seed=1, store=store)
    assert result.violations == ()
    assert sum(result.winners) == ROUNDS


def test_all_of_its_schemes_mean_one_bucket(file_io: FileIO, root: str) -> None:
    file_io.write(f"{root}/f", b"x")
    path = root.replace("s3:", "s3a:")
    assert file_io.read(f"{path}/f") == b"x"
    assert [status.path for status in file_io.list(path)] == [f"{path}/f"]


def test_a_missing_bucket_is_an_error_and_no_empty_directory(endpoint: str) -> None:
    file_io = file_io_for("s3://nowhere", s3_options(endpoint))
    for call in (file_io.list, file_io.exists, file_io.read, file_io.delete_directory):
        with pytest.raises(StorageError, match="bucket does not exist"):
            call("s3://nowhere/lake/f")
    with pytest.raises(StorageError, match="bucket does not exist"):
        file_io.put_if_absent("s3://nowhere/f", b"x")


def test_wrong_keys_are_an_error_that_does_not_tell_them(endpoint: str) -> None:
    options = s3_options(endpoint) | {"s3.secret-key": f"{SECRET_KEY}-wrong"}
    file_io = file_io_for("s3://lake", options)
    for call in (file_io.read, file_io.list, file_io.delete):
        with pytest.raises(StorageError, match="denies permission") as caught:
            call("s3://lake/f")
        assert not caught.value.retryable
        assert SECRET_KEY not in f"{caught.getrepr(style='long', showlocals=False)}"
    assert SECRET_KEY not in repr(file_io)


def test_keys_come_from_the_environment_where_options_are_silent(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    options = s3_options(endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", options["s3.access-key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", options["s3.secret-key"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    file_io = file_io_for("s3://lake", {})
    file_io.write(f"{root}/f", b"x")
    assert file_io.read(f"{root}/f") == b"x"
