"""What a lost answer, a fault or throttling of the store comes to, through a proxy that makes them.

The same for S3 and for Azure, each behind a proxy of its own.
"""

import itertools
from collections.abc import Iterator
from contextlib import suppress

import pytest

from contracts.object_store_contract import LONG
from lakebed.errors import StorageError
from lakebed.storage.file_io import FileIO, PutResult
from lakebed.storage.location import file_io_for
from support.fault_proxy import Fault, FaultProxy, fault_proxy
from tools.services.azure import ACCOUNT, azure, azure_options
from tools.services.s3 import s3, s3_options

pytestmark = pytest.mark.stores

_ROOTS = itertools.count()
_PLACES = {"s3": "s3://lake", "azure": f"abfss://lake@{ACCOUNT}.dfs.core.windows.net"}
_MANY = 50


@pytest.fixture(scope="module", params=list(_PLACES))
def behind_proxy(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[FaultProxy, FileIO, str]]:
    directory = tmp_path_factory.mktemp(request.param)
    place = _PLACES[request.param]
    if request.param == "s3":
        with s3(directory, buckets=("lake",)) as target, fault_proxy(target) as proxy:
            yield proxy, file_io_for(place, s3_options(proxy.url)), place
    else:
        with azure(directory, containers=("lake",)) as target, fault_proxy(target) as proxy:
            yield proxy, file_io_for(place, azure_options(proxy.url)), place


@pytest.fixture(scope="module", autouse=True)
def _proven_to_heed_conditions(behind_proxy: tuple[FaultProxy, FileIO, str]) -> None:
    """The first put of a process asks more; here each request counts."""
    behind_proxy[1].put_if_absent(f"{behind_proxy[2]}/first", b"")


@pytest.fixture
def proxy(behind_proxy: tuple[FaultProxy, FileIO, str]) -> Iterator[FaultProxy]:
    yield behind_proxy[0]
    behind_proxy[0].fail_next("none")


@pytest.fixture
def file_io(behind_proxy: tuple[FaultProxy, FileIO, str]) -> FileIO:
    return behind_proxy[1]


@pytest.fixture
def path(behind_proxy: tuple[FaultProxy, FileIO, str]) -> str:
    return f"{behind_proxy[2]}/r{next(_ROOTS)}/snapshot-1"


@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.TOO_MANY, Fault.UNHEARD])
def test_a_put_that_did_not_arrive_is_repeated_until_it_is_written(
    proxy: FaultProxy, file_io: FileIO, path: str, *, fault: Fault
) -> None:
    proxy.fail_next("PUT", fault, fault)
    assert file_io.put_if_absent(path, b"mine") is PutResult.WRITTEN
    assert file_io.read(path) == b"mine"


@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.RESET, Fault.FAULT_AFTER])
def test_a_put_whose_answer_was_lost_is_unknown_and_its_file_is_there(
    proxy: FaultProxy, file_io: FileIO, path: str, *, fault: Fault
) -> None:
    proxy.fail_next("PUT", fault)
    assert file_io.put_if_absent(path, b"mine") is PutResult.UNKNOWN
    assert file_io.read(path) == b"mine"


@pytest.mark.parametrize("fault", [Fault.LOST_ANSWER, Fault.RESET, Fault.FAULT_AFTER])
def test_a_put_whose_answer_was_lost_never_says_that_another_file_is_its_own(
    proxy: FaultProxy, file_io: FileIO, path: str, *, fault: Fault
) -> None:
    file_io.put_if_absent(path, b"theirs")
    proxy.fail_next("PUT", fault)
    assert file_io.put_if_absent(path, b"mine") is not PutResult.WRITTEN
    assert file_io.read(path) == b"theirs"


def test_throttling_that_does_not_end_is_no_success_and_leaves_no_file(
    proxy: FaultProxy, file_io: FileIO, path: str
) -> None:
    proxy.fail_next("PUT", *[Fault.TOO_MANY] * _MANY)
    with pytest.raises(StorageError, match="429") as caught:
        file_io.put_if_absent(path, b"mine")
    assert caught.value.retryable
    assert not file_io.exists(path)


@pytest.mark.parametrize("fault", [Fault.THROTTLED, Fault.LOST_ANSWER, Fault.RESET])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_reads_are_repeated(
    proxy: FaultProxy, file_io: FileIO, path: str, *, method: str, fault: Fault
) -> None:
    file_io.put_if_absent(path, b"mine")
    proxy.fail_next(method, fault, fault)
    assert file_io.read(path) == b"mine"
    assert file_io.size(path) == 4
    assert [status.path for status in file_io.list(path.rpartition("/")[0])] == [path]
    with file_io.open_input(path) as file:
        assert file.read() == b"mine"


@pytest.mark.parametrize(
    "fault", [Fault.THROTTLED, Fault.LOST_ANSWER, Fault.RESET, Fault.FAULT_AFTER]
)
def test_overwrites_and_deletions_are_repeated(
    proxy: FaultProxy, file_io: FileIO, path: str, *, fault: Fault
) -> None:
    proxy.fail_next("PUT", fault)
    file_io.write(path, b"hint")
    assert file_io.read(path) == b"hint"
    proxy.fail_next("DELETE", fault)
    assert file_io.delete(path)
    proxy.fail_next("POST", fault)
    file_io.delete_directory(path.rpartition("/")[0])
    assert not file_io.exists(path)


@pytest.mark.parametrize("fault", list(Fault))
def test_a_long_file_is_whole_or_not_there_whatever_fails(
    proxy: FaultProxy, file_io: FileIO, path: str, *, fault: Fault
) -> None:
    for method, skipped in itertools.product(("POST", "PUT"), range(4)):
        proxy.fail_next(method, *[None] * skipped, fault)
        name = f"{path}-{method}-{skipped}"
        with suppress(StorageError), file_io.open_output(name) as stream:
            stream.write(LONG)
        proxy.fail_next("none")
        assert not file_io.exists(name) or file_io.read(name) == LONG
