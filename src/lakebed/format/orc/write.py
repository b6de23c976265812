"""How do Arrow columns become an ORC data file that the format's readers read (format.md 11)?

The library writes the values, and the metadata of fields as attributes of types, which is how ids
get into the file. It does not know texts of limited length; so the footer is changed before it goes
out, and says CHAR and VARCHAR then.

TIMESTAMP_LTZ is the first trap. The format's writers store, unless told otherwise, the clock of UTC
as if it were that of their own zone, and its readers undo that with theirs. The library writes as
if its zone were UTC, so elsewhere such a column is refused. `_is_exact` tells of the second one.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from pyarrow import orc

from lakebed.errors import UnsupportedError
from lakebed.format.arrow.leaves import with_leaf_types, with_leaves
from lakebed.format.arrow.nested import entries_of, values_of
from lakebed.format.arrow.types import ArrowField, parquet_schema
from lakebed.format.arrow.typing import ArrowArray, chunked, taken
from lakebed.format.data_file_settings import DataFileSettings
from lakebed.format.fitted_rows import fitted
from lakebed.format.held_sink import HeldSink
from lakebed.format.orc.protobuf import encode_field, fields_of, messages_of
from lakebed.format.orc.tail import TypeKind, read_tail, tail_with_types
from lakebed.format.type_text import format_type
from lakebed.format.types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    leaf_types,
)

__all__ = ["OrcWriter", "check_writable", "orc_codec"]

Codec = Literal["ZSTD", "SNAPPY", "ZLIB", "LZ4", "UNCOMPRESSED"]
Strategy = Literal["SPEED", "COMPRESSION"]

_CODECS: dict[str, Codec] = {
    "zstd": "ZSTD",
    "snappy": "SNAPPY",
    "zlib": "ZLIB",
    "lz4": "LZ4",
    "none": "UNCOMPRESSED",
}
# The library has no levels, only these two, which are these levels of zstd.
_STRATEGIES: dict[int, Strategy] = {1: "SPEED", 3: "COMPRESSION"}
_UNWRITABLE = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})
_LIMITED_TEXTS = {TypeRoot.CHAR: TypeKind.CHAR, TypeRoot.VARCHAR: TypeKind.VARCHAR}
_NAMES_OF_UTC = frozenset({"UTC", "GMT", "UT", "Z", "+00:00", "Etc/UTC", "Etc/GMT"})
_STRIPE_BYTES = 64 << 20
_ID_KEY = b"paimon.id"
_TYPES, _KIND, _MAX_LENGTH = 4, 1, 4
_UNITS_A_MILLI = {"us": 10**3, "ns": 10**6}
_REPLACED = frozenset({_KIND, _MAX_LENGTH})


class OrcWriter:
    """Writes one file, a stripe at a time."""

    def __init__(
        self, sink: pa.NativeFile, fields: Sequence[DataField], settings: DataFileSettings
    ) -> None:
        """Writes the head of the file.

        Args:
            sink: Where the bytes go; whoever opened it closes it.
            fields: The columns of the file.
            settings: How to encode.

        Raises:
            UnsupportedError: A type, a zone or a compression that cannot be written.
        """
        check_writable(fields, settings)
        codec, strategy = orc_codec(settings.compression, settings.zstd_level)
        self._schema = parquet_schema(fields)
        self._stored_schema = pa.schema([_stored_field(field) for field in self._schema])
        self._kinds = [kind for field in fields for kind in _nodes(field.type)]
        self._held = HeldSink(sink) if any(map(_limited_text, self._kinds)) else None
        self._writer = orc.ORCWriter(
            sink if self._held is None else pa.PythonFile(self._held, mode="w"),
            compression=codec,
            compression_strategy=strategy,
            stripe_size=settings.block_bytes or _STRIPE_BYTES,
        )
        # The library learns the columns from the first rows, and a file may have none.
        self._writer.write(self._stored_schema.empty_table())

    def write(self, rows: pa.Table) -> None:
        """Appends rows, in the order and types of the columns.

        Raises:
            InvalidDataError: A null where the type takes none.
            UnsupportedError: A timestamp that the format's readers could not read.
        """
        typed = fitted(rows, self._schema)
        columns = []
        for column, field in zip(typed.columns, self._stored_schema, strict=True):
            chunks = [_whole(chunk) for chunk in column.chunks]
            if any(not _is_exact(chunk) for chunk in chunks):
                raise UnsupportedError(
                    f"column {field.name!r} has a timestamp before 1970 with a fraction of a "
                    "millisecond, which cannot be written to ORC; use file.format=parquet"
                )
            columns.append(
                chunked([with_leaves(chunk, field.type, _as_ints) for chunk in chunks], field.type)
            )
        self._writer.write(pa.table(columns, schema=self._stored_schema))

    def close(self) -> None:
        """Writes the last stripe and the footer."""
        if self._held is None:
            self._writer.close()
        else:
            self._held.end(self._writer.close, self._with_limits)

    def _with_limits(self, end: bytes) -> bytes:
        """The end of the file, its types of limited text described as such."""
        tail = read_tail(pa.BufferReader(end), "the file being written")
        row, *types = messages_of(tail.footer, tail.path, _TYPES)
        described = [row, *(_described(*each) for each in zip(types, self._kinds, strict=True))]
        return end[: tail.footer_start] + tail_with_types(tail, described)


def check_writable(fields: Sequence[DataField], settings: DataFileSettings) -> None:
    """Refuses columns that ORC files of the format cannot have, or not from here.

    Raises:
        UnsupportedError: Names the column and what to use.
    """
    for field in fields:
        for leaf in leaf_types(field.type):
            if not isinstance(leaf, AtomicType) or leaf.root in _UNWRITABLE:
                raise UnsupportedError(
                    f"column {field.name!r}: {format_type(leaf)} cannot be written to ORC; use "
                    "another type or file.format=parquet"
                )
            if (
                leaf.root is TypeRoot.TIMESTAMP_LTZ
                and settings.is_ltz_legacy
                and settings.time_zone not in _NAMES_OF_UTC
            ):
                raise UnsupportedError(
                    f"column {field.name!r}: {format_type(leaf)} cannot be written to ORC in the "
                    f"time zone {settings.time_zone}, on which its stored values depend; use "
                    "file.format=parquet, or lakebed.time-zone=UTC if all who use the table do"
                )


def orc_codec(compression: str, zstd_level: int) -> tuple[Codec, Strategy]:
    """The library's names of a value of `file.compression`, in any case, and its level.

    Raises:
        UnsupportedError: ORC files cannot be written with it.
    """
    codec = _CODECS.get(compression.lower())
    if codec is None:
        raise UnsupportedError(
            f"file.compression={compression!r} cannot be written to ORC; use one of "
            f"{', '.join(_CODECS)}"
        )
    if codec != "ZSTD":
        return codec, "SPEED"
    if zstd_level not in _STRATEGIES:
        raise UnsupportedError(
            f"file.compression.zstd-level={zstd_level} cannot be written to ORC; use 1 or 3"
        )
    return codec, _STRATEGIES[zstd_level]


def _stored_field(field: ArrowField) -> ArrowField:
    """What the library is given: a TIME is an INT in the file, and ids have another name."""
    return with_leaf_types(field, _stored_type, id_key=_ID_KEY)


def _stored_type(kind: pa.DataType) -> pa.DataType:
    return pa.int32() if pa.types.is_time(kind) else kind


def _whole(array: ArrowArray) -> ArrowArray:
    """The array in buffers of its own: of slices of structs, the library writes other rows."""
    return taken(array, np.arange(len(array))) if pa.types.is_nested(array.type) else array


def _is_exact(array: ArrowArray) -> bool:
    """Whether the format's readers read the timestamps inside as what they are.

    Before 1970 the library lets nanoseconds count backwards. Readers add up whole milliseconds
    rightly; the rest must not be negative.
    """
    match array:
        case pa.MapArray():
            return all(map(_is_exact, entries_of(array)))
        case pa.ListArray():
            return _is_exact(values_of(array))
        case pa.StructArray():
            return all(map(_is_exact, array.flatten()))
        case _ if isinstance(array.type, pa.TimestampType) and array.type.unit in _UNITS_A_MILLI:
            numbers = array.drop_null().view(pa.int64()).to_numpy()
            return not ((numbers < 0) & (numbers % _UNITS_A_MILLI[array.type.unit] != 0)).any()
        case _:
            return True


def _as_ints(array: ArrowArray, target: pa.DataType) -> ArrowArray:
    return array.view(target)


def _nodes(kind: DataType) -> Iterator[DataType]:
    """A type and the types inside, in the order of a file's tree of types."""
    yield kind
    match kind:
        case ArrayType(element=element):
            yield from _nodes(element)
        case MapType(key=key, value=value):
            yield from _nodes(key)
            yield from _nodes(value)
        case RowType(fields=fields):
            for field in fields:
                yield from _nodes(field.type)
        case _:
            pass


def _described(message: bytes, kind: DataType) -> bytes:
    """A type's message, with its kind and length if it is a limited text."""
    limited = _limited_text(kind)
    if limited is None:
        return message
    text_kind, length = limited
    others = [encode_field(n, value) for n, value in fields_of(message, "") if n not in _REPLACED]
    head = encode_field(_KIND, int(text_kind)) + encode_field(_MAX_LENGTH, length)
    return b"".join([head, *others])


def _limited_text(kind: DataType) -> tuple[TypeKind, int] | None:
    if not isinstance(kind, AtomicType) or kind.length is None or kind.length == MAX_LENGTH:
        return None
    text_kind = _LIMITED_TEXTS.get(kind.root)
    return None if text_kind is None else (text_kind, kind.length)
