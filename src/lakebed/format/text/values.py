"""How do the values of CSV and JSON files become columns of the types that a table says?

Both formats hold text: numbers, dates and the like are parsed by the casts from STRING, bytes are
written in base64. A value that is no text of its type is an error of the file, whatever the
options: rows with holes where data was are worse than none.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import tzinfo
from typing import Any, Literal

import polars as pl
import pyarrow as pa

from lakebed.errors import CorruptTableError, InvalidDataError, UnsupportedError
from lakebed.format.arrow.compute import Values
from lakebed.format.arrow.compute import compute as pc
from lakebed.format.arrow.types import to_arrow_type
from lakebed.format.casts.rules import cast_values
from lakebed.format.type_text import format_type
from lakebed.format.types import MAX_LENGTH, AtomicType, DataField, TypeRoot
from lakebed.storage.file_io import FileIO

_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
_TEXT = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
_INTEGERS = frozenset({TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT})
_UNREAD = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})
# The extensions of Hadoop's codecs, and what Arrow calls those that it reads.
_CODECS: Mapping[str, Literal["gzip", "bz2", "zstd"]] = {"gz": "gzip", "bz2": "bz2", "zst": "zstd"}
_HADOOP_CODECS = frozenset({"deflate", "lz4", "snappy", "lzo"})
TEXT_CODECS = frozenset({*_CODECS, *_HADOOP_CODECS})
"""Extensions that a text file may bear behind that of its format."""
_PARSING_ERRORS = (InvalidDataError, pa.ArrowException, pl.exceptions.PolarsError, ValueError)


@contextmanager
def open_text(file_io: FileIO, path: str) -> Iterator[Any]:
    """The text of a file, unpacked as its last extension says.

    Raises:
        UnsupportedError: The codec is none that is read.
        NotFoundError: The file is missing.
    """
    extension = path.rsplit(".", 1)[-1].lower()
    if extension in _HADOOP_CODECS:
        raise UnsupportedError(f"{path}: codec {extension!r} of text files is not read yet")
    with file_io.open_input(path) as source:
        if extension in _CODECS:
            with pa.CompressedInputStream(source, _CODECS[extension]) as unpacked:
                yield unpacked
        else:
            yield source


def values_of_text(text: Values, field: DataField, path: str, *, time_zone: tzinfo) -> Values:
    """A column of texts as the values of a column.

    Raises:
        CorruptTableError: A text is no value of the type.
        UnsupportedError: Values of the type have no text.
    """
    kind = field.type
    if not isinstance(kind, AtomicType) or kind.root in _UNREAD:
        raise UnsupportedError(
            f"{path}: column {field.name!r} is {format_type(kind)}, which text files do not hold"
        )
    try:
        if kind.root in _TEXT:
            return text
        if kind.root is TypeRoot.BOOLEAN:
            return pc.equal(pc.utf8_lower(text), "true")
        if kind.root in _BYTES:
            decoded = pl.Series(pl.from_arrow(text)).str.decode("base64").to_arrow()
            return decoded.cast(pa.binary())
        if kind.root in _INTEGERS:
            return pc.cast(pc.replace_substring_regex(text, r"\A\+", ""), to_arrow_type(kind))
        return cast_values(text, _STRING, kind, time_zone=time_zone)
    except _PARSING_ERRORS as error:
        raise CorruptTableError(
            path, f"column {field.name!r} has a text that is no {format_type(kind)}: {error}"
        ) from error
