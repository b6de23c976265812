"""Where does a changelog file lie that was packed with others (format.md 11)?

A streaming writer may put the small changelog files of a partition one after the other into one,
which lies in the bucket of the first. Entries of manifests go on naming one file a bucket:

    bucket-0/compacted-changelog-x$0-90.cc-parquet            bytes 0 to 90 of that file
    bucket-3/compacted-changelog-x$0-90-90-70.cc-parquet      70 bytes of the same file, from 90 on
"""

import re
from dataclasses import dataclass

from lakebed.errors import CorruptTableError
from lakebed.storage.file_io import FileIO
from lakebed.storage.memory import MemoryFileIO

_NAME = re.compile(
    r"(?P<stem>compacted-changelog-[^$]*\$(?P<bucket>\d+)-(?P<first>\d+))"
    r"(-(?P<offset>\d+)-(?P<length>\d+))?\.cc-(?P<format>\w+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedChangelog:
    """A part of a file that is a changelog file of its own.

    Attributes:
        path: The file.
        offset: Where the part begins.
        length: How many bytes it has.
        file_format: What they are, such as `parquet`.
    """

    path: str
    offset: int
    length: int
    file_format: str


def packed_changelog_of(path: str) -> PackedChangelog | None:
    """The part that a path names; None for files that are not packed."""
    directory, _, name = path.rpartition("/")
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    if found["offset"] is None:
        offset, length = 0, int(found["first"])
    else:
        offset, length = int(found["offset"]), int(found["length"])
        directory = f"{directory.rpartition('/')[0]}/bucket-{found['bucket']}"
    return PackedChangelog(
        path=f"{directory}/{found['stem']}.cc-{found['format']}",
        offset=offset,
        length=length,
        file_format=found["format"],
    )


def unpacked(file_io: FileIO, path: str) -> tuple[FileIO, str]:
    """Where a file can be read as one: a packed one in memory, which takes few, any other as it is.

    Raises:
        CorruptTableError: The file that it was packed into is too short.
        NotFoundError: That file is missing.
    """
    part = packed_changelog_of(path)
    if part is None:
        return file_io, path
    content = file_io.read_range(part.path, offset=part.offset, length=part.length)
    if len(content) < part.length:
        raise CorruptTableError(
            part.path, f"it ends before byte {part.offset + part.length}, up to which {path} goes"
        )
    memory = MemoryFileIO()
    name = path.rpartition("/")[2]
    copy = f"memory:/{name}.{part.file_format}"
    memory.write(copy, content)
    return memory, copy
