"""Which indexes has a data file, of which columns, and where do their bytes lie (format.md 14)?

    | magic | version | head length | columns, each with its indexes | body: index, index, ... |

The container is embedded in the manifest entry, or is a file of its own beside the data file. Of a
file just the head and the wanted indexes are read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lakebed.errors import CorruptTableError, UnsupportedError
from lakebed.format.file_index.byte_cursor import ByteCursor, checked_version
from lakebed.format.scatter import places_of
from lakebed.storage.file_io import FileIO

MAGIC = 1493475289347502
VERSION = 1
_FIXED_HEAD_BYTES = 16
_EMPTY = -1
_SIZE_MAX = 2**31 - 1
# Most heads, and many whole containers, are smaller; a larger head costs a second request.
_FIRST_READ_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPlace:
    """Where the bytes of one index lie in its container."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexContainer:
    """The head of a container, and access to its body.

    Attributes:
        path: The index file; of an embedded container, the data file.
        places: By column and type of index; None where nothing was written into the index. Columns
            have the names of the schema that wrote the file.
        start: The first bytes: all of an embedded container.
        file_io: Where the rest is; None of an embedded container.
    """

    path: str
    places: Mapping[str, Mapping[str, IndexPlace | None]]
    start: bytes
    file_io: FileIO | None

    def index_bytes(self, column: str, index_type: str) -> bytes | None:
        """The bytes of an index; None where there is none, or an empty one.

        Raises:
            CorruptTableError: The container ends before the index does.
        """
        place = self.places.get(column, {}).get(index_type)
        if place is None:
            return None
        end = place.offset + place.length
        if self.file_io is None or end <= len(self.start):
            data = self.start[place.offset : end]
        else:
            data = self.file_io.read_range(self.path, offset=place.offset, length=place.length)
        if len(data) < place.length:
            problem = f"the {index_type} index of {column!r} is cut off"
            raise CorruptTableError(self.path, problem)
        return data


def embedded_container(data: bytes, data_file: str) -> IndexContainer:
    """The container in a manifest entry.

    Args:
        data: The bytes.
        data_file: The data file, for messages.

    Raises:
        CorruptTableError: They are no container.
        UnsupportedError: Its version is newer.
    """
    return IndexContainer(
        path=data_file, places=_read_head(data, data_file), start=data, file_io=None
    )


def container_in_file(file_io: FileIO, path: str) -> IndexContainer:
    """The container that an index file is.

    Raises:
        CorruptTableError: It is none.
        NotFoundError: It is missing.
        UnsupportedError: Its version is newer.
    """
    start = file_io.read_range(path, offset=0, length=_FIRST_READ_BYTES)
    head_length = _head_length(start, path)
    if head_length > len(start) == _FIRST_READ_BYTES:
        start = file_io.read_range(path, offset=0, length=head_length)
    return IndexContainer(path=path, places=_read_head(start, path), start=start, file_io=file_io)


def container_bytes(indexes: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """A container of indexes.

    Args:
        indexes: The bytes of each, by column and type.

    Raises:
        UnsupportedError: They are larger than a container can be.
    """
    bodies = [data for column in indexes.values() for data in column.values()]
    names = [_utf(name) for name in indexes]
    types = [_utf(index_type) for column in indexes.values() for index_type in column]
    # Of a column its name and how many indexes it has, of an index its type, place and length.
    length = _FIXED_HEAD_BYTES + 4 + sum(len(name) + 4 for name in names) + 4
    length += sum(len(index_type) + 8 for index_type in types)
    places = length + places_of(np.array([len(body) for body in bodies], dtype=np.int64))
    if places[-1] > _SIZE_MAX:
        raise UnsupportedError(
            f"the indexes of one data file take {places[-1]} bytes, and {_SIZE_MAX} can be "
            "written. Lower 'target-file-size' or name fewer columns in 'file-index.<type>.columns'"
        )
    head = [MAGIC.to_bytes(8, "big"), *map(_int32, (VERSION, length, len(indexes)))]
    listed = zip(types, places.tolist(), bodies, strict=False)
    for name, column in zip(names, indexes.values(), strict=True):
        head += [name, _int32(len(column))]
        for _, (index_type, place, body) in zip(column, listed, strict=False):
            head += [index_type, _int32(place), _int32(len(body))]
    return b"".join([*head, _int32(0), *bodies])


def _int32(number: int) -> bytes:
    return number.to_bytes(4, "big")


def _utf(text: str) -> bytes:
    """A name as `_text` reads it, behind its length."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), dtype="<u2")
    spelled = units.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
    data = spelled.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    return len(data).to_bytes(2, "big") + data


def _head_length(data: bytes, path: str) -> int:
    cursor = ByteCursor(data=data, path=path, what="the head of the file index")
    magic = cursor.int64()
    if magic != MAGIC:
        raise CorruptTableError(path, f"no file index: its magic number is {magic}")
    checked_version(cursor.int32(), VERSION, path=path, what="the file index")
    length = cursor.int32()
    if length < _FIXED_HEAD_BYTES:
        raise CorruptTableError(path, f"the head of the file index has a length of {length}")
    return length


def _read_head(data: bytes, path: str) -> dict[str, dict[str, IndexPlace | None]]:
    length = _head_length(data, path)
    cursor = ByteCursor(data=data[:length], path=path, what="the head of the file index")
    cursor.take(_FIXED_HEAD_BYTES)
    places: dict[str, dict[str, IndexPlace | None]] = {}
    for _ in range(cursor.count()):
        indexes = places.setdefault(_text(cursor), {})
        for _ in range(cursor.count()):
            index_type, offset, size = _text(cursor), cursor.int32(), cursor.int32()
            if offset != _EMPTY and (offset < length or size < 0):
                problem = f"a {index_type} index of {size} bytes at {offset}, head {length}"
                raise CorruptTableError(path, problem)
            indexes[index_type] = (
                None if offset == _EMPTY else IndexPlace(offset=offset, length=size)
            )
    return places


def _text(cursor: ByteCursor) -> str:
    """A name in modified UTF-8: NUL takes two bytes, and a surrogate pair is two characters."""
    data = bytes(cursor.take(int.from_bytes(cursor.take(2), "big")))
    try:
        text = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise CorruptTableError(cursor.path, f"a name in {cursor.what}: {error}") from error
