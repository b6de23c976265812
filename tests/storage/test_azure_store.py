"""The store on Azure, against Microsoft's emulator."""

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
from tools.services.azure import ACCOUNT, azure, azure_options

pytestmark = pytest.mark.stores

_LAKE = f"abfss://lake@{ACCOUNT}.dfs.core.windows.net"
ROUNDS = 300
_ROOTS = itertools.count()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with azure(tmp_path_factory.mktemp("azure"), containers=("lake",)) as endpoint:
        yield endpoint


class TestAzure(ObjectStoreContract):
    @pytest.fixture
    def file_io(self, endpoint: str) -> FileIO:
        return file_io_for(_LAKE, azure_options(endpoint))

    @pytest.fixture
    def root(self) -> str:
        return f"{_LAKE}/r{next(_ROOTS)}/db.db"


class TestTablesOnAzure(StoredTables):
    @pytest.fixture
    def warehouse(self) -> str:
        return f"{_LAKE}/warehouse-{next(_ROOTS)}"

    @pytest.fixture
    def options(self, endpoint: str) -> dict[str, str]:
        return azure_options(endpoint)


def test_of_processes_that_put_at_once_one_wins_each_round(endpoint: str) -> None:
    place = f"{_LAKE}/race-{next(_ROOTS)}"
    store = partial(file_io_for, place, azure_options(endpoint))
    result = race_rounds(place, rounds=ROUNDS, processes=3, seed=1, store=store)
    assert result.violations == ()
    assert sum(result.winners) == ROUNDS


def test_a_missing_container_is_an_error_and_no_empty_directory(endpoint: str) -> None:
    place = _LAKE.replace("//lake@", "//nowhere@")
    file_io = file_io_for(place, azure_options(endpoint))
    for call in (file_io.list, file_io.exists, file_io.read, file_io.delete_directory):
        with pytest.raises(StorageError, match="does not exist"):
            call(f"{place}/lake/f")


def test_wrong_keys_are_an_error_that_does_not_tell_them(endpoint: str) -> None:
    wrong = f"{'Wrong' * 17}A=="
    file_io = file_io_for(_LAKE, azure_options(endpoint) | {"fs.azure.account.key": wrong})
    for call in (file_io.read, file_io.list, file_io.delete):
        with pytest.raises(StorageError, match="denies permission") as caught:
            call(f"{_LAKE}/f")
        assert not caught.value.retryable
        assert wrong not in str(caught.getrepr(style="long"))
    assert wrong not in repr(file_io)
