"""One real store of each kind, by name: where it is, and the options that lead there."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import requests

from tools.services.azure import ACCOUNT, azure, azure_options
from tools.services.gcs import google_cloud_storage
from tools.services.hdfs import Hdfs
from tools.services.s3 import s3, s3_options

_BUCKET = "lake"


@dataclass(frozen=True, slots=True)
class Place:
    """A directory of a store.

    Attributes:
        url: Where it is.
        options: A catalog's options for it.
    """

    url: str
    options: dict[str, str]


@contextmanager
def _s3(directory: Path) -> Iterator[Place]:
    with s3(directory, buckets=(_BUCKET,)) as endpoint:
        yield Place(f"s3://{_BUCKET}", s3_options(endpoint))


@contextmanager
def _azure(directory: Path) -> Iterator[Place]:
    with azure(directory, containers=(_BUCKET,)) as endpoint:
        url = f"abfss://{_BUCKET}@{ACCOUNT}.dfs.core.windows.net"
        yield Place(url, azure_options(endpoint))


@contextmanager
def _gcs(directory: Path) -> Iterator[Place]:
    with google_cloud_storage(directory / "gcs.log") as endpoint:
        made = requests.post(f"{endpoint}/storage/v1/b", json={"name": _BUCKET}, timeout=10)
        made.raise_for_status()
        options = {"fs.gs.storage.root.url": endpoint, "fs.gs.auth.type": "UNAUTHENTICATED"}
        yield Place(f"gs://{_BUCKET}", options)


@contextmanager
def _hdfs(directory: Path) -> Iterator[Place]:
    with Hdfs(directory) as cluster:
        yield Place(cluster.url, {})


@contextmanager
def _local(directory: Path) -> Iterator[Place]:
    yield Place(directory.as_uri(), {})


STORES: Mapping[str, Callable[[Path], AbstractContextManager[Place]]] = MappingProxyType(
    {"local": _local, "s3": _s3, "azure": _azure, "gcs": _gcs, "hdfs": _hdfs}
)


@contextmanager
def place_in(store: str) -> Iterator[Place]:
    """A new and empty place in a store, while the block runs; its server runs as long.

    Args:
        store: A name in `STORES`.
    """
    with tempfile.TemporaryDirectory() as directory, STORES[store](Path(directory)) as place:
        yield place
