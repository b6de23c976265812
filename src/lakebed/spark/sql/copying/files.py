"""Which files are there for COPY INTO?

Spark lists them, with the store that it reads them with. Only files right in a directory count, and
as for Spark's readers none whose name begins with a dot or an underscore.
"""

import posixpath
import re
from dataclasses import dataclass

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

from lakebed.errors import InvalidArgumentError
from lakebed.spark.lake import Lake
from lakebed.table.load_history import KnownFile

_LOCATION = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(//[^/]*)?(/.*)", re.DOTALL)
_GLOB = re.compile(r"([\[\]{}*?\\])")
_PART = "part-"
_DATABASE = re.compile(r"[^/]+\.db(?:/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file to load.

    Attributes:
        known: What it is known by.
        key: Its name as Spark's readers tell it of rows.
    """

    known: KnownFile
    key: str

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.known.path.rpartition("/")[2]


def list_files(lake: Lake, path: str, *, pattern: str | None = None) -> list[SourceFile]:
    """The files right in a directory, or the file that a path is itself, by name.

    Args:
        lake: The session.
        path: The directory or the file.
        pattern: A regular expression of Java that the names hold somewhere.

    Raises:
        InvalidArgumentError: A path that does not begin at a root.
        AnalysisException: PATH_NOT_FOUND.
    """
    root = _directory(path)
    # Without recursion, directories called `a=1` would be taken for partitions.
    reader = lake.spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    found = reader.load(literal_path(path))
    rows = found.select(
        "path",
        "length",
        F.unix_millis("modificationTime"),
        found.metadataColumn("_metadata").getField("file_name"),
    )
    if pattern is not None:
        rows = rows.where(F.substring_index("path", "/", -1).rlike(pattern))
    files = [
        SourceFile(known=KnownFile(path=location, size_bytes=size, modified_ms=modified), key=key)
        for location, size, modified, key in rows.collect()
        if root in {_directory(location), posixpath.dirname(_directory(location))}
    ]
    return sorted(files, key=lambda each: each.known.path)


def count_parts(lake: Lake, path: str) -> int:
    """How many files of rows Spark wrote into a directory."""
    return sum(each.name.startswith(_PART) for each in list_files(lake, path))


def literal_path(path: str) -> str:
    """A path as Spark's readers take it, for whom some signs would stand for others."""
    return _GLOB.sub(r"\\\1", path)


def check_target(lake: Lake, path: str) -> None:
    """Makes sure that files written to a path, or deleted there, are none of a table's.

    Raises:
        InvalidArgumentError: They may be; or the path does not begin at a root.
    """
    target = _directory(path)
    for attached in lake.registry.catalogs.values():
        warehouse = attached.catalog.warehouse
        if _LOCATION.fullmatch(warehouse) is None or _store(path) != _store(warehouse):
            continue
        root = _directory(warehouse)
        below = target.removeprefix(f"{root.rstrip('/')}/")
        is_inside = below != target and _DATABASE.match(below) is not None
        if is_inside or f"{root}/".startswith(f"{target.rstrip('/')}/"):
            raise InvalidArgumentError(
                f"{path} holds databases of the warehouse {warehouse}, or is in one; files that"
                " are no table's must be elsewhere"
            )


def _directory(path: str) -> str:
    """The path within its store, without what says nothing."""
    found = _LOCATION.fullmatch(path)
    if found is None:
        raise InvalidArgumentError(
            f"{path!r} is no path from a root, such as /data/files or s3a://bucket/files"
        )
    # Two slashes at the start would stay.
    return posixpath.normpath(re.sub("/+", "/", found[3]))


def _store(path: str) -> str:
    """What tells stores apart; schemes of one kin are those of one store."""
    found = _LOCATION.fullmatch(path)
    return (found[2] or "").lstrip("/") if found is not None else ""
