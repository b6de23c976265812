"""How is HDFS spoken to: with which settings, and what do the answers mean?

The client is made in the process that uses it, for its threads do not live on in a forked one, and
it cannot be pickled.
"""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import pyarrow as pa
from hdfs_native import Client, FileWriter

from lakebed.errors import StorageError
from lakebed.storage.uri import Location

FAILURES: Final = (OSError, RuntimeError)
"""What the client raises: what it saw itself, and what a name or data node said."""

_REFUSAL: Final = re.compile(r'(?:Fatal)?RPCError\("(?P<kind>[^"]*)", "(?P<text>.*)"\)', re.DOTALL)
"""What the client makes of an exception of the name node: its class, its message and stack."""

_BELOW_A_FILE: Final = "(is not a directory)"
"""How the name node tells of what lies below a file, whatever the exception's class."""

_PASSING: Final = frozenset(
    {
        "org.apache.hadoop.hdfs.server.namenode.SafeModeException",
        "org.apache.hadoop.ipc.RetriableException",
        "org.apache.hadoop.ipc.StandbyException",
    }
)
"""States of a name node that end by themselves."""

_DIRECTORY: Final = "hadoop-conf-dir"
_HADOOP: Final = "hadoop."
_KERBEROS: Final = "security.kerberos.login."


@dataclass(frozen=True, slots=True, kw_only=True)
class HdfsSettings:
    """Which cluster, and how it is spoken to.

    Attributes:
        url: Scheme and authority, such as `hdfs://host:8020`; `hdfs://`, without one, is the
            default file system of Hadoop's configuration.
        configuration: Settings of Hadoop, over those of its files.
        directory: Where `core-site.xml` and `hdfs-site.xml` are; else HADOOP_CONF_DIR says so.
        principal: Whom Kerberos is told; else its cache of tickets says so.
        keytab: The file with the principal's key.
    """

    url: str
    configuration: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    directory: str | None = None
    principal: str | None = None
    keytab: str | None = None


def settings_of(location: Location, options: Mapping[str, str]) -> HdfsSettings:
    """The settings of a location's cluster, out of a catalog's options."""
    configuration = {
        key.removeprefix(_HADOOP): value
        for key, value in options.items()
        if key.startswith((_HADOOP, "dfs."))
    }
    return HdfsSettings(
        url=f"{location.scheme}://{location.authority}",
        configuration=tuple(sorted(configuration.items())),
        directory=options.get(_DIRECTORY),
        principal=options.get(f"{_KERBEROS}principal"),
        keytab=options.get(f"{_KERBEROS}keytab"),
    )


@cache
def client_of(process: int, settings: HdfsSettings) -> Client:
    """One client for each process and its settings; that of a parent process is left as it is."""
    del process
    url = settings.url
    return Client(
        None if url.endswith("://") else url,
        dict(settings.configuration),
        settings.directory,
        kerberos_principal=settings.principal,
        kerberos_keytab=settings.keytab,
    )


class Output(io.RawIOBase):
    """What Arrow writes a file through; whoever made it closes the file, once all went well."""

    def __init__(self, file: FileWriter, path: str) -> None:
        super().__init__()
        self._file = file
        self._path = path

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: pa.Buffer) -> int:  # type: ignore[override]
        """Writes all of `data`."""
        with hdfs_errors(self._path, "write"):
            return self._file.write(bytes(data))


@contextmanager
def hdfs_errors(path: str, action: str) -> Iterator[None]:
    """Turns what the client says into a `StorageError`.

    Args:
        path: The path to name, in the caller's spelling.
        action: What was attempted, as a verb.
    """
    try:
        yield
    except FAILURES as error:
        raise failure(path, action, error) from error


def failure(path: str, action: str, error: Exception) -> StorageError:
    """What an error of the client means to a caller."""
    kind, said = _told(error)
    if said.endswith(_BELOW_A_FILE):
        return StorageError(path, f"cannot {action}: a part of its path is a file: {said}")
    if kind:
        is_passing = kind in _PASSING
        return StorageError(
            path, f"cannot {action}: {said} ({kind.rsplit('.', 1)[-1]})", retryable=is_passing
        )
    # Nobody has answered yet, or a data node failed. A feature that is lacking will not come.
    is_lacking = isinstance(error, NotImplementedError)
    return StorageError(path, f"cannot {action}: {said}", retryable=not is_lacking)


def _told(error: Exception) -> tuple[str, str]:
    """The class of the name node's exception, empty where it is not one, and what was said."""
    match = _REFUSAL.fullmatch(str(error))
    kind, text = (match["kind"], match["text"].replace("\\n", "\n")) if match else ("", str(error))
    # The stack trace follows on the next lines.
    return kind, text.split("\n", 1)[0]


def says_missing(error: Exception) -> bool:
    """Whether an error of the client says that a path is not there.

    It says so, too, of a directory that is read as a file, and of what lies below a file.
    """
    return isinstance(error, FileNotFoundError) or _told(error)[1].endswith(_BELOW_A_FILE)
